"""`topicloom warm`: compiles kernels and archives Spark's classes, so that no later command waits for it."""

from __future__ import annotations

from typing import Annotated

import typer

from topicloom.base.summaries import Total
from topicloom.cli.console import Screen


def warm(
    screen: Screen,
    everything: Annotated[bool, typer.Option("--all", help="Compile what other commands use too.")] = False,
) -> None:
    """Compile what build, verify and measure need and archive Spark's classes (`make install` does it)."""
    from topicloom.cli.calibrate import calibrate
    from topicloom.cli.warming import warm_kernels
    from topicloom.cli.warming_spark import warm_spark

    with screen.working() as progress:
        start = progress.now()
        warm_kernels(everything=everything, progress=progress)
        calibrate(again=True)
        archived = warm_spark(progress=progress)
        seconds = progress.now() - start
    spark = "" if archived else "; this Java cannot archive Spark's classes, so Spark starts as ever"
    screen.say(f"ready in {seconds:.1f} s{spark}")
    screen.report(Total(seconds={"total": seconds}))

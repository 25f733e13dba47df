"""`topicloom warm`: compiles kernels and archives Spark's classes, so that no later command waits for it."""

from __future__ import annotations

from topicloom.base.summaries import Total
from topicloom.cli.console import Screen


def warm(screen: Screen) -> None:
    """Compile all kernels, archive Spark's classes, and keep both on disk (done by `make install`)."""
    from topicloom.cli.warming import warm_kernels
    from topicloom.cli.warming_spark import warm_spark

    with screen.working() as progress:
        start = progress.now()
        warm_kernels(progress=progress)
        archived = warm_spark(progress=progress)
        seconds = progress.now() - start
    spark = "" if archived else "; this Java cannot archive Spark's classes, so Spark starts as ever"
    screen.say(f"ready in {seconds:.1f} s{spark}")
    screen.report(Total(seconds={"total": seconds}))

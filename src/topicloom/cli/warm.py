"""`topicloom warm`: compiles all kernels once, so that no later command waits for it."""

from __future__ import annotations

from topicloom.base.summaries import Total
from topicloom.cli.console import Screen


def warm(screen: Screen) -> None:
    """Compile all kernels and cache them on disk (done by `make install`)."""
    from topicloom.cli.warming import warm_kernels

    with screen.working() as progress:
        seconds = warm_kernels(progress=progress)
    screen.say(f"kernels ready in {seconds:.1f} s")
    screen.report(Total(seconds={"total": seconds}))

"""`topicloom warm`: compiles all kernels once, so that no later command waits for it."""

from __future__ import annotations

from topicloom.base.summaries import Total
from topicloom.cli.options import OutputOptions


def warm(output: OutputOptions) -> None:
    """Compile all kernels and cache them on disk (done by `make install`)."""
    from topicloom.cli.warming import warm_kernels

    screen = output.screen()
    with screen.working() as progress:
        seconds = warm_kernels(progress=progress)
    screen.say(f"kernels ready in {seconds:.1f} s")
    screen.emit(Total(seconds={"total": seconds}))

"""`topicloom warm`: compiles all kernels once, so that no later command waits for it."""

from __future__ import annotations

import typer

from topicloom.base.summaries import Total
from topicloom.cli.groups import with_groups
from topicloom.cli.options import OutputOptions
from topicloom.cli.warming import warm_kernels


def warm(output: OutputOptions) -> None:
    """Compile all kernels and cache them on disk (done by `make install`)."""
    screen = output.screen()
    with screen.working() as progress:
        seconds = warm_kernels(progress=progress)
    screen.say(f"kernels ready in {seconds:.1f} s")
    screen.emit(Total(seconds={"total": seconds}))


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command()(with_groups(warm))

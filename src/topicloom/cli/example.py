"""`topicloom example`: a table or configurations to try things on, for those without their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli.console import Screen
from topicloom.cli.listings import Listing
from topicloom.errors import UsageError

EXAMPLES = """
topicloom example px4
topicloom example chain --out shops
"""


def example(
    screen: Screen,
    name: Annotated[str | None, typer.Argument(help="px4, autoware, chain or brokers.")] = None,
    out: Annotated[Path | None, "Where to write; by default a file or folder of its name, here."] = None,
    list_: Annotated[bool, "List all examples and leave."] = False,
) -> None:
    """Write an example: a real table, tables for a mesh of brokers, or brokers with a mistake."""
    from topicloom.mesh.jobs.example import EXAMPLES as KNOWN
    from topicloom.mesh.jobs.example import write_example

    if list_:
        found = [{"example": key, "about": one.about} for key, one in KNOWN.items()]
        lines = (f"{one['example']}: {one['about']}" for one in found)
        return screen.report(Listing({"examples": found}), *lines, always=True)
    if name is None:
        raise UsageError("NAME is missing; write topicloom example NAME (see --list)")
    written = write_example(name, out)
    screen.report(written, f"{written.about}: written to {', '.join(written.files)}")

"""How long it takes until anything happens: importing the package, printing the help."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from benchmarks.harness import Figure, Options, Row, attempt, checked, run_command, topicloom_command

TITLE = "import and help"
TABLE = "Start (best of three processes)"


def run(options: Options) -> Iterator[Row]:
    python = [sys.executable, "-c"]
    yield attempt(TABLE, "python alone", lambda: _cells([*python, "pass"]))
    yield attempt(TABLE, "import topicloom", lambda: _cells([*python, "import topicloom"]))
    yield attempt(TABLE, "topicloom --help (goal: under 1 s)", lambda: _cells(topicloom_command("--help")))


def _cells(command: list[str]) -> dict[str, Figure | str]:
    runs = [checked(run_command(command)) for _ in range(3)]
    return {"time": Figure(min(run.seconds for run in runs), "s")}

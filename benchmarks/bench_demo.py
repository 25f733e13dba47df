"""`make demo` on a machine where `make install` has been run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from benchmarks.harness import ROOT, Figure, NotRun, Options, Row, attempt, checked, run_command

TITLE = "the demonstration"
ASKED_SECONDS = 60.0


def run(options: Options) -> Iterator[Row]:
    yield attempt("`make demo` once installed", "two workloads, three builders", _cells)


def _cells() -> dict[str, Figure | str]:
    if shutil.which("make") is None or not (ROOT / "Makefile").exists():
        raise NotRun("there is no make here")
    if not (ROOT / "src" / "topicloom" / "cli" / "demo.py").exists():
        raise NotRun("there is no demo command")
    checked(run_command(["make", "install"]))
    done = checked(run_command(["make", "demo"]))
    return {
        "time": Figure(done.seconds, "s", ASKED_SECONDS),
        "memory of all processes": Figure(done.megabytes, "MB"),
    }

"""How long the first use of the kernels takes: all of them compiled into an empty cache."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from benchmarks.harness import Figure, Options, Row, attempt, checked, run_command, topicloom_command

TITLE = "first compilation of all kernels"
ASKED_SECONDS = 30.0


def run(options: Options) -> Iterator[Row]:
    yield attempt("Compiling all kernels by `topicloom warm`", "empty cache, then a full one", _cells)


def _cells() -> dict[str, Figure | str]:
    with tempfile.TemporaryDirectory(prefix="topicloom-kernels-") as cache:
        environment = {"NUMBA_CACHE_DIR": cache}
        command = topicloom_command("warm", "--quiet")
        cold = checked(run_command(command, environment=environment))
        warm = checked(run_command(command, environment=environment))
    return {
        "first": Figure(cold.seconds, "s", ASKED_SECONDS),
        "processor time": Figure(cold.processor_seconds, "s"),
        "again": Figure(warm.seconds, "s"),
        "memory": Figure(cold.megabytes, "MB"),
    }

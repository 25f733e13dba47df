"""How long the first use of the kernels takes: compiled into an empty cache."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial

from benchmarks.harness import Figure, Options, Row, attempt, checked, run_command, topicloom_command

TITLE = "first compilation of kernels"
ASKED_SECONDS = 30.0


def run(options: Options) -> Iterator[Row]:
    table = "Compiling by `topicloom warm` into an empty cache, then once more"
    yield attempt(table, "for build, verify and measure", partial(_cells, ASKED_SECONDS))
    if not options.quick:
        yield attempt(table, "all kernels, --all", partial(_cells, None, "--all"))


def _cells(asked: float | None, *options: str) -> dict[str, Figure | str]:
    with tempfile.TemporaryDirectory(prefix="topicloom-kernels-") as cache:
        environment = {"NUMBA_CACHE_DIR": cache}
        command = topicloom_command("warm", "--quiet", *options)
        cold = checked(run_command(command, environment=environment))
        warm = checked(run_command(command, environment=environment))
    return {
        "first": Figure(cold.seconds, "s", asked),
        "processor time": Figure(cold.processor_seconds, "s", None if asked is None else 2 * asked),
        "again": Figure(warm.seconds, "s"),
        "memory": Figure(cold.megabytes, "MB"),
    }

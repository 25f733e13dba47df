"""A large synthetic table, drawn and written as Parquet on Spark by the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import Broken, Figure, Options, Row, attempt, checked, run_command, topicloom_command

TITLE = "a synthetic table on Spark"
ASKED_SECONDS = 90.0
NODES, TOPICS, SUBSCRIPTIONS = 1_000_000, 10_000, 20
QUICK_NODES = 50_000


def run(options: Options) -> Iterator[Row]:
    nodes = QUICK_NODES if options.quick else NODES
    case = f"{nodes:,} nodes x {SUBSCRIPTIONS} of {TOPICS:,} topics"
    yield attempt(
        "`topicloom generate` to Parquet, start of Spark included", case, lambda: _cells(options, nodes)
    )


def _cells(options: Options, nodes: int) -> dict[str, Figure | str]:
    out = options.scratch / f"generated-{nodes}.parquet"
    done = checked(run_command(command(out, nodes)))
    rows = row_count(out)
    if rows != nodes * SUBSCRIPTIONS:
        raise Broken(f"{rows:,} rows were written instead of {nodes * SUBSCRIPTIONS:,}")
    return {
        "time": Figure(done.seconds, "s", None if options.quick else ASKED_SECONDS),
        "memory of all processes": Figure(done.megabytes, "MB"),
        "rows": f"{rows:,}",
    }


def command(out: Path, nodes: int) -> list[str]:
    """The command that writes the table."""
    sizes = ["--nodes", str(nodes), "--topics", str(TOPICS), "--subscriptions", str(SUBSCRIPTIONS)]
    return topicloom_command(
        "generate", str(out), *sizes, "--popularity", "zipf:0.5", "--seed", "1", "--quiet"
    )


def row_count(table: Path) -> int:
    """Rows of a Parquet file or folder, from the footers."""
    import pyarrow.dataset as dataset

    return int(dataset.dataset(table, format="parquet").count_rows())

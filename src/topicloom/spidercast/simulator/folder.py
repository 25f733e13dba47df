"""A simulation on disk: summary.json, snapshots.parquet, degrees.parquet, partitioned.parquet, and last/.

The layout is a promise to users (see docs/files.md); only this file writes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from topicloom.base.summaries import Figures, Summary
from topicloom.overlay.model.build import BuildSummary
from topicloom.overlay.model.build_folder import EDGES, INTEREST
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.tables.folder import SUMMARY, write_json, write_table

SNAPSHOTS, DEGREES, PARTITIONED, LAST = (
    "snapshots.parquet",
    "degrees.parquet",
    "partitioned.parquet",
    "last",
)

_DEGREES = pa.schema([("time", pa.float64()), ("degree", pa.int64()), ("nodes", pa.int64())])
_PARTITIONED = pa.schema([("time", pa.float64()), ("topic", pa.string()), ("components", pa.int64())])


def write_simulation(
    folder: Path,
    summary: Summary,
    snapshots: Sequence[Mapping[str, Any]],
    partitioned: Sequence[tuple[float, str, int]],
    last: BuildSummary,
    interest: Interest,
    overlay: Overlay,
) -> None:
    """Fill `folder`: the course, and in last/ the last moment as a build with the summary `last`.

    A snapshot is one row of figures; what is a mapping in it goes to a table of its own or is left out.
    """
    folder.mkdir()
    plain = [
        {key: value for key, value in row.items() if not isinstance(value, Mapping)} for row in snapshots
    ]
    write_table(
        pa.Table.from_pylist([_typed(row) for row in plain], schema=_schema(plain)), folder / SNAPSHOTS
    )
    degrees = [
        {"time": row["time"], "degree": int(degree), "nodes": nodes}
        for row in snapshots
        for degree, nodes in row["degree_histogram"].items()
    ]
    write_table(pa.Table.from_pylist(degrees, schema=_DEGREES), folder / DEGREES)
    rows = [{"time": time, "topic": topic, "components": parts} for time, topic, parts in partitioned]
    write_table(pa.Table.from_pylist(rows, schema=_PARTITIONED), folder / PARTITIONED)
    (folder / LAST).mkdir()
    write_table(interest.to_arrow(), folder / LAST / INTEREST)
    write_table(overlay.to_arrow(), folder / LAST / EDGES)
    write_json(last, folder / LAST / SUMMARY)
    write_json(summary, folder / SUMMARY)


FLOATS = frozenset({"time", "degree_avg", "hops_avg", "longest_wait"})
"""Columns of numbers with a fraction; all others count something. None where there was nothing to measure."""


def _schema(rows: Sequence[Mapping[str, Any]]) -> pa.Schema:
    return pa.schema([(key, pa.float64() if key in FLOATS else pa.int64()) for key in rows[0]])


def _typed(row: Figures) -> Figures:
    return {key: float(value) if key in FLOATS and value is not None else value for key, value in row.items()}

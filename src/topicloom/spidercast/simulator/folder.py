"""A simulation on disk: summary.json, snapshots.parquet, degrees.parquet, partitioned.parquet, and last/;
with several snapshots of few enough nodes also links.parquet.

The layout is a promise to users (see docs/files.md); only this file writes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from topicloom.base.summaries import Summary
from topicloom.overlay.model.build import BuildSummary
from topicloom.overlay.model.build_folder import EDGES, INTEREST
from topicloom.spidercast.simulator.run import SimulationOutcome
from topicloom.tables.folder import SUMMARY, write_json, write_table

SNAPSHOTS, DEGREES, PARTITIONED = "snapshots.parquet", "degrees.parquet", "partitioned.parquet"
LINKS = "links.parquet"
LAST = "last"
# Columns of numbers with a fraction (None where there was nothing to measure); all others count something.
FLOATS = frozenset({"time", "degree_avg", "hops_avg", "longest_wait"})

_DEGREES = pa.schema([("time", pa.float64()), ("degree", pa.int64()), ("nodes", pa.int64())])
_PARTITIONED = pa.schema([("time", pa.float64()), ("topic", pa.string()), ("components", pa.int64())])


def write_simulation(folder: Path, summary: Summary, outcome: SimulationOutcome, last: BuildSummary) -> None:
    """Fill `folder` with the snapshots, and last/ with the last moment as a build with the summary `last`.

    A snapshot is one row of figures; a mapping in it goes to a table of its own or is left out.
    """
    folder.mkdir()
    plain = [
        {key: value for key, value in row.items() if not isinstance(value, Mapping)}
        for row in outcome.snapshots
    ]
    schema = pa.schema([(key, pa.float64() if key in FLOATS else pa.int64()) for key in plain[0]])
    write_table(pa.Table.from_pylist(plain, schema=schema), folder / SNAPSHOTS)
    degrees = [
        {"time": row["time"], "degree": int(degree), "nodes": nodes}
        for row in outcome.snapshots
        for degree, nodes in row["degree_histogram"].items()
    ]
    write_table(pa.Table.from_pylist(degrees, schema=_DEGREES), folder / DEGREES)
    rows = [dict(zip(_PARTITIONED.names, row, strict=True)) for row in outcome.partitioned]
    write_table(pa.Table.from_pylist(rows, schema=_PARTITIONED), folder / PARTITIONED)
    if len(outcome.snapshots) > 1 and outcome.links:
        write_table(_links_table(outcome), folder / LINKS)
    (folder / LAST).mkdir()
    write_table(outcome.moment.interest.to_arrow(), folder / LAST / INTEREST)
    write_table(outcome.moment.overlay.to_arrow(), folder / LAST / EDGES)
    write_json(last, folder / LAST / SUMMARY)
    write_json(summary, folder / SUMMARY)


def _links_table(outcome: SimulationOutcome) -> pa.Table:
    """Return the changes of links from snapshot to snapshot: time, both ends, made or ended."""
    names, changes = outcome.moment.interest.node_ids, outcome.links
    return pa.table(
        {
            "time": pa.array([one.time for one in changes], pa.float64()),
            "u": names.take(pa.array([one.u for one in changes], pa.int64())),
            "v": names.take(pa.array([one.v for one in changes], pa.int64())),
            "change": ["made" if one.made else "ended" for one in changes],
        }
    )

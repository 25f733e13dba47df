"""A tiny content problem as tables, to be written whole or with some tables changed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.content.model.tables import ACCESS, BROKERS, CHANNELS, CORE, RATES, SCHEMAS, WANTS

PLAIN = {
    BROKERS: [("x", 9.0), ("y", 5.0)],
    ACCESS: [("i", "x", 1.0), ("i", "y", 2.0), ("j", "x", 3.0), ("j", "y", 4.0)],
    CORE: [("x", "y", 7.0)],
    RATES: [("i", 0, 3.0), ("i", 1, 0.5), ("j", 1, 0.25)],
    WANTS: [("j", 0, 1)],
    CHANNELS: [(0, [{"attribute": "h", "low": 0, "high": 1}]), (1, [])],
}
PLACES = [("user", "i", 0, 0, 2), ("broker", "y", 3, 4, 1), ("broker", "x", 0, 1, 1), ("user", "j", -3, 4, 1)]


def table(name, rows):
    schema = SCHEMAS[name]
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)


def write(folder: Path, changed=()) -> Path:
    """The plain problem with some tables changed: rows, a whole Arrow table, or None for none at all."""
    for name, rows in (PLAIN | dict(changed)).items():
        if rows is not None:
            found = rows if isinstance(rows, pa.Table) else table(name, rows)
            pq.write_table(found, folder / name)
    return folder


def silent(text):
    raise AssertionError(f"no notice was due: {text}")

"""Up to which size this process reads tables; beyond, Spark does."""

from __future__ import annotations

import os
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.base.addresses import is_address
from topicloom.errors import InputError
from topicloom.tables.file_plans import Beginnings, beginnings_here
from topicloom.tables.source import SQUEEZED, Resolved, TableSource, are_small
from topicloom.tables.table_files import resolve

LOCAL_BYTES = 256 << 20  # of text as it would be without compression, and of Parquet as it is
LOCAL_ROWS = 5_000_000  # of Parquet, whose files say how many they have
SMALL_ROWS = 2_000_000  # of Parquet, that Spark brings into memory at once
LIMIT = f"files of this machine, up to {LOCAL_BYTES >> 20} MiB of text or {LOCAL_ROWS:,} rows of Parquet"


def collects(*sources: TableSource) -> bool:
    """Return whether Spark brings these tables into memory at once: all of this machine, all small."""
    return all(
        source.origin is None and are_small(source.place, parquet=1) and not _many(source)
        for source in sources
    )


def _many(source: TableSource) -> bool:
    """Return whether a table of few bytes has many rows all the same, as Parquet may."""
    with suppress(InputError, OSError, pa.ArrowException):
        return _n_rows(resolve(source)) > SMALL_ROWS
    return False  # whoever reads it says what is wrong with it


def about_rows(source: TableSource) -> int:
    """Return how many rows a table of this machine has: Parquet says so, of text its size tells roughly.

    0 for one that cannot be read: whoever reads it says what is wrong with it.
    """
    with suppress(InputError, OSError, pa.ArrowException):
        resolved = resolve(source)
        if resolved.format == "parquet":
            return _n_rows(resolved)
        return rows_of_text(_n_bytes(resolved), resolved, beginnings_here)
    return 0


def rows_of_text(size: int, resolved: Resolved, beginnings: Beginnings) -> int:
    """Return about how many rows so many bytes of text have, if all are like the first ones."""
    for file in resolved.files:
        beginning = next(beginnings(file), (b"", True))[0]
        if lines := beginning.count(b"\n"):
            return size * lines // len(beginning)
    return 0


def too_large(source: TableSource) -> str:
    """Return why this process does not read a table, empty if it does."""
    if source.origin is not None:
        return f"{source.path} is none"
    if is_address(source.path):
        return f"{source.path} is an address"
    try:
        resolved = resolve(source)
    except InputError:
        return ""  # whoever reads it says what is wrong with it
    with suppress(OSError, pa.ArrowException):
        if _n_bytes(resolved) > LOCAL_BYTES or _n_rows(resolved) > LOCAL_ROWS:
            return f"{source.path} is larger"
    return ""


def _n_bytes(resolved: Resolved) -> int:
    return sum(os.stat(file.path).st_size * (SQUEEZED if file.compression else 1) for file in resolved.files)


def _n_rows(resolved: Resolved) -> int:
    if resolved.format != "parquet":
        return 0
    return sum(int(pq.read_metadata(file.path).num_rows) for file in resolved.files)

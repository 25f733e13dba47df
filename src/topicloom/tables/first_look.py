"""What can be refused before Spark starts: a table that is not there, cannot be told or has other columns."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.base.addresses import is_address
from topicloom.errors import InputError
from topicloom.tables.file_plans import beginnings_here, plan_file
from topicloom.tables.source import TableSource
from topicloom.tables.table_files import resolve
from topicloom.tables.typed_columns import NOT_PARQUET, found_fields

FILES = 8  # of a folder that are looked at; whoever reads it looks at all


def check_there(source: TableSource) -> None:
    """Refuse a table of this machine that is bound to fail, by its names and the first rows of its files."""
    if not source.path or source.origin is not None or is_address(source.place):
        return
    resolved = resolve(source)
    if resolved.format == "parquet":
        if len(resolved.files) == 1:  # the columns of several are those of all
            found_fields(source, _columns(resolved.files[0].path))
        return
    for file in resolved.files[:FILES]:
        plan_file(file, source, resolved.format, beginnings_here)


def _columns(path: str) -> list[str]:
    try:
        return list(pq.read_schema(path).names)
    except (OSError, pa.ArrowException):
        raise InputError(NOT_PARQUET.format(file=path)) from None

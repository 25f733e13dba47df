"""The one call that takes a table in without Spark, whatever its fields and its format."""

from __future__ import annotations

from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.tables.local.parquet import read_parquet
from topicloom.tables.local.table import LocalTable
from topicloom.tables.local.text import read_text
from topicloom.tables.source import TableSource
from topicloom.tables.table_files import resolve


class LocalReader:
    """Reads tables of this machine in this process; whether one is small enough says `limits.py`."""

    def read(self, source: TableSource, *, progress: Progress = SILENT) -> LocalTable:
        """Return the table that `source` describes."""
        check_stop(progress)
        progress.phase(f"read {source.what}")
        resolved = resolve(source)
        return (read_parquet if resolved.format == "parquet" else read_text)(source, resolved, progress)

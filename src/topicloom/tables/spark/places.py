"""Where Spark writes tables that we read back: a folder of this machine, one behind an address, or nowhere.

`place_at` is the only one to ask which; what executors keep is in `kept_place.py`. On a disk a table is a
folder of part files, and their footers say how many rows they have. Behind an address a manifest
(`table_manifest.py`) is written last, and only files that it names are part of the table.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.base.addresses import is_address
from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import to_json
from topicloom.errors import InputError
from topicloom.tables.source import address
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.kept_place import KeptPlace, is_kept
from topicloom.tables.spark.raw_table import NO_PATTERNS
from topicloom.tables.spark.remote_files import RemoteFolder
from topicloom.tables.spark.written import Counts, Run, Written
from topicloom.tables.table_manifest import FILES, TableFiles, read_manifest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

ONE_PART = "part-00000.parquet"  # of a table that is written from here


class Seen(NamedTuple):
    """A table that Spark has just written, as it is seen from here."""

    sizes: dict[int, int]  # how many rows each partition has written, in order
    files: list[str]

    @property
    def rows(self) -> int:
        """Return how many rows there are."""
        return sum(self.sizes.values())


class Place(Protocol):
    """A folder for tables."""

    def write(
        self, name: str, frame: DataFrame, counts: Counts, run: Run, progress: Progress = SILENT
    ) -> Written:
        """Write a table by one action that `run` gets, with these counts of its rows."""

    def put(self, name: str, table: pa.Table) -> None:
        """Write a small table from here."""

    def load(self, name: str) -> DataFrame:
        """Return a table that is whole."""

    def drop(self, name: str) -> None:
        """Remove a table."""


class _Files(Place, Protocol):
    """A folder for files of tables."""

    @property
    def spark(self) -> SparkSession: ...

    def path(self, name: str) -> str:
        """Return the address of a table."""

    def seen(self, name: str, schema: StructType, progress: Progress = SILENT) -> Seen:
        """Look at a table that Spark has just written."""

    def commit(self, name: str, seen: Seen, schema: StructType) -> None:
        """Declare a table whole that consists of what was seen."""


def place_at(spark: SparkSession, folder: str) -> Place:
    """Return the place that a path or an address means."""
    if is_kept(folder):
        return KeptPlace(spark, folder)
    if is_address(folder):
        return _Remote(spark, RemoteFolder(spark, folder))
    return _Here(spark, Path(folder))


def load_table(spark: SparkSession, path: str) -> DataFrame:
    """Return a Parquet table that we wrote."""
    name = path.rstrip("/").rpartition("/")[2]
    return place_at(spark, path.rstrip("/").removesuffix(name) or ".").load(name)


def _write_files(
    place: _Files, name: str, frame: DataFrame, counts: Counts, run: Run, progress: Progress
) -> Written:
    """Write a table, and refuse one of which not all rows are seen here afterwards."""
    from pyspark.sql import Observation

    counted = Observation()
    columns = [column.alias(key) for column, key in zip(counts, ("rows", "octets", "most"), strict=True)]
    observed, target = frame.observe(counted, *columns), place.path(name)
    run(lambda: observed.write.parquet(target))
    found = counted.get
    rows = int(found["rows"])
    seen = place.seen(name, frame.schema, progress)
    if seen.rows != rows or not seen.files:
        raise InputError(
            f"Spark's workers wrote {rows:,} rows of {name} and this machine sees {seen.rows:,} of them: "
            f"{target.removeprefix('file://').removesuffix(f'/{name}')} must be on a disk that all machines "
            "share under this name"
        )
    place.commit(name, seen, frame.schema)
    return Written(rows, int(found["octets"] or 0), int(found["most"] or 0), seen.sizes)


@dataclass(frozen=True, slots=True)
class _Here:
    spark: SparkSession
    folder: Path

    def write(
        self, name: str, frame: DataFrame, counts: Counts, run: Run, progress: Progress = SILENT
    ) -> Written:
        return _write_files(self, name, frame, counts, run, progress)

    def path(self, name: str) -> str:
        return address(self.folder / name)

    def seen(self, name: str, schema: StructType, progress: Progress = SILENT) -> Seen:
        parts = self._parts(name)
        return _seen({part.name: int(pq.read_metadata(part).num_rows) for part in parts})

    def commit(self, name: str, seen: Seen, schema: StructType) -> None:
        """Do nothing: whoever gave the folder renames it when all of it is whole."""

    def put(self, name: str, table: pa.Table) -> None:
        (self.folder / name).mkdir(parents=True, exist_ok=True)
        pq.write_table(table, self.folder / name / ONE_PART)

    def load(self, name: str) -> DataFrame:
        reader = self.spark.read.option(*NO_PATTERNS)
        schema = self._schema(name)
        place = address(self.folder / name)
        return (reader if schema is None else reader.schema(schema)).parquet(place)

    def drop(self, name: str) -> None:
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def _parts(self, name: str) -> list[Path]:
        return sorted((self.folder / name).glob("part-*.parquet"))

    def _schema(self, name: str) -> StructType | None:
        """Return the columns of a table, which Spark would start a job to find."""
        table = self.folder / name
        part = table if table.is_file() else min(self._parts(name), default=None)
        with suppress(pa.ArrowException, OSError):  # Spark tells of a damaged table
            return None if part is None else _spark_schema(pq.read_schema(part))
        return None


@dataclass(frozen=True, slots=True)
class _Remote:
    spark: SparkSession
    folder: RemoteFolder

    def write(
        self, name: str, frame: DataFrame, counts: Counts, run: Run, progress: Progress = SILENT
    ) -> Written:
        return _write_files(self, name, frame, counts, run, progress)

    def path(self, name: str) -> str:
        return self.folder.path(name)

    def seen(self, name: str, schema: StructType, progress: Progress = SILENT) -> Seen:
        there = self.folder.entries(name)
        files = [one.name for one in there if not one.is_folder and one.name[0] not in "_."]
        if not files:
            return _seen({})
        table = self.spark.read.option(*NO_PATTERNS).schema(schema).parquet(*self._paths(name, files))
        counted = table.groupBy("_metadata.file_name").count()
        rows = run_watched(self.spark, counted.collect, progress=progress)
        return _seen(dict.fromkeys(files, 0) | {row["file_name"]: row["count"] for row in rows})

    def commit(self, name: str, seen: Seen, schema: StructType | None) -> None:
        found = TableFiles(seen.rows, seen.files, None if schema is None else schema.jsonValue())
        self.folder.write(f"{name}/{FILES}", to_json(found))

    def put(self, name: str, table: pa.Table) -> None:
        content = BytesIO()
        pq.write_table(table, content)
        self.folder.write(f"{name}/{ONE_PART}", content.getvalue())
        self.commit(name, _seen({ONE_PART: table.num_rows}), _spark_schema(table.schema))

    def load(self, name: str) -> DataFrame:
        from pyspark.sql.types import StructType

        reader = self.spark.read.option(*NO_PATTERNS)
        content = self.folder.read(f"{name}/{FILES}")
        if content is None:
            return reader.parquet(self.folder.path(name))
        found = read_manifest(content, self.folder.path(name))
        if found.schema is not None:
            reader = reader.schema(StructType.fromJson(found.schema))
        return reader.parquet(*self._paths(name, found.files))

    def drop(self, name: str) -> None:
        self.folder.remove(name)

    def _paths(self, name: str, files: list[str]) -> list[str]:
        return [self.folder.path(f"{name}/{file}") for file in files]


def _seen(rows: dict[str, int]) -> Seen:
    """Return what is seen, by the rows of each file; Spark may cut a partition into several files."""
    sizes: Counter[int] = Counter()
    for file, count in rows.items():
        sizes[_partition(file)] += count
    return Seen(dict(sorted(sizes.items())), sorted(rows))


def _spark_schema(schema: pa.Schema) -> StructType | None:
    """Return columns as Spark describes them; None: there are types that it widens, and has no name for."""
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import from_arrow_schema

    with suppress(PySparkTypeError):
        return from_arrow_schema(schema)
    return None


def _partition(file: str) -> int:
    """Return which partition has written a file.

    >>> _partition("part-00002-8e1f.c000.snappy.parquet"), _partition("part-0.parquet")
    (2, 0)
    """
    return int(re.split("[-.]", file)[1])

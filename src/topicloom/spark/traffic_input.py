"""Tables of records into Spark: named columns of any number, from text or Parquet, rows and rejects apart.

Text goes through our own rules (`traffic_lines.py`) in Spark's Python workers; Parquet is judged by Spark's
own expressions, so that no Python sees a row.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from topicloom.errors import InputError
from topicloom.model.progress import SILENT, Progress, check_stop
from topicloom.spark.batches import cut_blocks, cut_lines, file_key
from topicloom.spark.compress import BadCompression, decompressed
from topicloom.spark.failures import spark_errors
from topicloom.spark.heads import ends_in_carriage_return, first_rows, read_header, text_rules
from topicloom.spark.lines import BadRow, json_keys
from topicloom.spark.parquet_input import quoted_name
from topicloom.spark.raw import NO_PATTERNS, RawTable, require_no_rejects, spark_path
from topicloom.spark.source import DataFile, OptionNames, Resolved, TableSource, resolve
from topicloom.spark.traffic_lines import Column, RecordLayout, parse_records, require_columns
from topicloom.spark.traffic_parquet import read_parquet_records
from topicloom.spark.watch import watched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_RECORDS_PER_BATCH = 20_000
_OPTIONS = OptionNames("its header", "its header", "a header row", "its separator")


@dataclass(frozen=True, slots=True)
class RecordPlan:
    """All a worker has to know about one text file."""

    shown: str
    compression: str | None
    layout: RecordLayout

    @property
    def header(self) -> bool:
        return self.layout.places is not None


def records_source(path: str, what: str) -> TableSource:
    """A table whose columns are known by their names; `what` it is, for messages."""
    return TableSource(path, what=what, options=_OPTIONS)


def read_records(
    spark: SparkSession, source: TableSource, columns: Sequence[Column], *, progress: Progress = SILENT
) -> RawTable:
    """The wanted columns as strings and doubles; raises InputError for whatever makes the table unusable."""
    check_stop(progress)
    resolved = resolve(spark, source)
    if resolved.format == "parquet":
        return read_parquet_records(spark, source, resolved, columns)
    return _read_text(spark, source, resolved, tuple(columns))


def read_all(
    spark: SparkSession,
    source: TableSource,
    columns: Sequence[Column],
    *,
    empty: bool = False,
    progress: Progress = SILENT,
) -> pa.Table:
    """All rows of a table in memory; any that cannot be used is an error, and unless `empty` having none."""
    raw = read_records(spark, source, columns, progress=progress)
    try:
        require_no_rejects(raw, raw.n_rejects(progress=progress))
        with spark_errors(source.path):
            table = watched(spark, raw.rows.toArrow, progress=progress, phase=f"read {source.what}")
    finally:  # Spark would give the kept rows to whoever reads the mended file later in this session
        raw.release()
    if not table.num_rows and not empty:
        raise InputError(f"{source.path} holds no row: it is empty")
    return table


def refuse_rows(
    path: str, table: pa.Table, bad: NDArray[np.bool_], reason: str | Callable[[int], str]
) -> None:
    """An error that shows the first bad row, in the order of its values, so that it is always the same."""
    rows = np.flatnonzero(bad)
    if len(rows):
        shown = {
            int(row): [_plain(column[int(row)].as_py()) for column in table.columns] for row in rows[:1000]
        }
        row = min(shown, key=lambda row: shown[row])
        told = reason if isinstance(reason, str) else reason(row)
        raise InputError(f"{path}: in the row {','.join(shown[row])!r} {told}")


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _read_text(
    spark: SparkSession, source: TableSource, resolved: Resolved, columns: tuple[Column, ...]
) -> RawTable:
    from pyspark import StorageLevel

    plans: dict[str, RecordPlan] = {}
    by_lines: list[str] = []
    whole: list[str] = []
    for file in resolved.files:
        layout = _layout(spark, file, source, resolved.format, columns)
        if layout is None:
            continue
        path = spark_path(spark, file)
        plans[file_key(path)] = RecordPlan(file.shown, file.compression, layout)
        # As in text_input.py: Spark streams plain and gz lines, the others are read whole.
        streamed = file.compression in (None, "gz") and not ends_in_carriage_return(file)
        (by_lines if streamed else whole).append(path)
    if not plans:
        raise InputError(f"{source.path} holds no row: it is empty")
    parts = [_lines_of(spark, by_lines, plans, columns)] if by_lines else []
    parts += [_files_of(spark, whole, plans, columns)] if whole else []
    parsed = reduce(lambda one, other: one.unionAll(other), parts).persist(StorageLevel.DISK_ONLY)
    good, bad = parsed.where("_reason is null"), parsed.where("_reason is not null")
    rejects = bad.selectExpr("_file as file", "_row as row", "_reason as reason")
    return RawTable(source, good.drop("_file", "_row", "_reason"), rejects, kept=parsed)


def _layout(
    spark: SparkSession, file: DataFile, source: TableSource, kind: str, columns: tuple[Column, ...]
) -> RecordLayout | None:
    """Where the columns lie in one file; None for a file without any row."""
    separator, quote = text_rules(source, kind)
    rows = first_rows(spark, file, None)
    if not rows:
        return None
    if kind == "json":
        keys: dict[str, None] = {}
        for row in rows:
            try:
                keys |= dict.fromkeys(json_keys(row))
            except BadRow:
                continue
        if keys:
            require_columns(file.shown, columns, list(keys))
        return RecordLayout(columns, None)
    names = read_header(rows[0], file, separator, quote)
    require_columns(file.shown, columns, names)
    for column in columns:
        if names.count(column.name) > 1:
            raise InputError(f"{file.shown} has more than one column {column.name!r}")
    places = tuple(names.index(column.name) for column in columns)
    return RecordLayout(columns, places, separator, quote, len(names))


def _ddl(columns: Sequence[Column]) -> str:
    kinds = [
        f"{quoted_name(column.name)} {'string' if column.kind == 'text' else 'double'}" for column in columns
    ]
    return ", ".join([*kinds, "_file string", "_row string", "_reason string"])


def _lines_of(
    spark: SparkSession, paths: list[str], plans: Mapping[str, RecordPlan], columns: Sequence[Column]
) -> DataFrame:
    from pyspark.sql import functions as sf

    lines = spark.read.option(*NO_PATTERNS).text(paths, lineSep="\n")
    block = (sf.col("_metadata.file_path"), sf.col("_metadata.file_block_start"))
    picked = lines.select(sf.col("value").cast("binary"), *block)
    return picked.mapInArrow(partial(_parse_lines, plans), _ddl(columns))


def _parse_lines(
    plans: Mapping[str, RecordPlan], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for key, lines in cut_blocks(batches, lambda key: plans[key].header):
        yield from parse_records(lines, plans[key].layout, plans[key].shown)


def _files_of(
    spark: SparkSession, paths: list[str], plans: Mapping[str, RecordPlan], columns: Sequence[Column]
) -> DataFrame:
    from pyspark.sql import functions as sf

    files = spark.read.format("binaryFile").option(*NO_PATTERNS).load(paths)
    picked = files.select(sf.col("content"), sf.col("_metadata.file_path"))
    return picked.mapInArrow(partial(_parse_files, plans), _ddl(columns))


def _parse_files(
    plans: Mapping[str, RecordPlan], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for content, file in zip(batch.column(0), batch.column(1), strict=True):
            plan = plans[file_key(unquote(file.as_py()))]
            try:
                records = cut_lines(decompressed(io.BytesIO(content.as_buffer()), plan.compression))
                if plan.header:
                    next(records, None)
                while some := list(islice(records, _RECORDS_PER_BATCH)):
                    yield from parse_records(pa.array(some, pa.binary()), plan.layout, plan.shown)
            except BadCompression as error:
                raise InputError(f"cannot read {plan.shown}: {error}") from None

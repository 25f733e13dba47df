"""Text tables into Spark: lines as bytes, split by our own rules, in one pass.

Spark's own CSV reader silently changes invalid UTF-8, lone `\\r` and quoted newlines; so lines are read as
bytes and `parse_text.py` makes records of them in Spark's Python workers.

Spark cuts plain files into lines, blocks of one file side by side, and does not tell whether the last line
had an end. So whatever must not be cut blindly is read whole, by one worker each: compressed files unless
they are very large, quoted newlines, and a plain file whose last byte is a `\\r`. Workers open a file of the
machine's own themselves, as Spark would; one behind an address Spark hands to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from topicloom.base.addresses import is_address
from topicloom.base.progress import Progress
from topicloom.tables.file_plans import Notice, joined_notices, plan_file, wanted_fields
from topicloom.tables.local.table import LocalTable
from topicloom.tables.local.text import told_apart
from topicloom.tables.parse_text import (
    REJECTED,
    Plans,
    file_key,
    parse_blocks,
    parse_files,
    parsed_schema,
)
from topicloom.tables.records import Field, FilePlan
from topicloom.tables.source import DataFile, Resolved, TableSource
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.file_plans import Ends, beginnings_of, check_whole, cut_by_spark
from topicloom.tables.spark.job_progress import run_watched
from topicloom.tables.spark.links import Carrier, carried
from topicloom.tables.spark.python_tasks import Batches, map_batches
from topicloom.tables.spark.raw_table import (
    MANY_FILES,
    NO_PATTERNS,
    RawTable,
    kept_apart,
    quoted_name,
    read_paths,
    spark_path,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
LOOKS_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class _TextFiles:
    """How every file is read: by lines that Spark cuts, or whole, from this machine or behind an address."""

    plans: Plans
    wanted: list[Field]
    notice: str | None
    by_lines: list[str]
    here: list[str]
    remote: list[str]


def read_text(spark: SparkSession, source: TableSource, resolved: Resolved) -> RawTable:
    """Return the records of text files as tables of Spark; its workers make them."""
    from pyspark import StorageLevel

    files = _look(spark, source, resolved)
    ddl = _ddl(source.fields)
    parts = []
    # Once to each worker, not with each task: there may be thousands of files.
    plans = carried(spark, files.plans)
    if files.by_lines:
        lines = _lines_of(spark, resolved, files.by_lines)
        parts.append(map_batches(lines, partial(_with_plans, parse_blocks, plans), ddl))
    for paths, content in ((files.here, False), (files.remote, True)):
        if paths:
            whole = _files_of(spark, paths, content=content)
            parts.append(map_batches(whole, partial(_with_plans, parse_files, plans), ddl))
    parsed = reduce(lambda one, other: one.unionAll(other), parts).persist(StorageLevel.DISK_ONLY)
    return kept_apart(source, parsed, [field.name for field in files.wanted], files.notice)


def _with_plans(
    parse: Callable[[Plans, Batches], Batches], plans: Carrier[Plans], batches: Batches
) -> Batches:
    """Parse in a worker."""
    return parse(plans.value, batches)


def collect_text(
    spark: SparkSession, source: TableSource, resolved: Resolved, progress: Progress
) -> LocalTable:
    """Return the records of small text files in memory: Spark reads, the driver does the workers' part."""
    files = _look(spark, source, resolved)
    frames = [(_lines_of(spark, resolved, files.by_lines), parse_blocks)] if files.by_lines else []
    for paths in filter(None, (files.here, files.remote)):
        frames.append((_files_of(spark, paths, content=True), parse_files))
    batches: list[pa.RecordBatch] = []
    for frame, parse in frames:
        with spark_errors(source.path):
            read = run_watched(spark, frame.toArrow, progress=progress, phase=f"read {source.what}")
        batches += parse(files.plans, iter(read.to_batches()))
    parsed = pa.Table.from_batches(batches, parsed_schema(source.fields))
    return told_apart(source, parsed, files.wanted, files.notice)


def _look(spark: SparkSession, source: TableSource, resolved: Resolved) -> _TextFiles:
    """Look at the beginning of each file."""
    plans: dict[str, FilePlan] = {}
    notices: list[Notice] = []
    by_lines: list[str] = []
    whole: dict[bool, list[str]] = {False: [], True: []}  # is it behind an address?
    ends: Ends = {}
    beginnings = beginnings_of(spark, ends)

    def look(file: DataFile) -> tuple[FilePlan, Notice | None, bool] | None:
        planned = plan_file(file, source, resolved.format, beginnings)
        if planned is None:
            return None
        by_line = not planned[0].multiline and cut_by_spark(spark, file, ends)
        if not by_line:
            check_whole(spark, file)
        return *planned, by_line

    for file, seen in zip(resolved.files, _side_by_side(look, resolved.files), strict=True):
        if seen is None:
            continue
        plan, notice, by_line = seen
        path = spark_path(spark, file)
        plans[file_key(path)] = plan
        notices += [notice] if notice else []
        (by_lines if by_line else whole[is_address(file.path)]).append(path)
    wanted = wanted_fields(source, plans.values())
    return _TextFiles(plans, wanted, joined_notices(notices), by_lines, whole[False], whole[True])


def _side_by_side(look: Callable[[DataFile], T], files: Sequence[DataFile]) -> Iterator[T]:
    """Look at many files at once, in their order: each takes a while to answer if it is far away."""
    if len(files) <= MANY_FILES:
        yield from map(look, files)
        return
    pool = ThreadPoolExecutor(LOOKS_AT_ONCE)
    try:
        yield from pool.map(look, files)
    finally:  # after the first that cannot be used nobody asks for the others
        pool.shutdown(cancel_futures=True)


def _ddl(fields: Sequence[Field]) -> str:
    kinds = [f"{quoted_name(field.name)} {'double' if field.is_number else 'string'}" for field in fields]
    return ", ".join([*kinds, *(f"{name} string" for name in REJECTED)])


def _lines_of(spark: SparkSession, resolved: Resolved, paths: list[str]) -> DataFrame:
    reader, places = read_paths(spark, resolved, paths)
    lines = reader.text(places, lineSep="\n")
    return lines.selectExpr("cast(value as binary)", "_metadata.file_path", "_metadata.file_block_start")


def _files_of(spark: SparkSession, paths: list[str], *, content: bool) -> DataFrame:
    files = spark.read.format("binaryFile").option(*NO_PATTERNS).load(paths)
    return files.select("_metadata.file_path", *(["content"] if content else []))

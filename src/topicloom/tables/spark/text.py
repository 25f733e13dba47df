"""Text tables into Spark: lines as bytes, split by our own rules, in one pass.

Spark's own CSV reader silently changes invalid UTF-8, lone `\\r` and quoted newlines; so lines are read as
bytes and `parse_text.py` makes records of them in Spark's Python workers.

Spark cuts plain files into lines, blocks of one file side by side, and does not tell whether the last line
had an end. So whatever must not be cut blindly is read whole, by one worker each: compressed files, quoted
newlines, and a plain file whose last byte is a `\\r`. Workers open a file of the machine's own themselves, as
Spark would; one behind an address Spark hands to them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING

from topicloom.errors import InputError
from topicloom.tables.parse_text import REJECTED, Plans, file_key, parse_blocks, parse_files
from topicloom.tables.records import Field, FilePlan
from topicloom.tables.source import Resolved, TableSource, is_address
from topicloom.tables.spark.file_plans import Notice, ends_in_carriage_return, plan_file
from topicloom.tables.spark.python_tasks import map_batches
from topicloom.tables.spark.raw_table import NO_PATTERNS, REJECT_COLUMNS, RawTable, quoted_name, spark_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read_text(spark: SparkSession, source: TableSource, resolved: Resolved) -> RawTable:
    from pyspark import StorageLevel
    from pyspark.sql import functions as sf

    plans: dict[str, FilePlan] = {}
    notices: list[Notice] = []
    by_lines: list[str] = []
    whole: dict[bool, list[str]] = {False: [], True: []}  # is it behind an address?
    for file in resolved.files:
        planned = plan_file(spark, file, source, resolved.format)
        if planned is None:
            continue
        plan, notice = planned
        path = spark_path(spark, file)
        plans[file_key(path)] = plan
        notices += [notice] if notice else []
        if file.compression is None and not plan.multiline and not ends_in_carriage_return(spark, file):
            by_lines.append(path)
        else:
            whole[is_address(file.path)].append(path)
    if not plans:
        row = {"interest": "subscription", "edges": "edge"}.get(source.what, "row")
        raise InputError(f"{source.path} holds no {row}: it is empty")
    ddl = _ddl(source.fields)
    parts = [_lines_of(spark, by_lines, plans, ddl)] if by_lines else []
    parts += [_files_of(spark, paths, plans, ddl, remote) for remote, paths in whole.items() if paths]
    parsed = reduce(lambda one, other: one.unionAll(other), parts).persist(StorageLevel.DISK_ONLY)
    good, bad = parsed.where("_reason is null"), parsed.where("_reason is not null")
    wanted = [field for field in source.fields if not field.optional or _has_optional(plans)]
    rows = good.select(*[quoted_name(field.name) for field in wanted])
    rejects = bad.select(*[sf.col(f"_{name}").alias(name) for name in REJECT_COLUMNS])
    return RawTable(source, rows, rejects, _joined(notices), parsed)


def _ddl(fields: Sequence[Field]) -> str:
    kinds = [f"{quoted_name(field.name)} {'double' if field.is_number else 'string'}" for field in fields]
    return ", ".join([*kinds, *(f"{name} string" for name in REJECTED)])


def _has_optional(plans: Plans) -> bool:
    """Return whether an optional field may occur in some file; a JSON line may hold one anywhere."""
    return any(
        field.optional and place is not None
        for plan in plans.values()
        for field, place in zip(plan.fields, plan.layout.places, strict=True)
    )


def _lines_of(spark: SparkSession, paths: list[str], plans: Plans, ddl: str) -> DataFrame:
    lines = spark.read.option(*NO_PATTERNS).text(paths, lineSep="\n")
    block = ("cast(value as binary)", "_metadata.file_path", "_metadata.file_block_start")
    return map_batches(lines.selectExpr(*block), partial(parse_blocks, plans), ddl)


def _files_of(spark: SparkSession, paths: list[str], plans: Plans, ddl: str, remote: bool) -> DataFrame:
    files = spark.read.format("binaryFile").option(*NO_PATTERNS).load(paths)
    content = ["content"] if remote else []
    return map_batches(files.select("_metadata.file_path", *content), partial(parse_files, plans), ddl)


def _joined(notices: Sequence[Notice]) -> str | None:
    """Return one line per header row: first rows that are data differ, and none may be missed."""
    files = Counter(notice.header for notice in notices)
    first = {notice.header: notice.sentence for notice in reversed(notices)}
    more = {1: "", 2: "; the same goes for 1 more file"}
    lines = [
        first[header] + more.get(count, f"; the same goes for {count - 1} more files")
        for header, count in files.items()
    ]
    return "\n".join(lines) or None

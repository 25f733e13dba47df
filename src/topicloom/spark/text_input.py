"""Text tables into Spark: lines as bytes, split by our own rules, in one pass.

Spark's own CSV reader silently changes invalid UTF-8, lone `\\r` and quoted newlines; so lines are read as
bytes and `batches.py` makes rows of them in Spark's Python workers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING

from topicloom.errors import InputError
from topicloom.spark.batches import PARSED_DDL, file_key, parse_files, parse_lines
from topicloom.spark.heads import FilePlan, Notice, ends_in_carriage_return, number_column, plan_file
from topicloom.spark.raw import NO_PATTERNS, REJECT_COLUMNS, RawTable, spark_path
from topicloom.spark.source import Resolved, TableSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read_text(spark: SparkSession, source: TableSource, resolved: Resolved) -> RawTable:
    from pyspark import StorageLevel

    plans: dict[str, FilePlan] = {}
    notices: list[Notice] = []
    by_lines: list[str] = []
    whole: list[str] = []
    for file in resolved.files:
        planned = plan_file(spark, file, source, resolved.format)
        if planned is None:
            continue
        plan, notice = planned
        path = spark_path(spark, file)
        plans[file_key(path)] = plan
        notices += [notice] if notice else []
        # Spark streams plain and gz lines; it would cut bz2 in the middle and cannot read the others, and
        # it does not tell whether the last line had an end.
        streamed = file.compression in (None, "gz") and not plan.multiline
        (by_lines if streamed and not ends_in_carriage_return(file) else whole).append(path)
    if not plans:
        raise InputError(f"{source.path} holds no {_one_row(source)}: it is empty")
    parts = [_lines_of(spark, by_lines, plans)] if by_lines else []
    parts += [_files_of(spark, whole, plans)] if whole else []
    parsed = reduce(lambda one, other: one.unionAll(other), parts).persist(StorageLevel.DISK_ONLY)
    good, bad = parsed.where("reason is null"), parsed.where("reason is not null")
    columns = [good["first"].alias(source.names[0]), good["second"].alias(source.names[1])]
    if _has_extras(plans):
        number = number_column(source)
        columns += [good["role"]] if number == "rate" else []
        columns += [good["rate"].alias(number)]
    return RawTable(source, good.select(*columns), bad.select(*REJECT_COLUMNS), _joined(notices), parsed)


def _lines_of(spark: SparkSession, paths: list[str], plans: dict[str, FilePlan]) -> DataFrame:
    from pyspark.sql import functions as sf

    lines = spark.read.option(*NO_PATTERNS).text(paths, lineSep="\n")
    columns = (
        sf.col("value").cast("binary"),
        sf.col("_metadata.file_path"),
        sf.col("_metadata.file_block_start"),
    )
    return lines.select(*columns).mapInArrow(partial(parse_lines, plans), PARSED_DDL)


def _files_of(spark: SparkSession, paths: list[str], plans: dict[str, FilePlan]) -> DataFrame:
    from pyspark.sql import functions as sf

    files = spark.read.format("binaryFile").option(*NO_PATTERNS).load(paths)
    columns = (sf.col("content"), sf.col("_metadata.file_path"))
    return files.select(*columns).mapInArrow(partial(parse_files, plans), PARSED_DDL)


def _has_extras(plans: dict[str, FilePlan]) -> bool:
    """True when role or rate may occur; a JSON line may hold them anywhere."""
    return any(
        getattr(plan.layout, "extras", False)
        or getattr(plan.layout, "role", None) is not None
        or getattr(plan.layout, "rate", None) is not None
        for plan in plans.values()
    )


def _joined(notices: Sequence[Notice]) -> str | None:
    """One line per header row: first rows that are data differ from file to file, and none may be missed."""
    files = Counter(notice.header for notice in notices)
    first = {notice.header: notice.sentence for notice in reversed(notices)}
    lines = [first[header] + _more(count - 1) for header, count in files.items()]
    return "\n".join(lines) if lines else None


def _more(others: int) -> str:
    return f"; the same goes for {others} more file{'s' if others > 1 else ''}" if others else ""


def _one_row(source: TableSource) -> str:
    return {"interest": "subscription", "edges": "edge"}.get(source.what, "row")

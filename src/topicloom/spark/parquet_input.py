"""Parquet tables into Spark: judged by Spark's own expressions, so that no Python sees a row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from topicloom.errors import InputError
from topicloom.model.interest import ROLES
from topicloom.spark.failures import spark_errors
from topicloom.spark.heads import choose_columns
from topicloom.spark.lines import at_least
from topicloom.spark.raw import NO_PATTERNS, RawTable, spark_path
from topicloom.spark.source import Resolved, TableSource

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

NUMBERS = ("rate", "cost")
"""Columns of numbers; all others hold text."""


def read_parquet(spark: SparkSession, source: TableSource, resolved: Resolved) -> RawTable:
    from pyspark.sql import functions as sf
    from pyspark.sql.types import DoubleType, FloatType

    paths = [spark_path(spark, file) for file in resolved.files]
    with spark_errors(source.path):
        reader = spark.read.option(*NO_PATTERNS).option("mergeSchema", str(len(paths) > 1).lower())
        frame = reader.parquet(*paths)
        fields = frame.schema.fields
    names = [field.name for field in fields]
    if len(names) < 2:
        raise InputError(f"{source.path} has {len(names)} column and two are needed: {', '.join(names)}")
    first, second = choose_columns(names, len(names), source, source.path)
    extras = [i for i, name in enumerate(names) if name in source.extras]
    extras = [i for i in extras if i not in (first, second)]
    for position in (first, second):
        _check_identifier_type(fields[position], source)
    columns = {target: quoted_name(names[i]) for target, i in zip(source.names, (first, second), strict=True)}
    columns |= {names[i]: quoted_name(names[i]) for i in extras}
    shown = sf.lit(source.path.rstrip("/"))
    if len(resolved.files) > 1 or resolved.files[0].shown != source.path:
        shown = sf.concat(shown, sf.lit("/"), sf.col("_metadata.file_name"))
    values = {target: sf.col(name) for target, name in columns.items()}
    for i in extras:
        if isinstance(fields[i].dataType, (FloatType, DoubleType)):
            values[names[i]] = _nan_as_null(values[names[i]])
    picked = frame.select(*[value.alias(target) for target, value in values.items()], shown.alias("file"))
    return replace(
        _judged(source, picked, list(columns)), notice=_notice(source, names[first], names[second])
    )


def _notice(source: TableSource, first: str, second: str) -> str | None:
    """Columns that nobody named are told, as for text."""
    if (source.first, source.second) != (None, None) or {first, second} == set(source.names):
        return None
    options = source.options
    return (
        f"{source.path}: columns used: {first!r} as {source.names[0]}, {second!r} as {source.names[1]}; "
        f"choose others with {options.first} and {options.second}"
    )


def _judged(source: TableSource, picked: DataFrame, targets: list[str]) -> RawTable:
    """Rows and rejects by Spark's own expressions: no Python sees a row."""
    from pyspark.sql import functions as sf

    texts = {name: sf.col(name).cast("string") for name in targets}
    reason = sf.coalesce(*[_reason(name, text) for name, text in texts.items()])
    good = picked.where(reason.isNull())
    rows = good.select(
        *[
            text.cast("double").alias(name) if name in NUMBERS else text.alias(name)
            for name, text in texts.items()
        ]
    )
    readable = sf.struct(*[readable_text(text).alias(name) for name, text in texts.items()])
    row = sf.to_json(readable, {"ignoreNullFields": "false"})
    bad = picked.withColumn("reason", reason).where(sf.col("reason").isNotNull())
    return RawTable(source, rows, bad.select("file", row.alias("row"), "reason"))


def _reason(name: str, text: Column) -> Column:
    """Why this value makes its row unusable, or null; a row may do without a role and a rate."""
    from pyspark.sql import functions as sf

    problem = sf.when(text == "", sf.lit(f"the {name} is empty"))
    if name == "role":
        wrong = sf.concat(sf.lit("the role '"), text, sf.lit(f"' is none of {', '.join(ROLES)}"))
        return problem.when(~text.isin(*ROLES), wrong)
    if name in NUMBERS:
        number = text.try_cast("double")
        fine = number.isNotNull() & ~sf.isnan(number) & (number < float("inf"))
        fine &= (number > 0) if name == "cost" else (number >= 0)
        wrong = sf.concat(sf.lit(f"the {name} '"), text, sf.lit(f"' is not a finite number {at_least(name)}"))
        return problem.when(text.isNotNull() & ~fine, wrong)
    problem = problem.when(text.isNull(), sf.lit(f"the {name} is missing"))
    return problem.when(~sf.is_valid_utf8(text), sf.lit(f"the {name} is not valid UTF-8"))


def _nan_as_null(number: Column) -> Column:
    """pandas and others write a number that is missing as NaN."""
    from pyspark.sql import functions as sf

    return sf.when(~sf.isnan(number), number)


def readable_text(text: Column) -> Column:
    """The value itself, or its bytes as `\\xNN` where it is not valid UTF-8."""
    from pyspark.sql import functions as sf

    escaped = sf.regexp_replace(sf.lower(sf.hex(text.cast("binary"))), "(..)", r"\\x$1")
    return sf.when(sf.is_valid_utf8(text), text).otherwise(escaped)


def _check_identifier_type(field: Any, source: TableSource) -> None:
    from pyspark.sql.types import DecimalType, IntegralType, StringType

    if not isinstance(field.dataType, (StringType, IntegralType, DecimalType)):
        raise InputError(
            f"column {field.name!r} of {source.path} has type {field.dataType.simpleString()}: identifiers "
            "are strings, integers or decimals, so convert it or choose another column"
        )


def quoted_name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"

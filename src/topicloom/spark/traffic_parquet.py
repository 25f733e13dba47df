"""Tables of records from Parquet: judged by Spark's own expressions, so that no Python sees a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from topicloom.errors import InputError
from topicloom.spark.failures import spark_errors
from topicloom.spark.lines import NUMBER
from topicloom.spark.parquet_input import quoted_name, readable_text
from topicloom.spark.raw import NO_PATTERNS, RawTable, spark_path
from topicloom.spark.source import Resolved, TableSource
from topicloom.spark.traffic_lines import INFINITE, ISO, MEANINGS, Column, require_columns

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import SparkSession


def read_parquet_records(
    spark: SparkSession, source: TableSource, resolved: Resolved, columns: Sequence[Column]
) -> RawTable:
    from pyspark.sql import functions as sf

    paths = [spark_path(spark, file) for file in resolved.files]
    with spark_errors(source.path):
        reader = spark.read.option(*NO_PATTERNS).option("mergeSchema", str(len(paths) > 1).lower())
        frame = reader.parquet(*paths)
        types: dict[str, Any] = {field.name: field.dataType for field in frame.schema.fields}
    require_columns(source.path, columns, list(types))
    shown = sf.lit(source.path.rstrip("/"))
    if len(resolved.files) > 1 or resolved.files[0].shown != source.path:
        shown = sf.concat(shown, sf.lit("/"), sf.col("_metadata.file_name"))
    picked = frame.select(*[sf.col(quoted_name(column.name)) for column in columns], shown.alias("_file"))
    values: list[SparkColumn] = []
    reasons: list[SparkColumn] = []
    for column in columns:
        value, reason = _judged(column, types[column.name], source)
        values.append(value.alias(column.name))
        reasons.append(reason)
    reason = sf.coalesce(*reasons)
    texts = [sf.col(quoted_name(column.name)).cast("string") for column in columns]
    readable = [readable_text(text).alias(column.name) for text, column in zip(texts, columns, strict=True)]
    row = sf.to_json(sf.struct(*readable), {"ignoreNullFields": "false"})
    bad = picked.withColumn("_reason", reason).where(sf.col("_reason").isNotNull())
    rejects = bad.select(sf.col("_file").alias("file"), row.alias("row"), sf.col("_reason").alias("reason"))
    return RawTable(source, picked.where(reason.isNull()).select(*values), rejects)


def _judged(column: Column, kind: Any, source: TableSource) -> tuple[SparkColumn, SparkColumn]:
    """A column's values, and why one makes its row unusable (null where it does not)."""
    from pyspark.sql import functions as sf
    from pyspark.sql import types as st

    raw = sf.col(quoted_name(column.name))
    text = raw.cast("string")
    missing = sf.when(raw.isNull(), sf.lit(f"the {column.name} is missing"))
    if column.kind == "text":
        if not isinstance(kind, (st.StringType, st.IntegralType, st.DecimalType)):
            raise _wrong_type(column, kind, source, "identifiers are strings, integers or decimals")
        missing = missing.when(text == "", sf.lit(f"the {column.name} is empty"))
        return text, missing.when(~sf.is_valid_utf8(text), sf.lit(f"the {column.name} is not valid UTF-8"))
    if isinstance(kind, st.NumericType):
        number = raw.cast("double")
    elif column.kind == "time" and isinstance(kind, (st.TimestampType, st.TimestampNTZType, st.DateType)):
        number = sf.unix_micros(raw.cast("timestamp")) / sf.lit(1e6)
    elif column.kind == "time" and isinstance(kind, st.StringType):
        moment = sf.unix_micros(text.try_cast("timestamp")) / sf.lit(1e6)
        number = sf.when(text.rlike(NUMBER), text.try_cast("double")).when(text.rlike(ISO), moment)
    elif isinstance(kind, st.StringType):
        number = sf.when(text.rlike(f"{NUMBER}|{INFINITE}"), text.try_cast("double"))
    else:
        raise _wrong_type(column, kind, source, f"it must be {MEANINGS[column.kind]}")
    fine = number.isNotNull() & ~sf.isnan(number)
    if column.kind != "bound":
        fine &= sf.abs(number) < float("inf")
    if column.kind == "amount":
        fine &= number >= 0
    wrong = sf.concat(sf.lit(f"the {column.name} '"), text, sf.lit(f"' is not {MEANINGS[column.kind]}"))
    return number, missing.when(~fine, wrong)


def _wrong_type(column: Column, kind: Any, source: TableSource, wanted: str) -> InputError:
    return InputError(f"column {column.name!r} of {source.path} has type {kind.simpleString()}: {wanted}")

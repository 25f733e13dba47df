"""Records from DataFrames (Parquet): judged by Spark's own expressions, so that no Python sees a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from topicloom.tables.reader import kept_names
from topicloom.tables.records import INFINITE, ISO, MEANINGS, NUMBER, ROLE, ROLES, Field, in_range
from topicloom.tables.source import Resolved, TableSource
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.raw_table import RawTable, kept_apart, quoted_name, read_paths, spark_path
from topicloom.tables.table_formats import NO_VALUE
from topicloom.tables.typed_columns import found_fields, shows_files, wrong_type

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

Settle: TypeAlias = "Callable[[DataFrame], DataFrame]"


def read_parquet(spark: SparkSession, source: TableSource, resolved: Resolved) -> RawTable:
    from pyspark.sql import functions as sf

    paths = [spark_path(spark, file) for file in resolved.files]
    with spark_errors(source.path):
        reader, places = read_paths(spark, resolved, paths)
        frame = reader.option("mergeSchema", str(len(paths) > 1).lower()).parquet(*places)
    shown, place = sf.lit(source.path.rstrip("/")), _file_path(resolved, paths)
    partition = resolved.files[0].partition
    if shows_files(source, resolved):
        # The last parts of a path: the folders of the partition and the name.
        name = sf.substring_index(place, "/", -1 - len(partition))
        shown = sf.concat(shown, sf.lit("/"), name)
    columns = {
        column: _folder_value(place, len(partition) - depth) for depth, (column, _) in enumerate(partition)
    }
    if columns:  # texts that come last, or in the place of a column of the files
        frame = frame.withColumns(columns)
    return read_frame(frame, source, shown, merged=len(paths) > 1)


def _file_path(resolved: Resolved, paths: list[str]) -> Column:
    """Return the path of a row's file, which Spark tells in the form of an address."""
    from pyspark.sql import functions as sf

    # In the name of a file a plus is a plus.
    plain = sf.url_decode(sf.replace(sf.col("_metadata.file_path"), sf.lit("+"), sf.lit("%2B")))
    links = {
        path.removeprefix("file://"): file.path
        for file, path in zip(resolved.files, paths, strict=True)
        if file.path.startswith("/") and path != f"file://{file.path}"
    }
    if not links:
        return plain
    names = [sf.lit(word) for pair in links.items() for word in pair]
    link = sf.regexp_replace(plain, "^file:/*", "/")
    return sf.coalesce(sf.try_element_at(sf.create_map(*names), link), plain)


def _folder_value(path: Column, depth: int) -> Column:
    """Return what the folder so far above a file says after its `=`."""
    from pyspark.sql import functions as sf

    folder = sf.substring_index(sf.substring_index(path, "/", -1 - depth), "/", 1)
    value = sf.regexp_replace(folder, "^[^=]*=", "")
    decoded = sf.url_decode(sf.replace(value, sf.lit("+"), sf.lit("%2B")))
    return sf.when(value != NO_VALUE, decoded)


def read_frame(
    frame: DataFrame,
    source: TableSource,
    shown: Column,
    *,
    merged: bool = False,
    called: Sequence[str] | None = None,
    settle: Settle | None = None,
) -> RawTable:
    """Return the records of a DataFrame; `shown` is the file that a reject came from.

    Its columns are `called` so, where the DataFrame itself has other names for them. With `settle` it is
    evaluated once, here: that makes a table now.
    """
    from pyspark.sql import functions as sf

    with spark_errors(source.path):
        there = frame.schema.fields
    own = [column.name for column in there]
    names = own if called is None else list(called)
    found, notice = found_fields(source, names, merged=merged)
    raw, values, reasons = [], [], []
    for field, place in found:
        column = sf.col(quoted_name(own[place]))
        raw.append(_or_missing(column, field, there[place].dataType).alias(field.name))
        value, reason = _judged(field, names[place], there[place].dataType, source)
        values.append(value.alias(field.name))
        reasons.append(reason)
    picked = frame.select(*raw, shown.alias("_file"))
    told = _told_apart if settle is None else partial(_settled_apart, settle)
    return told(source, picked, values, sf.coalesce(*reasons), notice)


def _told_apart(
    source: TableSource, picked: DataFrame, values: list[Column], reason: Column, notice: str | None
) -> RawTable:
    """Return rows and rejects: a row with a reason is one of the latter."""
    from pyspark.sql import functions as sf

    row, kept = _row_told(source, picked)
    bad = picked.withColumn("_reason", reason).where(sf.col("_reason").isNotNull())
    told = sf.col("_file").alias("file"), row.alias("row"), sf.col("_reason").alias("reason")
    rejects = bad.select(*told, *kept)
    judged = picked.select(*values, reason.alias("_reason"))
    return RawTable(source, picked.where(reason.isNull()).select(*values), rejects, judged, notice)


def _settled_apart(
    settle: Settle,
    source: TableSource,
    picked: DataFrame,
    values: list[Column],
    reason: Column,
    notice: str | None,
) -> RawTable:
    """Return the same of one table that is made at once; in a refused row its names are those to be read."""
    from pyspark.sql import functions as sf

    row, kept = _row_told(source, picked)
    names, bad = picked.columns[:-1], sf.col("_reason").isNotNull()
    there = dict(zip(names, values, strict=True))
    for name, readable in zip(kept_names(source), kept, strict=True):
        there[name] = sf.when(bad, readable).otherwise(there[name]).alias(name)
    refused = [sf.when(bad, text).alias(name) for name, text in (("_file", sf.col("_file")), ("_row", row))]
    table = picked.withColumn("_reason", reason).select(*there.values(), *refused, "_reason")
    return kept_apart(source, settle(table), names, notice, settled=True)


def _row_told(source: TableSource, picked: DataFrame) -> tuple[Column, list[Column]]:
    """Return a row as its reject shows it, and the names that can be read in it."""
    from pyspark.sql import functions as sf

    texts = {name: sf.col(quoted_name(name)).cast("string") for name in picked.columns if name != "_file"}
    readable = sf.struct(*[_readable(text).alias(name) for name, text in texts.items()])
    kept = [_kept(texts[name]).alias(name) for name in kept_names(source)]
    return sf.to_json(readable, {"ignoreNullFields": "false"}), kept


def _judged(field: Field, name: str, kind: Any, source: TableSource) -> tuple[Column, Column]:
    """Return a field's values, and why one makes its row unusable (null where it does not)."""
    from pyspark.sql import functions as sf

    raw = sf.col(quoted_name(field.name))
    text = raw.cast("string")
    unusable = sf.when(raw.isNull() & sf.lit(not field.optional), sf.lit(f"the {field.name} is missing"))
    if not field.optional and not field.is_number:
        unusable = unusable.when(text == "", sf.lit(f"the {field.name} is empty"))
    if field.is_number:
        value = _number(raw, text, field, name, kind, source)
        # A null here is a row without the optional field, or a text that is no number.
        fine = raw.isNull() | sf.coalesce(in_range(value, field.kind), sf.lit(False))
        wrong = f"' is not {MEANINGS[field.kind]}"
    else:
        _check_text(field, name, kind, source)
        value, wrong = text, f"' is none of {ROLE}"
        if field.kind == "text":
            return value, unusable.when(
                ~sf.is_valid_utf8(text), sf.lit(f"the {field.name} is not valid UTF-8")
            )
        fine = raw.isNull() | text.isin(*ROLES)
    return value, unusable.when(~fine, sf.concat(sf.lit(f"the {field.name} '"), text, sf.lit(wrong)))


def _number(raw: Column, text: Column, field: Field, name: str, kind: Any, source: TableSource) -> Column:
    """Return a column as numbers, null where a text is none; refuse a column of another type."""
    from pyspark.sql import functions as sf
    from pyspark.sql import types as st

    if isinstance(kind, st.NumericType) or (field.optional and isinstance(kind, st.NullType)):
        return raw.cast("double")
    if field.kind == "time" and isinstance(kind, (st.TimestampType, st.TimestampNTZType, st.DateType)):
        return sf.unix_micros(raw.cast("timestamp")) / sf.lit(1e6)
    if field.kind == "time" and isinstance(kind, st.StringType):
        moment = sf.unix_micros(text.try_cast("timestamp")) / sf.lit(1e6)
        return sf.when(text.rlike(NUMBER), text.try_cast("double")).when(text.rlike(ISO), moment)
    if isinstance(kind, st.StringType):
        return sf.when(text.rlike(f"{NUMBER}|{INFINITE}"), text.try_cast("double"))
    raise wrong_type(name, kind.simpleString(), field, source)


def _check_text(field: Field, name: str, kind: Any, source: TableSource) -> None:
    from pyspark.sql.types import DecimalType, IntegralType, NullType, StringType

    texts = (StringType, IntegralType, DecimalType, *((NullType,) if field.optional else ()))
    if not isinstance(kind, texts):
        raise wrong_type(name, kind.simpleString(), field, source)


def _or_missing(column: Column, field: Field, kind: Any) -> Column:
    """Return an optional column with NaN, as pandas writes a missing number, and empty texts as null."""
    from pyspark.sql import functions as sf
    from pyspark.sql.types import DoubleType, FloatType, StringType

    if field.optional and isinstance(kind, (FloatType, DoubleType)):
        return sf.when(~sf.isnan(column), column)
    return sf.nullif(column, sf.lit("")) if field.optional and isinstance(kind, StringType) else column


def _kept(text: Column) -> Column:
    """The name that can be read in a refused row; null where there is none."""
    from pyspark.sql import functions as sf

    return sf.when((text != "") & sf.is_valid_utf8(text), text)


def _readable(text: Column) -> Column:
    """The value itself, or its bytes as `\\xNN` where it is not valid UTF-8."""
    from pyspark.sql import functions as sf

    escaped = sf.regexp_replace(sf.lower(sf.hex(text.cast("binary"))), "(..)", r"\\x$1")
    return sf.when(sf.is_valid_utf8(text), text).otherwise(escaped)

"""Records from Parquet files in this process, under the rules of `spark/frames.py`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from topicloom.base.progress import Progress, check_stop
from topicloom.errors import InputError
from topicloom.tables.local.parquet_types import as_text, per_value, plain_type, spark_name
from topicloom.tables.local.table import LocalTable
from topicloom.tables.reader import REJECT_COLUMNS, kept_names
from topicloom.tables.records import INFINITE, MEANINGS, NUMBER, ROLE, ROLES, Field, in_range, time_of
from topicloom.tables.source import DataFile, Resolved, TableSource
from topicloom.tables.typed_columns import (
    NOT_PARQUET,
    OTHER_TYPES,
    TWICE,
    Placed,
    found_fields,
    shows_files,
    wrong_type,
)

_NUMERIC = re.compile(f"{NUMBER}|{INFINITE}")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ESCAPED = re.compile(r'["\\\x00-\x1f]')


def read_parquet(source: TableSource, resolved: Resolved, progress: Progress) -> LocalTable:
    """Return the records of Parquet files; a column that a file does not have is null there."""
    files = [_opened(file) for file in resolved.files]
    schema = _merged([_plain_schema(file, source) for file in files], source)
    for name, _ in resolved.files[0].partition:
        place = schema.get_field_index(name)
        text = pa.field(name, pa.string())
        schema = schema.append(text) if place < 0 else schema.set(place, text)
    found, notice = found_fields(source, schema.names, merged=len(files) > 1)
    for field, place in found:
        _check_type(field, schema.field(place), source)
    rows, rejects = [], []
    for file, opened in zip(resolved.files, files, strict=True):
        check_stop(progress)
        shown = source.path.rstrip("/")
        if shows_files(source, resolved):
            shown = f"{shown}/{file.name}"
        good, bad = _judged(_read(file, opened, schema, found), shown, kept_names(source))
        rows.append(good)
        rejects.append(bad)
    return LocalTable(source, pa.concat_tables(rows), pa.concat_tables(rejects), notice)


# --- columns and their types -----------------------------------------------------------------------------


def _opened(file: DataFile) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(file.path, coerce_int96_timestamp_unit="us")
    except PermissionError:
        raise InputError(f"cannot read {file.path}: permission denied") from None
    except (OSError, pa.ArrowException):
        raise InputError(NOT_PARQUET.format(file=file.path)) from None


def _plain_schema(file: pq.ParquetFile, source: TableSource) -> pa.Schema:
    fields = []
    for field in file.schema_arrow:
        plain = plain_type(field.type)
        if plain is None:
            raise InputError(
                f"column {field.name!r} of {source.path} has type {field.type}, which Spark does not read: "
                "convert it or leave it out"
            )
        fields.append(pa.field(field.name, plain))
    schema = pa.schema(fields)
    if len(set(schema.names)) < len(fields):
        raise InputError(TWICE.format(path=source.path))
    return schema


def _merged(schemas: list[pa.Schema], source: TableSource) -> pa.Schema:
    """Return all columns of all files; of decimals the longest will do."""

    def merge(one: pa.Schema, other: pa.Schema) -> pa.Schema:
        for field in other:
            place = one.get_field_index(field.name)
            if place < 0:
                one = one.append(field)
                continue
            kinds = one.field(place).type, field.type
            if kinds[0] == kinds[1]:
                continue
            if not all(pa.types.is_decimal(kind) for kind in kinds) or kinds[0].scale != kinds[1].scale:
                raise InputError(OTHER_TYPES.format(path=source.path))
            one = one.set(place, pa.field(field.name, max(kinds, key=lambda kind: int(kind.precision))))
        return one

    return reduce(merge, schemas)


def _check_type(field: Field, there: pa.Field, source: TableSource) -> None:
    kind, types = there.type, pa.types
    if types.is_integer(kind) or types.is_decimal(kind) or types.is_string(kind):
        return
    if field.is_number and types.is_floating(kind):
        return
    if field.kind == "time" and (types.is_timestamp(kind) or types.is_date(kind)):
        return
    raise wrong_type(there.name, spark_name(kind), field, source)


def _read(file: DataFile, opened: pq.ParquetFile, schema: pa.Schema, found: Placed) -> dict[Field, Any]:
    """Return the columns of the fields of one file; NaN and "" are null where a value may be missing."""
    told = dict(file.partition)
    there = [name for name in opened.schema_arrow.names if name not in told]
    wanted = [schema.field(place) for _, place in found]
    try:
        table = opened.read(columns=[field.name for field in wanted if field.name in there])
        n_rows = opened.metadata.num_rows
    except (OSError, pa.ArrowException):
        raise InputError(NOT_PARQUET.format(file=file.path)) from None
    columns = {}
    for (field, _), column in zip(found, wanted, strict=True):
        if column.name in told:
            values = pa.chunked_array([pa.repeat(pa.scalar(told[column.name], pa.string()), n_rows)])
        elif column.name not in there:
            values = pa.chunked_array([pa.nulls(n_rows, column.type)])
        else:
            values = table[column.name].cast(column.type, safe=False)
        if field.optional and pa.types.is_floating(column.type):
            values = pc.if_else(pc.is_nan(values), pa.scalar(None, column.type), values)
        if field.optional and pa.types.is_string(column.type):
            values = pc.if_else(pc.equal(values, ""), pa.scalar(None, column.type), values)
        columns[field] = values
    return columns


# --- values ----------------------------------------------------------------------------------------------


def _judged(columns: dict[Field, Any], shown: str, kept: Sequence[str]) -> tuple[pa.Table, pa.Table]:
    """Return the good rows, and those with a reason why not; of these the names in `kept` columns too."""
    values, reasons = {}, []
    for field, raw in columns.items():
        values[field.name], reason = _judge(field, raw)
        reasons.append(reason)
    reason = pc.coalesce(*reasons)
    fine = pc.is_null(reason)
    rows = pa.table(values).filter(fine)
    bad = pc.invert(fine)
    texts = {field.name: as_text(raw.filter(bad)).cast(pa.binary()) for field, raw in columns.items()}
    table = pa.table(texts)
    told = [_json_row(row) for row in table.to_pylist()]
    rejected = [[shown] * len(told), told, reason.filter(bad).to_pylist()]
    arrays = [pa.array(column, pa.string()) for column in rejected]
    for name in kept:
        words = [word if word and _is_utf8(word) else None for word in texts[name].to_pylist()]
        arrays.append(pa.array(words, pa.binary()).cast(pa.string()))
    return rows, pa.table(arrays, names=[*REJECT_COLUMNS, *kept])


def _judge(field: Field, raw: pa.ChunkedArray) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Return a field's values, and why one makes its row unusable (null where it does not)."""
    name, null = field.name, pc.is_null(raw)
    is_text = raw.type == pa.string()
    reasons = [] if field.optional else [_said(null, f"the {name} is missing")]
    if is_text and not field.optional and not field.is_number:
        reasons.append(_said(pc.equal(raw, ""), f"the {name} is empty"))
    if field.is_number:
        value = _numbers(raw, field)
        found = pa.chunked_array([value.combine_chunks()]) if value.num_chunks != 1 else value
        good = in_range(found.to_numpy(), field.kind)  # a null is NaN here, which never is
        wrong, told = pc.and_(pc.invert(null), pa.array(~good)), f"' is not {MEANINGS[field.kind]}"
    else:
        value = as_text(raw)
        if field.kind == "text":
            return value, pc.coalesce(*reasons, _said(_invalid(value), f"the {name} is not valid UTF-8"))
        wrong, told = pc.invert(pc.is_in(value, value_set=pa.array([*ROLES, None]))), f"' is none of {ROLE}"
    if not pc.any(wrong).as_py():
        return value, pc.coalesce(*reasons, pa.nulls(len(raw), pa.string()))
    # Numbers are only written out where they are wrong.
    shown = as_text(pc.if_else(wrong, raw, pa.scalar(None, raw.type)))
    said = pc.binary_join_element_wise(f"the {name} '", shown, told, "")
    return value, pc.coalesce(*reasons, pc.if_else(wrong, said, pa.scalar(None, pa.string())))


def _said(where: pa.ChunkedArray, text: str) -> pa.ChunkedArray:
    return pc.if_else(pc.fill_null(where, False), pa.scalar(text), pa.scalar(None, pa.string()))


def _numbers(raw: pa.ChunkedArray, field: Field) -> pa.ChunkedArray:
    """Return a column as numbers, null where a text is none."""
    kind = raw.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        micros = raw.cast(pa.timestamp("us")).cast(pa.int64())
        return pc.divide(micros.cast(pa.float64(), safe=False), 1e6)
    if pa.types.is_decimal(kind):
        return per_value(raw, float, pa.float64())
    if pa.types.is_string(kind):
        return per_value(raw, time_of if field.kind == "time" else _number, pa.float64())
    return raw.cast(pa.float64(), safe=False)


def _number(word: str) -> float | None:
    return float(word) if _NUMERIC.fullmatch(word) else None


def _invalid(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return which values are not valid UTF-8: Parquet does not make sure that texts are."""
    try:
        text.cast(pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        return pa.chunked_array([[not _is_utf8(word) for word in text.cast(pa.binary()).to_pylist()]])
    return pa.chunked_array([pa.repeat(False, len(text))])


def _is_utf8(word: bytes | None) -> bool:
    try:
        return word is None or word.decode() is not None
    except UnicodeDecodeError:
        return False


def _json_row(row: dict[str, bytes | None]) -> str:
    """Return a row as JSON, as Spark writes it; bytes that are not UTF-8 appear as `\\xNN`."""

    def shown(value: bytes | None) -> str:
        if value is None:
            return "null"
        text = value.decode() if _is_utf8(value) else "".join(f"\\x{byte:02x}" for byte in value)
        return _quoted(text)

    return "{" + ",".join(f"{_quoted(name)}:{shown(value)}" for name, value in row.items()) + "}"


def _quoted(text: str) -> str:
    escaped = _ESCAPED.sub(lambda found: _ESCAPES.get(found[0], f"\\u{ord(found[0]):04X}"), text)
    return f'"{escaped}"'

"""Types of Parquet columns as Spark sees them, and values as it writes them out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

_NAMES = {
    pa.bool_(): "boolean", pa.int8(): "tinyint", pa.int16(): "smallint", pa.int32(): "int",
    pa.int64(): "bigint", pa.float32(): "float", pa.float64(): "double", pa.string(): "string",
    pa.binary(): "binary", pa.date32(): "date",
}  # fmt: skip
# Parquet knows less types than Arrow, and Spark reads unsigned numbers as the next larger signed ones.
_PLAIN = {
    pa.null(): pa.int32(), pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0), pa.large_string(): pa.string(), pa.string_view(): pa.string(),
    pa.large_binary(): pa.binary(), pa.binary_view(): pa.binary(), pa.date64(): pa.date32(),
}  # fmt: skip
_MOST_DIGITS = 38  # of a decimal
_PLAIN_FROM, _PLAIN_TO = -3, 7  # powers of ten between which Java writes a number without an exponent


def plain_type(kind: pa.DataType) -> pa.DataType | None:
    """Return the type as which Spark reads a column; None: it reads no file that has one."""
    types = pa.types
    if types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if types.is_timestamp(kind):
        return None if kind.unit == "ns" else pa.timestamp("us", kind.tz and "UTC")
    if types.is_duration(kind):
        return pa.int64()
    if types.is_fixed_size_binary(kind):
        return pa.binary()
    if types.is_decimal(kind):
        fits = kind.precision <= _MOST_DIGITS
        return pa.decimal128(kind.precision, kind.scale) if fits else None
    if types.is_nested(kind):
        return kind if all(plain_type(kind.field(i).type) for i in range(kind.num_fields)) else None
    plain = _PLAIN.get(kind, kind)
    return plain if plain in _NAMES or types.is_decimal(plain) else None


def spark_name(kind: pa.DataType) -> str:
    """Return what Spark calls a type.

    >>> spark_name(pa.list_(pa.int64())), spark_name(pa.timestamp("us")), spark_name(pa.decimal128(9, 2))
    ('array<bigint>', 'timestamp_ntz', 'decimal(9,2)')
    """
    types = pa.types
    plain = plain_type(kind) or kind
    if types.is_timestamp(plain):
        return "timestamp" if plain.tz else "timestamp_ntz"
    if types.is_decimal(plain):
        return f"decimal({plain.precision},{plain.scale})"
    if types.is_map(plain):
        return f"map<{spark_name(plain.key_type)},{spark_name(plain.item_type)}>"
    if types.is_struct(plain):
        inside = (plain.field(i) for i in range(plain.num_fields))
        return f"struct<{','.join(f'{one.name}:{spark_name(one.type)}' for one in inside)}>"
    if types.is_nested(plain):
        return f"array<{spark_name(plain.value_type)}>"
    return _NAMES.get(plain, str(plain))


def as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values as Spark's cast to a string writes them."""
    kind = column.type
    if pa.types.is_decimal(kind):
        return per_value(column, lambda value: format(value, "f"), pa.string())
    if pa.types.is_floating(kind):
        return per_value(column, _float_text(np.float32 if kind == pa.float32() else np.float64), pa.string())
    if pa.types.is_timestamp(kind):
        return per_value(column, _moment_text, pa.string())
    return column if kind == pa.string() else column.cast(pa.string())


def per_value(column: pa.ChunkedArray, change: Callable[[Any], Any], kind: pa.DataType) -> pa.ChunkedArray:
    """Return the column with every distinct value changed once; null stays null."""
    changed = []
    for chunk in column.chunks:
        coded = chunk.dictionary_encode()
        values = pa.array([change(value) for value in coded.dictionary.to_pylist()], kind)
        changed.append(values.take(coded.indices))
    return pa.chunked_array(changed, kind)


def _moment_text(moment: datetime) -> str:
    text = moment.replace(tzinfo=None).isoformat(" ")
    return text.rstrip("0") if moment.microsecond else text


def _float_text(kind: Any) -> Callable[[float], str]:
    return lambda value: float_text(kind(value))


def float_text(value: Any) -> str:
    """Return a number as Java writes it.

    >>> [float_text(np.float64(x)) for x in (1.0, -0.001, 1e7, 1.5e-4, float("inf"))]
    ['1.0', '-0.001', '1.0E7', '1.5E-4', 'Infinity']
    """
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 10.0**_PLAIN_FROM <= abs(value) < 10.0**_PLAIN_TO:
        return np.format_float_positional(value, unique=True, trim="0")
    mantissa, _, power = np.format_float_scientific(value, unique=True, trim="0").partition("e")
    return f"{mantissa}E{int(power)}"

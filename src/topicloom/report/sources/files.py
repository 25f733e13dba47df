"""Files of a result: read as they were written, or refused in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.errors import InputError

T = TypeVar("T")
Columns: TypeAlias = Mapping[str, Literal["text", "number"]]


def read_json(path: Path, kind: type[T]) -> T:
    """Read a summary; refuse one that is not JSON or lacks what `kind` has."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise InputError(f"cannot read {path} ({error.strerror})") from None
    except msgspec.ValidationError as error:
        raise InputError(f"{path} is damaged: {error}; make the result again") from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InputError(f"{path} is not valid JSON; make the result again") from None


def read_parquet(path: Path, columns: Columns) -> pa.Table:
    """Read a table of a result; refuse one that lacks a column or has another kind of values in it."""
    try:
        found = pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{path} is damaged ({str(error).splitlines()[0]}); make the result again") from None
    check_columns(path, found.schema, columns)
    for name, kind in columns.items():
        if found.column(name).null_count:
            raise InputError(
                f"{path} is damaged: its column {name} is not {kind} everywhere; make the result again"
            )
    return found


def check_columns(path: Path, schema: pa.Schema, columns: Columns) -> None:
    """Refuse a table that lacks a column or has another type of values in it."""
    for name, kind in columns.items():
        if name not in schema.names:
            raise InputError(f"{path} is damaged: it has no column {name}; make the result again")
        held = schema.field(name).type
        text = pa.types.is_string(held) or pa.types.is_large_string(held)
        number = pa.types.is_integer(held) or pa.types.is_floating(held)
        if not (text if kind == "text" else number):
            raise InputError(f"{path} is damaged: its column {name} is not {kind}; make the result again")


def check_table(path: Path, columns: Columns) -> None:
    """Do so without reading the rows: others read them."""
    try:
        schema = pq.read_schema(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{path} is damaged ({str(error).splitlines()[0]}); make the result again") from None
    check_columns(path, schema, columns)

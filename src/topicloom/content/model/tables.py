"""The tables of a content problem on disk: their names and columns, written whole, read column by column.

Every fault of a table is one sentence with the file, the row and its values. What the tables mean together is
decided in problem_folder.py and prices.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from topicloom.base.arrays import Bools, Floats, Longs
from topicloom.base.atomic_write import replacing
from topicloom.errors import InputError
from topicloom.tables.folder import write_table

TABLES = ("brokers", "access", "core", "coordinates", "rates", "wants", "channels")
BROKERS, ACCESS, CORE, COORDINATES, RATES, WANTS, CHANNELS = (f"{name}.parquet" for name in TABLES)

# The part of the content space that is a channel: low <= attribute < high for each entry.
BOUNDS = pa.list_(pa.struct([("attribute", pa.string()), ("low", pa.float64()), ("high", pa.float64())]))

# What is written; when read, other number and string types will do.
SCHEMAS: dict[str, pa.Schema] = {
    BROKERS: pa.schema([("broker", pa.string()), ("capacity", pa.float64())]),
    ACCESS: pa.schema([("user", pa.string()), ("broker", pa.string()), ("price", pa.float64())]),
    CORE: pa.schema([("a", pa.string()), ("b", pa.string()), ("price", pa.float64())]),
    COORDINATES: pa.schema(
        [("kind", pa.string()), ("id", pa.string()), ("x", pa.float64()), ("y", pa.float64()),
         ("scale", pa.float64())]
    ),
    RATES: pa.schema([("user", pa.string()), ("channel", pa.int32()), ("rate", pa.float64())]),
    WANTS: pa.schema([("user", pa.string()), ("first_channel", pa.int32()), ("last_channel", pa.int32())]),
    CHANNELS: pa.schema([("channel", pa.int32()), ("bounds", BOUNDS)]),
}  # fmt: skip
OPTIONAL = {COORDINATES: ("scale",)}  # columns that may be absent: without `scale` a unit of distance costs 1


def write_content_table(folder: Path, name: str, table: pa.Table) -> None:
    """Write one table of a content problem, whole or not at all; columns as in SCHEMAS, in any order."""
    left_out = set(OPTIONAL.get(name, ())) - set(table.column_names)
    schema = pa.schema([field for field in SCHEMAS[name] if field.name not in left_out])
    table = table.select(schema.names).cast(schema).replace_schema_metadata(table.schema.metadata)
    with replacing(folder / name) as temporary:
        write_table(table, temporary)


@dataclass(frozen=True, slots=True, eq=False)
class CheckedTable:
    """A table as it was found; each column is checked when it is asked for."""

    path: Path | str
    table: pa.Table

    known_brokers: ClassVar[str] = BROKERS  # where the brokers are listed, for messages

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def has(self, column: str) -> bool:
        return column in self.table.column_names

    def names(self, column: str) -> tuple[pa.StringArray, Longs]:
        """Return the distinct identifiers of a column, and the number of each row's identifier."""
        found = self._whole(column)
        kind = found.type.value_type if pa.types.is_dictionary(found.type) else found.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            self._wrong_type(column, "strings")
        encoded = found.dictionary_encode().unify_dictionaries()
        if not encoded.num_chunks:
            return pa.array([], pa.string()), np.zeros(0, dtype=np.int64)
        codes = np.concatenate([chunk.indices.to_numpy().astype(np.int64) for chunk in encoded.chunks])
        return encoded.chunk(0).dictionary.cast(pa.string()), codes

    def sorted_names(self, column: str, where: Bools | slice = slice(None)) -> tuple[pa.StringArray, Longs]:
        """Return the identifiers of some rows in binary order, and the number of each of these rows'."""
        distinct, codes = self.names(column)
        codes = codes[where]
        used = np.flatnonzero(np.bincount(codes, minlength=len(distinct)))
        names = distinct.take(pa.array(used))
        order = pc.sort_indices(names).to_numpy()
        ranks = np.zeros(len(distinct), dtype=np.int64)
        ranks[used[order]] = np.arange(len(order))
        return names.take(pa.array(order)), ranks[codes]

    def places(self, column: str, ids: pa.StringArray) -> Longs:
        """Return the number of each row's identifier among `ids`, -1 where it is not there."""
        distinct, codes = self.names(column)
        places = pc.index_in(distinct, value_set=ids).fill_null(-1).to_numpy(zero_copy_only=False)
        numbers: Longs = places.astype(np.int64)[codes]
        return numbers

    def known(self, column: str, ids: pa.StringArray, complaint: str) -> Longs:
        """Return the number of each row's identifier among `ids`; refuse one that is not there."""
        numbers = self.places(column, ids)
        self.refuse(numbers < 0, complaint)
        return numbers

    def brokers(self, column: str, ids: pa.StringArray) -> Longs:
        """Return the number of each row's broker among `ids`; refuse one that is not there."""
        return self.known(column, ids, f"{column} names no broker of {self.known_brokers}")

    def equals(self, column: str, value: str) -> Bools:
        """Tell which rows hold `value`."""
        distinct, codes = self.names(column)
        equal: Bools = codes == distinct.index(value).as_py()
        return equal

    def repeated(self, *columns: str) -> Bools:
        """Tell which rows share these identifiers with another row."""
        key = np.zeros(len(self), dtype=np.int64)
        for column in columns:
            distinct, codes = self.names(column)
            key = key * len(distinct) + codes
        _, place, count = np.unique(key, return_inverse=True, return_counts=True)
        several: Bools = count[place] > 1
        return several

    def numbers(self, column: str, *, signed: bool = False) -> Floats:
        """Return finite numbers, 0 or more unless `signed`."""
        found = self._whole(column)
        kind = found.type
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
            self._wrong_type(column, "numbers")
        values: Floats = found.cast(pa.float64(), safe=False).to_numpy()
        self.refuse(~np.isfinite(values), f"{column} is not a finite number")
        if not signed:
            self.refuse(values < 0, f"{column} is negative")
        return values

    def integers(self, column: str) -> Longs:
        """Return whole numbers."""
        found = self._whole(column)
        if not pa.types.is_integer(found.type):
            self._wrong_type(column, "integers")
        numbers: Longs = found.cast(pa.int64(), safe=False).to_numpy()
        return numbers

    def refuse(self, wrong: Bools, complaint: str) -> None:
        """Raise an error about the first wrong row, if there is one, that says how many there are."""
        count = int(np.count_nonzero(wrong))
        if not count:
            return
        row = int(np.argmax(wrong))
        cells = self.table.slice(row, 1).to_pylist()[0]
        plain = ", ".join(f"{name} {value}" for name, value in cells.items() if not isinstance(value, list))
        more = f"; {count - 1:,} more {'rows have' if count > 2 else 'row has'} this fault"
        raise InputError(f"{self.path}, row {row + 1} ({plain}): {complaint}{more if count > 1 else ''}")

    def check_type(self, column: str, wanted: pa.DataType) -> None:
        """Refuse a column that cannot be cast to type `wanted`."""
        try:
            self._whole(column).cast(wanted)
        except pa.ArrowException:
            self._wrong_type(column, str(wanted))

    def _whole(self, column: str) -> pa.ChunkedArray:
        found = self.table.column(column)
        if found.null_count:
            self.refuse(found.is_null().to_numpy(), f"column {column} is empty")
        return found

    def _wrong_type(self, column: str, wanted: str) -> NoReturn:
        raise InputError(f"{self.path}: column {column} holds {self.table.column(column).type}, not {wanted}")


def read_rows(folder: Path, name: str, *, empty: bool = False) -> CheckedTable:
    """Read one table of a content problem; only with `empty` may it have no rows."""
    path = folder / name
    if not path.exists():
        raise InputError(f"{path} is missing; a content problem needs it")
    return read_columns(path, SCHEMAS[name], OPTIONAL.get(name, ()), empty=empty)


def read_columns(
    path: Path, schema: pa.Schema, optional: Sequence[str] = (), *, empty: bool = False
) -> CheckedTable:
    """Read the columns of `schema` from a Parquet file and ignore all others."""
    columns = schema.names
    # Names repeat in millions of rows: as they are stored, each only once, they take little room.
    names = [field.name for field in schema if field.type == pa.string()]
    try:
        stored = pq.ParquetDataset(path, read_dictionary=names)
        there = [column for column in columns if column in stored.schema.names]
        missing = [column for column in columns if column not in there and column not in optional]
        if missing:
            needed = ", ".join(column for column in columns if column not in optional)
            raise InputError(f"{path} has no column {missing[0]}; it needs {needed}")
        table = stored.read(columns=there)
    except (OSError, pa.ArrowException) as error:
        first = next(iter(str(error).splitlines()), "no reason given")
        raise InputError(f"{path} cannot be read as Parquet: {first}") from None
    if not table.num_rows and not empty:
        raise InputError(f"{path} holds no rows")
    return CheckedTable(path, table)

"""The files of brokers and prices that users have: which go together, and what their rows may not say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import Bools, Floats, Longs
from topicloom.base.progress import SILENT, Progress
from topicloom.content.model.prices import access_table, core_table
from topicloom.content.model.tables import ACCESS, BROKERS, COORDINATES, CORE
from topicloom.errors import InputError, UsageError
from topicloom.tables.records import Field
from topicloom.tables.source import check_there, records_source
from topicloom.tables.spark.read import read_all, refuse_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Notice = Callable[[str], None]

COLUMNS = {
    "brokers": (Field("broker"), Field("capacity", "amount")),
    "access": (Field("user"), Field("broker"), Field("price", "amount")),
    "core": (Field("a"), Field("b"), Field("price", "amount")),
    "coordinates": (Field("kind"), Field("id"), Field("x", "number"), Field("y", "number")),
    "regions": (Field("kind"), Field("id"), Field("region")),
    "region_prices": (Field("a"), Field("b"), Field("price", "amount")),
}


@dataclass(frozen=True, slots=True)
class PriceFiles:
    """Where brokers and prices lie, under the names of the command line's options; None: not given."""

    brokers: str | None = None
    access: str | None = None
    core: str | None = None
    coordinates: str | None = None
    regions: str | None = None
    region_prices: str | None = None

    def given(self) -> list[str]:
        return [name for name in COLUMNS if getattr(self, name) is not None]

    def check(self) -> None:
        """Refuse what does not go together, and files that do not exist, before any work begins."""
        for one, other in (("access", "core"), ("regions", "region_prices")):
            if (getattr(self, one) is None) != (getattr(self, other) is None):
                there, lacks = (one, other) if getattr(self, one) is not None else (other, one)
                raise UsageError(f"`{there}` needs `{lacks}` too")
        ways = [name for name in ("access", "coordinates", "regions") if getattr(self, name) is not None]
        if len(ways) > 1:
            raise UsageError(f"`{ways[0]}` and `{ways[1]}` both give prices: name one of them")
        if ways and self.brokers is None:
            raise UsageError(f"`{ways[0]}` needs `brokers` too")
        for name in self.given():
            check_there(records_source(getattr(self, name), name))


@dataclass(frozen=True, slots=True, eq=False)
class PriceTable:
    """A table that was read, and how to complain about a row of it."""

    path: str
    rows: pa.Table
    notice: Notice

    def column(self, name: str) -> pa.ChunkedArray:
        return self.rows.column(name)

    def refuse(self, bad: Bools, reason: str) -> None:
        refuse_rows(self.path, self.rows, bad, reason)

    def places(self, column: str, ids: pa.StringArray) -> Longs:
        """The number of each row's identifier among `ids`, -1 where it is not there."""
        found = pc.index_in(self.column(column), value_set=ids).fill_null(-1)
        places: Longs = found.to_numpy().astype(np.int64)
        return places

    def known(self, column: str, brokers: pa.StringArray) -> Longs:
        places = self.places(column, brokers)
        self.refuse(places < 0, f"{column} names no broker of `brokers`")
        return places

    def repeated(self, *columns: str) -> Bools:
        """Which rows share these columns with another one."""
        key = np.zeros(self.rows.num_rows, np.int64)
        for name in columns:
            codes = self.column(name).combine_chunks().dictionary_encode().indices.to_numpy()
            key = key * (int(codes.max(initial=0)) + 1) + codes
        _, place, count = np.unique(key, return_inverse=True, return_counts=True)
        twice: Bools = count[place] > 1
        return twice

    def only(self, keep: Bools) -> PriceTable:
        """The rows of users that have traffic; how many others there are is told."""
        left_out = int(np.count_nonzero(~keep))
        if left_out:
            told = "1 row" if left_out == 1 else f"{left_out:,} rows"
            self.notice(
                f"{told} of {self.path} left out: users that are neither in the log nor in the subscriptions"
            )
        return PriceTable(self.path, self.rows.filter(pa.array(keep)), self.notice)

    def matrix(self, one: Longs, other: Longs, shape: tuple[int, int]) -> Floats:
        """Prices by pair, NaN where none is given; a pair that is given twice must repeat its price."""
        prices, given = np.full(shape, np.nan), self.column("price").to_numpy()
        prices[one, other] = given
        self.refuse(prices[one, other] != given, "the price differs from another row of the same pair")
        return prices


@dataclass(frozen=True, slots=True, eq=False)
class PriceTables:
    """The files that were given, read and judged as far as that needs no users: before a long log is read."""

    brokers: pa.StringArray
    given: Mapping[str, PriceTable]

    def tables(self, users: pa.StringArray) -> dict[str, pa.Table]:
        """The tables of a content problem that these files make, by name; `users` are those with traffic."""
        given, found = self.given, {}
        if "brokers" in given:
            found[BROKERS] = given["brokers"].rows.sort_by("broker")
        if "access" in given:
            found[ACCESS] = _access(given["access"], users, self.brokers)
            found[CORE] = _core(given["core"], self.brokers)
        elif "coordinates" in given:
            found[COORDINATES] = _coordinates(given["coordinates"], users, self.brokers)
        elif "regions" in given:
            places = _Places.of(given["regions"], users, self.brokers)
            found[ACCESS], found[CORE] = _from_regions(places, given["region_prices"])
        return found


def read_prices(
    spark: SparkSession, files: PriceFiles, *, notice: Notice, progress: Progress = SILENT
) -> PriceTables:
    """Read all files that are given."""
    given = {}
    for name in files.given():
        path = getattr(files, name)
        source = records_source(path, name.replace("_", " "), COLUMNS[name])
        # A single broker has no price to another one.
        rows = read_all(spark, source, empty=name == "core", progress=progress)
        given[name] = PriceTable(path, rows, notice)
    if "brokers" not in given:
        return PriceTables(pa.array([], pa.string()), given)
    table = given["brokers"]
    table.refuse(table.repeated("broker"), "the broker stands there more than once")
    brokers = table.column("broker").combine_chunks().unique().sort()
    if "access" in given:
        given["access"].known("broker", brokers)
        _core(given["core"], brokers)
    for name in ("coordinates", "regions"):
        if name in given:
            _check_places(given[name], brokers)
    return PriceTables(brokers, given)


def _check_places(table: PriceTable, brokers: pa.StringArray) -> None:
    user, broker = (pc.equal(table.column("kind"), kind).to_numpy() for kind in ("user", "broker"))
    table.refuse(~(user | broker), "the kind is neither user nor broker")
    table.refuse(table.repeated("kind", "id"), "the same id stands there twice with this kind")
    table.refuse(broker & (table.places("id", brokers) < 0), "id names no broker of `brokers`")


def _missing(prices: Floats) -> tuple[int, int] | None:
    at = int(np.argmax(np.isnan(prices))) if prices.size else 0
    return divmod(at, prices.shape[1]) if prices.size and np.isnan(prices.flat[at]) else None


def _access(table: PriceTable, users: pa.StringArray, brokers: pa.StringArray) -> pa.Table:
    table = table.only(table.places("user", users) >= 0)
    prices = table.matrix(
        table.places("user", users), table.places("broker", brokers), (len(users), len(brokers))
    )
    if (gap := _missing(prices)) is not None:
        raise InputError(f"{table.path}: no price between user {users[gap[0]]} and broker {brokers[gap[1]]}")
    return access_table(users, brokers, prices)


def _core(table: PriceTable, brokers: pa.StringArray) -> pa.Table:
    ends = table.known("a", brokers), table.known("b", brokers)
    low, high = np.minimum(*ends), np.maximum(*ends)
    table.refuse((low == high) & (table.column("price").to_numpy() > 0), "a broker has a price to itself")
    prices = table.matrix(low, high, (len(brokers), len(brokers)))
    prices[np.tril_indices(len(brokers))] = 0.0
    if (gap := _missing(prices)) is not None:
        raise InputError(f"{table.path}: no price between brokers {brokers[gap[0]]} and {brokers[gap[1]]}")
    return core_table(brokers, prices)


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """A table (kind, id, ...): the row of every user and of every broker in it."""

    table: PriceTable
    users: pa.StringArray
    brokers: pa.StringArray
    user_rows: Longs
    broker_rows: Longs

    @classmethod
    def of(cls, table: PriceTable, users: pa.StringArray, brokers: pa.StringArray) -> _Places:
        broker = pc.equal(table.column("kind"), "broker").to_numpy()
        table = table.only(broker | (table.places("id", users) >= 0))
        rows = []
        for kind, ids in (("user", users), ("broker", brokers)):
            mine = np.flatnonzero(pc.equal(table.column("kind"), kind).to_numpy())
            row = np.full(len(ids), -1)
            row[table.places("id", ids)[mine]] = mine
            if (row < 0).any():
                raise InputError(f"{table.path} has no row of {kind} {ids[int(np.argmax(row < 0))]}")
            rows.append(row)
        return cls(table, users, brokers, rows[0], rows[1])


def _coordinates(table: PriceTable, users: pa.StringArray, brokers: pa.StringArray) -> pa.Table:
    places = _Places.of(table, users, brokers)
    rows = pa.array(np.concatenate([places.user_rows, places.broker_rows]))
    found = places.table.rows.take(rows)
    return found.append_column("scale", pa.array(np.ones(len(rows))))


def _from_regions(places: _Places, prices: PriceTable) -> tuple[pa.Table, pa.Table]:
    """Access and core prices by the regions of both ends; a price holds in both directions."""
    region = places.table.column("region").combine_chunks()
    names = pc.unique(pa.concat_arrays([region, *prices.column("a").chunks, *prices.column("b").chunks]))
    ends = [prices.places(end, names) for end in ("a", "b")]
    shape = (len(names), len(names))
    matrix = prices.matrix(np.minimum(*ends), np.maximum(*ends), shape)
    matrix = np.where(np.isnan(matrix), matrix.T, matrix)
    at = pc.index_in(region, value_set=names).to_numpy()
    user, broker = at[places.user_rows], at[places.broker_rows]
    access, core = matrix[user[:, None], broker], matrix[broker[:, None], broker]
    np.fill_diagonal(core, 0.0)
    for table, rows, kind, ids in (
        (access, user, "user", places.users),
        (core, broker, "broker", places.brokers),
    ):
        if (gap := _missing(table)) is not None:
            raise InputError(
                f"{prices.path}: no price between regions {names[int(rows[gap[0]])]} and "
                f"{names[int(broker[gap[1]])]}, which {kind} {ids[gap[0]]} and broker "
                f"{places.brokers[gap[1]]} need"
            )
    return access_table(places.users, places.brokers, access), core_table(places.brokers, core)

"""Brokers and prices as users have them, read on Spark, into the tables of a content problem.

Prices come as tables of pairs, as coordinates, or as regions with a price for each pair of regions. No row
may be lost quietly here: whatever is wrong, missing or unknown is an error that names it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from topicloom.errors import InputError, UsageError
from topicloom.files.content_folder import ACCESS, BROKERS, COORDINATES, CORE
from topicloom.model.arrays import take_chunks
from topicloom.model.content import Floats, Longs
from topicloom.model.progress import SILENT, Progress
from topicloom.spark.source import check_there
from topicloom.spark.traffic_input import read_all, records_source, refuse_rows
from topicloom.spark.traffic_lines import Column

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Notice = Callable[[str], None]

COLUMNS = {
    "brokers": (Column("broker"), Column("capacity", "amount")),
    "access": (Column("user"), Column("broker"), Column("price", "amount")),
    "core": (Column("a"), Column("b"), Column("price", "amount")),
    "coordinates": (Column("kind"), Column("id"), Column("x", "number"), Column("y", "number")),
    "regions": (Column("kind"), Column("id"), Column("region")),
    "region_prices": (Column("a"), Column("b"), Column("price", "amount")),
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
                raise UsageError(f"{_option(there)} needs {_option(lacks)} too")
        ways = [name for name in ("access", "coordinates", "regions") if getattr(self, name) is not None]
        if len(ways) > 1:
            raise UsageError(f"{_option(ways[0])} and {_option(ways[1])} both give prices: name one of them")
        if ways and self.brokers is None:
            raise UsageError(f"{_option(ways[0])} needs --brokers too")
        for name in self.given():
            check_there(records_source(getattr(self, name), name))


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def read_price_tables(
    spark: SparkSession,
    files: PriceFiles,
    users: pa.StringArray,
    *,
    notice: Notice,
    progress: Progress = SILENT,
) -> dict[str, pa.Table]:
    """The tables of a content problem that these files make, by name; `users` are those with traffic."""

    def read(name: str) -> _Table:
        path = getattr(files, name)
        source = records_source(path, name.replace("_", " "))
        # A single broker has no price to another one.
        rows = read_all(spark, source, COLUMNS[name], empty=name == "core", progress=progress)
        return _Table(path, rows, notice)

    if files.brokers is None:
        return {}
    table = read("brokers")
    brokers = table.column("broker").combine_chunks().unique().sort()
    table.refuse(table.repeated("broker"), "the broker stands there more than once")
    found = {BROKERS: table.rows.sort_by("broker")}
    if files.access is not None:
        found[ACCESS] = _access(read("access"), users, brokers)
        found[CORE] = _core(read("core"), brokers)
    elif files.coordinates is not None:
        found[COORDINATES] = _coordinates(read("coordinates"), users, brokers)
    elif files.regions is not None:
        places = _Places.of(read("regions"), users, brokers)
        found[ACCESS], found[CORE] = _from_regions(places, read("region_prices"))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A table that was read, and how to complain about a row of it."""

    path: str
    rows: pa.Table
    notice: Notice

    def column(self, name: str) -> pa.ChunkedArray:
        return self.rows.column(name)

    def refuse(self, bad: NDArray[np.bool_], reason: str) -> None:
        refuse_rows(self.path, self.rows, bad, reason)

    def places(self, column: str, ids: pa.StringArray) -> Longs:
        """The number of each row's identifier among `ids`, -1 where it is not there."""
        found = pc.index_in(self.column(column), value_set=ids).fill_null(-1)
        places: Longs = found.to_numpy().astype(np.int64)
        return places

    def known(self, column: str, brokers: pa.StringArray) -> Longs:
        places = self.places(column, brokers)
        self.refuse(places < 0, f"the {column} is none of the brokers")
        return places

    def repeated(self, *columns: str) -> NDArray[np.bool_]:
        """Which rows share these columns with another one."""
        key = np.zeros(self.rows.num_rows, np.int64)
        for name in columns:
            codes = self.column(name).combine_chunks().dictionary_encode().indices.to_numpy()
            key = key * (int(codes.max(initial=0)) + 1) + codes
        _, place, count = np.unique(key, return_inverse=True, return_counts=True)
        twice: NDArray[np.bool_] = count[place] > 1
        return twice

    def only(self, keep: NDArray[np.bool_]) -> _Table:
        """The rows of users that have traffic; how many others there are is told."""
        left_out = int(np.count_nonzero(~keep))
        if left_out:
            told = "1 row" if left_out == 1 else f"{left_out:,} rows"
            self.notice(
                f"{told} of {self.path} left out: users that are neither in the log nor in the subscriptions"
            )
        return _Table(self.path, self.rows.filter(pa.array(keep)), self.notice)

    def matrix(self, one: Longs, other: Longs, shape: tuple[int, int]) -> Floats:
        """Prices by pair, NaN where none is given; a pair that is given twice must repeat its price."""
        prices, given = np.full(shape, np.nan), self.column("price").to_numpy()
        prices[one, other] = given
        self.refuse(prices[one, other] != given, "the price differs from another row of the same pair")
        return prices


def _missing(prices: Floats) -> tuple[int, int] | None:
    at = int(np.argmax(np.isnan(prices))) if prices.size else 0
    return divmod(at, prices.shape[1]) if prices.size and np.isnan(prices.flat[at]) else None


def _access(table: _Table, users: pa.StringArray, brokers: pa.StringArray) -> pa.Table:
    table.known("broker", brokers)
    table = table.only(table.places("user", users) >= 0)
    prices = table.matrix(
        table.places("user", users), table.places("broker", brokers), (len(users), len(brokers))
    )
    if (gap := _missing(prices)) is not None:
        raise InputError(f"{table.path}: no price between user {users[gap[0]]} and broker {brokers[gap[1]]}")
    return _access_table(users, brokers, prices)


def _core(table: _Table, brokers: pa.StringArray) -> pa.Table:
    ends = table.known("a", brokers), table.known("b", brokers)
    low, high = np.minimum(*ends), np.maximum(*ends)
    table.refuse((low == high) & (table.column("price").to_numpy() > 0), "a broker has a price to itself")
    prices = table.matrix(low, high, (len(brokers), len(brokers)))
    prices[np.tril_indices(len(brokers))] = 0.0
    if (gap := _missing(prices)) is not None:
        raise InputError(f"{table.path}: no price between brokers {brokers[gap[0]]} and {brokers[gap[1]]}")
    return _core_table(brokers, prices)


def _access_table(users: pa.StringArray, brokers: pa.StringArray, prices: Floats) -> pa.Table:
    user, broker = np.divmod(np.arange(prices.size), max(len(brokers), 1))
    names = {"user": take_chunks(users, user), "broker": take_chunks(brokers, broker)}
    return pa.table({**names, "price": prices.ravel()})


def _core_table(brokers: pa.StringArray, prices: Floats) -> pa.Table:
    a, b = np.triu_indices(len(brokers), 1)
    return pa.table({"a": take_chunks(brokers, a), "b": take_chunks(brokers, b), "price": prices[a, b]})


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """A table (kind, id, ...): the row of every user and of every broker in it."""

    table: _Table
    users: pa.StringArray
    brokers: pa.StringArray
    user_rows: Longs
    broker_rows: Longs

    @classmethod
    def of(cls, table: _Table, users: pa.StringArray, brokers: pa.StringArray) -> _Places:
        user, broker = (pc.equal(table.column("kind"), kind).to_numpy() for kind in ("user", "broker"))
        table.refuse(~(user | broker), "the kind is neither user nor broker")
        table.refuse(table.repeated("kind", "id"), "the same id stands there twice with this kind")
        table.refuse(broker & (table.places("id", brokers) < 0), "the id is none of the brokers")
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


def _coordinates(table: _Table, users: pa.StringArray, brokers: pa.StringArray) -> pa.Table:
    places = _Places.of(table, users, brokers)
    rows = pa.array(np.concatenate([places.user_rows, places.broker_rows]))
    found = places.table.rows.take(rows)
    return found.append_column("scale", pa.array(np.ones(len(rows))))


def _from_regions(places: _Places, prices: _Table) -> tuple[pa.Table, pa.Table]:
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
    return _access_table(places.users, places.brokers, access), _core_table(places.brokers, core)

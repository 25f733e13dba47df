"""The files of brokers and prices that users have: which go together, and what their rows may not say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import Bools, Floats, Longs
from topicloom.errors import UsageError
from topicloom.tables.records import Field
from topicloom.tables.source import check_there, records_source
from topicloom.tables.spark.read import refuse_rows

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

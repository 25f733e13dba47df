"""Brokers and prices as users have them, into the tables of a content problem.

Prices come as tables of pairs, as coordinates, or as regions with a price for each pair of regions. No row is
dropped silently: whatever is wrong, missing or unknown is an error that names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import Bools
from topicloom.base.progress import SILENT, Progress
from topicloom.content.model.prices import (
    access_prices,
    access_table,
    check_places,
    core_prices,
    core_table,
    first_missing,
    place_rows,
    price_matrix,
)
from topicloom.content.model.tables import ACCESS, BROKERS, COORDINATES, CORE, CheckedTable
from topicloom.errors import InputError, UsageError
from topicloom.tables.first_look import check_there
from topicloom.tables.reader import TableReader, read_all, refuse_rows
from topicloom.tables.records import Field
from topicloom.tables.source import records_source

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
    """Where brokers and prices are, under the names of the command line's options; None: not given."""

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
        sources = [name for name in ("access", "coordinates", "regions") if getattr(self, name) is not None]
        if len(sources) > 1:
            raise UsageError(f"`{sources[0]}` and `{sources[1]}` both give prices: name one of them")
        if sources and self.brokers is None:
            raise UsageError(f"`{sources[0]}` needs `brokers` too")
        for name in self.given():
            check_there(records_source(getattr(self, name), name))


@dataclass(frozen=True, slots=True, eq=False)
class PriceTable(CheckedTable):
    """A table that a user made: rows come in any order, so an error shows a row's values, not its number."""

    known_brokers: ClassVar[str] = "`brokers`"

    def refuse(self, wrong: Bools, complaint: str) -> None:
        refuse_rows(str(self.path), self.table, wrong, complaint)


@dataclass(frozen=True, slots=True, eq=False)
class PriceTables:
    """The given files, read and checked as far as that needs no users: before a long log is read."""

    brokers: pa.StringArray
    given: Mapping[str, PriceTable]
    notice: Notice

    def tables(self, users: pa.StringArray) -> dict[str, pa.Table]:
        """Return the tables of a content problem that these files make; `users` are those with traffic."""
        given, brokers, found = self.given, self.brokers, {}
        if "brokers" in given:
            found[BROKERS] = given["brokers"].table.sort_by("broker")
        if "access" in given:
            table = given["access"]
            table = self._keep(table, table.places("user", users) >= 0)
            prices = access_prices(table, users, table.places("user", users), brokers)
            found[ACCESS] = access_table(users, brokers, prices)
            found[CORE] = core_table(brokers, core_prices(given["core"], brokers))
        elif "coordinates" in given:
            table = self._placed("coordinates", users)
            rows = np.concatenate([place_rows(table, "user", users), place_rows(table, "broker", brokers)])
            scale = pa.array(np.ones(len(rows)))
            found[COORDINATES] = table.table.take(pa.array(rows)).append_column("scale", scale)
        elif "regions" in given:
            found[ACCESS], found[CORE] = self._from_regions(users)
        return found

    def _placed(self, name: str, users: pa.StringArray) -> PriceTable:
        """Return the rows of brokers and of users with traffic."""
        table = self.given[name]
        return self._keep(table, table.equals("kind", "broker") | (table.places("id", users) >= 0))

    def _keep(self, table: PriceTable, keep: Bools) -> PriceTable:
        """Keep some rows; report how many others there are."""
        left_out = int(np.count_nonzero(~keep))
        if left_out:
            told = "1 row" if left_out == 1 else f"{left_out:,} rows"
            self.notice(
                f"{told} of {table.path} left out: users that are neither in the log nor in the subscriptions"
            )
        return PriceTable(table.path, table.table.filter(pa.array(keep)))

    def _from_regions(self, users: pa.StringArray) -> tuple[pa.Table, pa.Table]:
        """Return access and core prices by the regions of both ends; a price holds in both directions."""
        places, prices = self._placed("regions", users), self.given["region_prices"]
        region = places.table.column("region").combine_chunks()
        ends = [*prices.table.column("a").chunks, *prices.table.column("b").chunks]
        names = pc.unique(pa.concat_arrays([region, *ends]))
        a, b = (prices.places(end, names) for end in ("a", "b"))
        matrix = price_matrix(prices, np.minimum(a, b), np.maximum(a, b), (len(names), len(names)))
        matrix = np.where(np.isnan(matrix), matrix.T, matrix)
        at = places.places("region", names)
        user, broker = at[place_rows(places, "user", users)], at[place_rows(places, "broker", self.brokers)]
        access, core = matrix[user[:, None], broker], matrix[broker[:, None], broker]
        np.fill_diagonal(core, 0.0)
        for found, rows, kind, ids in ((access, user, "user", users), (core, broker, "broker", self.brokers)):
            if (gap := first_missing(found)) is not None:
                raise InputError(
                    f"{prices.path}: no price between regions {names[int(rows[gap[0]])]} and "
                    f"{names[int(broker[gap[1]])]}, which {kind} {ids[gap[0]]} and broker "
                    f"{self.brokers[gap[1]]} need"
                )
        return access_table(users, self.brokers, access), core_table(self.brokers, core)


def read_prices(
    reader: TableReader, files: PriceFiles, *, notice: Notice, progress: Progress = SILENT
) -> PriceTables:
    """Read and check all files that are given."""
    given = {}
    for name in files.given():
        path = getattr(files, name)
        source = records_source(path, name.replace("_", " "), COLUMNS[name])
        # A single broker has no price to another one.
        given[name] = PriceTable(path, read_all(reader, source, empty=name == "core", progress=progress))
    brokers = pa.array([], pa.string())
    if "brokers" in given:
        table = given["brokers"]
        table.refuse(table.repeated("broker"), "the broker stands there more than once")
        brokers, _ = table.sorted_names("broker")
    if "access" in given:
        given["access"].brokers("broker", brokers)
        core_prices(given["core"], brokers)
    for name in ("coordinates", "regions"):
        if name in given:
            check_places(given[name], brokers)
    return PriceTables(brokers, given, notice)

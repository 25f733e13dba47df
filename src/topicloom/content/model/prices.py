"""Prices of a content problem: read from tables or computed from coordinates, complete and metric.

The planners rely on core prices that keep the triangle inequality [Zhao2011, III]: prices that break it are
replaced by those of the cheapest path through other brokers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from topicloom.base.arrays import Bools, Floats, Longs, freeze_fields, take_chunks
from topicloom.content.model.tables import ACCESS, COORDINATES, CORE, CheckedTable, read_rows
from topicloom.errors import InputError

ROUNDING = 1e-9  # relative: a price this much above that of a path is not an error


@dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """Where users and brokers are in the plane (rows of x, y), and what a unit of distance costs.

    The price between user i and a broker is distance * `user_scale[i]`, between brokers distance *
    `core_scale`.
    """

    users: Floats
    brokers: Floats
    user_scale: Floats
    core_scale: float = 1.0

    def __post_init__(self) -> None:
        freeze_fields(self)

    def prices(self) -> tuple[Floats, Floats]:
        """Return access and core prices."""
        from scipy.spatial.distance import cdist

        access, core = cdist(self.users, self.brokers), cdist(self.brokers, self.brokers)
        access *= self.user_scale[:, None]
        return access, core * self.core_scale


def read_prices(
    folder: Path, brokers: pa.StringArray, notice: Callable[[str], None]
) -> tuple[pa.StringArray, Floats, Floats]:
    """Return the users (sorted), the access prices and the core prices of a problem."""
    tables = [name for name in (ACCESS, CORE) if (folder / name).exists()]
    if (folder / COORDINATES).exists():
        if tables:
            raise InputError(f"{folder} has both {COORDINATES} and {tables[0]}; keep the one that is meant")
        users, coordinates = _read_coordinates(folder, brokers)
        return users, *coordinates.prices()
    if not tables:
        raise InputError(f"{folder} has no prices: it needs {ACCESS} and {CORE}, or {COORDINATES}")
    rows = read_rows(folder, ACCESS)
    users, user = rows.sorted_names("user")
    access = access_prices(rows, users, user, brokers)
    core = core_prices(read_rows(folder, CORE, empty=len(brokers) == 1), brokers)
    closed, worst = metric_closure(core)
    if worst is None:
        return users, access, core
    a, b, c = (brokers[broker].as_py() for broker in worst)
    direct, around = core[worst[0], worst[1]], closed[worst[0], worst[1]]
    count = np.count_nonzero(np.triu(core > closed * (1 + ROUNDING)))
    pairs = "a pair" if count == 1 else f"{count:,} pairs"
    notice(
        f"{folder / CORE} breaks the triangle inequality for {pairs} of brokers: {a} to {b} costs "
        f"{direct:g} directly but {around:g} via {c}; the cheapest paths are used instead"
    )
    return users, access, closed


def access_prices(rows: CheckedTable, users: pa.StringArray, user: Longs, brokers: pa.StringArray) -> Floats:
    """Return the price between every user and broker from rows (user, broker, price)."""
    prices = price_matrix(rows, user, rows.brokers("broker", brokers), (len(users), len(brokers)))
    _check_complete(rows, prices, ("user", users), ("broker", brokers))
    return prices


def core_prices(rows: CheckedTable, brokers: pa.StringArray) -> Floats:
    """Return the price between every two brokers from rows (a, b, price), each pair in any direction."""
    ends = [rows.brokers(end, brokers) for end in ("a", "b")]
    low, high = np.minimum(*ends), np.maximum(*ends)
    rows.refuse((low == high) & (rows.numbers("price") > 0), "a broker has a price to itself")
    prices = price_matrix(rows, low, high, (len(brokers), len(brokers)))
    prices[np.tril_indices(len(brokers))] = 0.0
    _check_complete(rows, prices, ("broker", brokers), ("broker", brokers))
    both: Floats = prices + prices.T
    return both


def price_matrix(rows: CheckedTable, one: Longs, other: Longs, shape: tuple[int, int]) -> Floats:
    """Return prices by pair, NaN where none is given; a repeated pair must repeat its price."""
    prices, given = np.full(shape, np.nan), rows.numbers("price")
    prices[one, other] = given
    rows.refuse(prices[one, other] != given, "the price differs from another row of the same pair")
    return prices


def first_missing(prices: Floats) -> tuple[int, int] | None:
    """Return the first place that has no price."""
    missing = np.isnan(prices)
    return divmod(int(np.argmax(missing)), prices.shape[1]) if missing.any() else None


def _check_complete(
    rows: CheckedTable, prices: Floats, one: tuple[str, pa.StringArray], other: tuple[str, pa.StringArray]
) -> None:
    gap = first_missing(prices)
    if gap is None:
        return
    count = int(np.count_nonzero(np.isnan(prices)))
    more = f" (and {count - 1:,} more {'are' if count > 2 else 'is'} missing)" if count > 1 else ""
    ends = f"{one[0]} {one[1][gap[0]]} and {other[0]} {other[1][gap[1]]}"
    raise InputError(f"{rows.path}: no price between {ends}{more}")


def access_table(users: pa.StringArray, brokers: pa.StringArray, prices: Floats) -> pa.Table:
    """Return access.parquet: a row for every price between a user and a broker."""
    user, broker = np.divmod(np.arange(prices.size), max(len(brokers), 1))
    names = {"user": take_chunks(users, user), "broker": take_chunks(brokers, broker)}
    return pa.table({**names, "price": prices.ravel()})


def core_table(brokers: pa.StringArray, prices: Floats) -> pa.Table:
    """Return core.parquet: a row for every pair of brokers."""
    a, b = np.triu_indices(len(brokers), 1)
    return pa.table({"a": take_chunks(brokers, a), "b": take_chunks(brokers, b), "price": prices[a, b]})


def metric_closure(core: Floats) -> tuple[Floats, tuple[int, int, int] | None]:
    """Return the prices of the cheapest paths, and a worst example a, b, c: a to b is cheaper via c.

    Without an example the prices are metric already. Floyd and Warshall's method, a whole matrix per pivot.
    """
    n = len(core)
    closed, around = core.copy(), np.empty_like(core)
    for pivot in range(n):
        np.add(closed[:, pivot, None], closed[pivot], out=around)
        np.minimum(closed, around, out=closed)
    gain = np.where(core > closed * (1 + ROUNDING), core - closed, 0.0)
    worst = int(np.argmax(gain)) if n else 0
    if not n or gain.flat[worst] <= 0:
        return core, None
    a, b = divmod(worst, n)
    path = closed[a] + closed[:, b]
    path[[a, b]] = np.inf
    return closed, (a, b, int(np.argmin(path)))


def check_places(rows: CheckedTable, brokers: pa.StringArray) -> tuple[Bools, Bools]:
    """Refuse rows (kind, id) that make no sense; return which rows are of users, and which of brokers."""
    is_user, is_broker = rows.equals("kind", "user"), rows.equals("kind", "broker")
    rows.refuse(~(is_user | is_broker), "the kind is neither user nor broker")
    rows.refuse(rows.repeated("kind", "id"), "the same id stands there twice with this kind")
    unknown = is_broker & (rows.places("id", brokers) < 0)
    rows.refuse(unknown, f"id names no broker of {rows.known_brokers}")
    return is_user, is_broker


def place_rows(rows: CheckedTable, kind: str, ids: pa.StringArray) -> Longs:
    """Return the row of each of `ids` of this kind; refuse a table without one."""
    mine = np.flatnonzero(rows.equals("kind", kind))
    row = np.full(len(ids), -1)
    row[rows.places("id", ids)[mine]] = mine
    if (row < 0).any():
        raise InputError(f"{rows.path} has no row of {kind} {ids[int(np.argmax(row < 0))]}")
    return row


def _read_coordinates(folder: Path, brokers: pa.StringArray) -> tuple[pa.StringArray, Coordinates]:
    rows = read_rows(folder, COORDINATES)
    is_user, is_broker = check_places(rows, brokers)
    if not is_user.any():
        raise InputError(f"{rows.path} holds no users")
    points = np.column_stack([rows.numbers("x", signed=True), rows.numbers("y", signed=True)])
    scale = rows.numbers("scale") if rows.has("scale") else np.ones(len(rows))
    at = place_rows(rows, "broker", brokers)
    rows.refuse(is_broker & (scale != scale[at[0]]), "brokers differ in scale; core prices need one for all")
    users, _ = rows.sorted_names("id", is_user)
    mine = place_rows(rows, "user", users)
    return users, Coordinates(points[mine], points[at], scale[mine], float(scale[at[0]]))

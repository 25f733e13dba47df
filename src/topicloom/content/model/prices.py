"""Prices of a content problem: read from tables or computed from coordinates, complete and metric.

The planners count on core prices that keep the triangle inequality [Zhao2011, III]: prices that
break it are replaced by those of the cheapest way through other brokers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import Bools, Floats, Longs, freeze_fields, take_chunks
from topicloom.content.model.tables import ACCESS, COORDINATES, CORE, CheckedTable, read_rows
from topicloom.errors import InputError

BLOCK_CELLS = 1 << 20
"""Distances computed at once: what is needed besides the matrix stays small."""

ROUNDING = 1e-9
"""By so much of itself a price may be dearer than a way around before it counts as broken."""


@dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """Where users and brokers lie in the plane (rows of x, y), and what a unit of distance costs.

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
        """Access and core prices."""
        core = _distances(self.brokers, self.brokers)
        core *= self.core_scale
        access = _distances(self.users, self.brokers)
        access *= self.user_scale[:, None]
        return access, core


def read_prices(
    folder: Path, brokers: pa.StringArray, notice: Callable[[str], None]
) -> tuple[pa.StringArray, Floats, Floats]:
    """The users (sorted), the access prices and the core prices of a problem."""
    tables = [name for name in (ACCESS, CORE) if (folder / name).exists()]
    if (folder / COORDINATES).exists():
        if tables:
            raise InputError(f"{folder} has both {COORDINATES} and {tables[0]}; keep the one that is meant")
        users, coordinates = _read_coordinates(folder, brokers)
        return users, *coordinates.prices()
    if not tables:
        raise InputError(f"{folder} has no prices: it needs {ACCESS} and {CORE}, or {COORDINATES}")
    users, access = _read_access(folder, brokers)
    core = _read_core(folder, brokers)
    closed, worst = metric_closure(core)
    if worst is None:
        return users, access, core
    a, b, c = (brokers[broker].as_py() for broker in worst)
    direct, way = core[worst[0], worst[1]], closed[worst[0], worst[1]]
    count = np.count_nonzero(np.triu(core > closed * (1 + ROUNDING)))
    pairs = "a pair" if count == 1 else f"{count:,} pairs"
    notice(
        f"{folder / CORE} breaks the triangle inequality for {pairs} of brokers: {a} to {b} costs "
        f"{direct:g} directly but {way:g} by way of {c}; the cheapest ways are taken instead"
    )
    return users, access, closed


def access_table(users: pa.StringArray, brokers: pa.StringArray, prices: Floats) -> pa.Table:
    """access.parquet: a row for every price between a user and a broker."""
    user, broker = np.divmod(np.arange(prices.size), max(len(brokers), 1))
    names = {"user": take_chunks(users, user), "broker": take_chunks(brokers, broker)}
    return pa.table({**names, "price": prices.ravel()})


def core_table(brokers: pa.StringArray, prices: Floats) -> pa.Table:
    """core.parquet: a row for every pair of brokers."""
    a, b = np.triu_indices(len(brokers), 1)
    return pa.table({"a": take_chunks(brokers, a), "b": take_chunks(brokers, b), "price": prices[a, b]})


def metric_closure(core: Floats) -> tuple[Floats, tuple[int, int, int] | None]:
    """The cheapest ways between brokers, and a worst example a, b, c: a to b is cheaper by way of c.

    No example: the prices are metric already. Floyd and Warshall's method, a whole matrix per pivot.
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
    way = closed[a] + closed[:, b]
    way[[a, b]] = np.inf
    return closed, (a, b, int(np.argmin(way)))


def _distances(points: Floats, others: Floats) -> Floats:
    matrix = np.empty((len(points), len(others)))
    step = max(BLOCK_CELLS // max(len(others), 1), 1)
    for start in range(0, len(points), step):
        block, own = matrix[start : start + step], points[start : start + step]
        np.subtract(own[:, 0, None], others[:, 0], out=block)
        up = own[:, 1, None] - others[:, 1]
        np.multiply(block, block, out=block)
        np.multiply(up, up, out=up)
        np.add(block, up, out=block)
        np.sqrt(block, out=block)
    return matrix


def _read_access(folder: Path, brokers: pa.StringArray) -> tuple[pa.StringArray, Floats]:
    rows = read_rows(folder, ACCESS)
    users, user = sorted_ids(*rows.names("user"))
    broker = rows.known("broker", brokers, "the broker is not in brokers.parquet")
    prices = np.full((len(users), len(brokers)), np.nan)
    _fill(rows, prices, user, broker)
    missing = np.isnan(prices)
    if missing.any():
        _no_price(rows.path, missing, ("user", users), ("broker", brokers))
    return users, prices


def _read_core(folder: Path, brokers: pa.StringArray) -> Floats:
    rows = read_rows(folder, CORE, empty=len(brokers) == 1)
    ends = [rows.known(end, brokers, f"broker {end} is not in brokers.parquet") for end in ("a", "b")]
    low, high = np.minimum(*ends), np.maximum(*ends)
    rows.refuse((low == high) & (rows.numbers("price") > 0), "a broker has a price to itself")
    prices = np.full((len(brokers), len(brokers)), np.nan)
    _fill(rows, prices, low, high)
    prices[np.tril_indices(len(brokers), -1)] = 0.0
    np.fill_diagonal(prices, 0.0)
    missing = np.isnan(prices)
    if missing.any():
        _no_price(rows.path, missing, ("broker", brokers), ("broker", brokers))
    both: Floats = prices + prices.T
    return both


def _fill(rows: CheckedTable, prices: Floats, one: Longs, other: Longs) -> None:
    """Put each row's price in its place; a repeated pair must repeat its price."""
    given = rows.numbers("price")
    prices[one, other] = given
    rows.refuse(prices[one, other] != given, "another row gives another price for the same pair")


def _no_price(
    path: Path, missing: Bools, one: tuple[str, pa.StringArray], other: tuple[str, pa.StringArray]
) -> None:
    count = int(np.count_nonzero(missing))
    row, column = divmod(int(np.argmax(missing)), missing.shape[1])
    more = f" (and {count - 1:,} more {'are' if count > 2 else 'is'} missing)" if count > 1 else ""
    raise InputError(
        f"{path}: no price between {one[0]} {one[1][row]} and {other[0]} {other[1][column]}{more}"
    )


def _read_coordinates(folder: Path, brokers: pa.StringArray) -> tuple[pa.StringArray, Coordinates]:
    rows = read_rows(folder, COORDINATES)
    kinds, kind = rows.names("kind")
    is_user, is_broker = (
        np.array([name == wanted for name in kinds.to_pylist()], dtype=np.bool_)[kind]
        for wanted in ("user", "broker")
    )
    rows.refuse(~(is_user | is_broker), "kind is neither user nor broker")
    if not is_user.any():
        raise InputError(f"{rows.path} holds no users")
    ids, each = rows.names("id")
    points = np.column_stack([rows.numbers("x", signed=True), rows.numbers("y", signed=True)])
    scale = rows.numbers("scale") if rows.has("scale") else np.ones(len(rows))
    rows.refuse(_repeated(each * 2 + is_user), "the same id stands there twice with this kind")
    places = pc.index_in(ids, value_set=brokers).fill_null(-1).to_numpy(zero_copy_only=False)[each]
    rows.refuse(is_broker & (places < 0), "the broker is not in brokers.parquet")
    at = np.full(len(brokers), -1)
    at[places[is_broker]] = np.flatnonzero(is_broker)
    if (at < 0).any():
        raise InputError(f"{rows.path}: no coordinates of broker {brokers[int(np.argmax(at < 0))]}")
    rows.refuse(is_broker & (scale != scale[at[0]]), "brokers differ in scale; core prices need one for all")
    users, rank = sorted_ids(ids, each[is_user])
    mine = np.flatnonzero(is_user)[np.argsort(rank)]
    return users, Coordinates(points[mine], points[at], scale[mine], float(scale[at[0]]))


def _repeated(keys: Longs) -> Bools:
    """True where a key has stood before."""
    order = np.argsort(keys, kind="stable")
    again = np.zeros(len(keys), dtype=np.bool_)
    again[order[1:]] = keys[order[1:]] == keys[order[:-1]]
    return again


def sorted_ids(distinct: pa.StringArray, codes: Longs) -> tuple[pa.StringArray, Longs]:
    """The identifiers that occur, in the binary order of their bytes, and the codes in that order."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(distinct)))
    names = distinct.take(pa.array(used))
    order = pc.sort_indices(names).to_numpy()
    ranks = np.zeros(len(distinct), dtype=np.int64)
    ranks[used[order]] = np.arange(len(order))
    return names.take(pa.array(order)), ranks[codes]

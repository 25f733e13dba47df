"""A content problem on disk: a folder of brokers, prices, rates, wants and channels (see docs/files.md).

The layout is a promise to users. channels.parquet is always written last: without it the folder is not whole.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.base.arrays import Floats, Longs, take_chunks
from topicloom.base.atomic_write import replacing
from topicloom.content.model import tables
from topicloom.content.model.prices import Coordinates, access_table, core_table, read_prices
from topicloom.content.model.problem import ContentProblem
from topicloom.content.model.tables import CHANNELS, CheckedTable, read_rows, write_content_table
from topicloom.errors import InputError
from topicloom.tables.folder import check_own_folder

# Marks channels.parquet of a drawn problem: only such a folder is replaced by another drawn one.
GENERATED = {b"topicloom": b"generated"}


def read_problem(
    folder: Path, notice: Callable[[str], None], *, need_capacity: bool = True
) -> ContentProblem:
    """Read and check a whole problem; `notice` is told what was mended or is odd.

    With `need_capacity`, brokers that cannot carry all demand together are refused (check_capacity).
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; a content problem is one")
    if not (folder / CHANNELS).exists():
        raise InputError(
            f"{folder} is no whole content problem: {CHANNELS}, which is always written last, is missing"
        )
    n_channels = _read_channels(folder)
    brokers, capacity = _read_brokers(folder)
    users, access, core = read_prices(folder, brokers, notice)
    rows, user, (first, last) = _read_traffic(folder, tables.WANTS, users, n_channels)
    rows.refuse(first > last, "first_channel is above last_channel")
    wants = user, first, last
    rows, user, (channel,) = _read_traffic(folder, tables.RATES, users, n_channels)
    rates = user, channel, rows.numbers("rate")
    problem = ContentProblem.of(users, brokers, capacity, access, core, n_channels, rates=rates, wants=wants)
    if not len(problem.rates):
        notice(f"{folder}: nobody publishes anything that another user wants, so every plan costs 0")
    if need_capacity:
        check_capacity(problem)
        _tell_giants(problem, notice)
    return problem


def _tell_giants(problem: ContentProblem, notice: Callable[[str], None]) -> None:
    """Report users whose demand alone is too much for every broker: then no plan fits."""
    most = float(problem.capacity.max())
    giants = np.flatnonzero(problem.demand > most * (1 + 1e-9))
    if len(giants):
        first = int(giants[np.argmax(problem.demand[giants])])
        others = "" if len(giants) == 1 else f" (and {len(giants) - 1:,} more such users)"
        notice(
            f"no plan fits: user {problem.users[first].as_py()!r} alone has a demand of "
            f"{problem.demand[first]:,.6g} messages per second, the largest broker a capacity of {most:,.6g}"
            f"{others}"
        )


def check_capacity(problem: ContentProblem) -> None:
    """Refuse a problem whose brokers cannot carry all demand even together."""
    capacity, demand = float(problem.capacity.sum()), float(problem.demand.sum())
    if demand <= capacity * (1 + 1e-12):
        return
    if not capacity:
        raise InputError(f"the brokers' total capacity is 0, but the users' total demand is {demand:,.6g}")
    raise InputError(
        f"the brokers' total capacity {capacity:,.6g} is below the users' total demand {demand:,.6g} by "
        f"{demand - capacity:,.6g} messages per second ({demand / capacity - 1:.2%} of the capacity); add "
        "brokers or capacity"
    )


def write_problem(
    folder: Path,
    problem: ContentProblem,
    channels: pa.Table,
    *,
    coordinates: Coordinates | None = None,
    generated: bool = False,
) -> None:
    """Write a whole problem in place of `folder`; prices as coordinates if there are any.

    `channels` are the number and the bounds of every channel.
    """
    users, brokers = problem.users, problem.brokers
    with replacing(folder) as temporary:
        temporary.mkdir()
        write = partial(write_content_table, temporary)
        write(tables.BROKERS, pa.table({"broker": brokers, "capacity": problem.capacity}))
        if coordinates is not None:
            write(tables.COORDINATES, _coordinates_table(problem, coordinates))
        else:
            write(tables.ACCESS, access_table(users, brokers, problem.access))
            write(tables.CORE, core_table(brokers, problem.core))
        columns = {"channel": problem.rate_channels, "rate": problem.rates}
        write(tables.RATES, pa.table({"user": take_chunks(users, problem.rate_users), **columns}))
        columns = {"first_channel": problem.want_first, "last_channel": problem.want_last}
        write(tables.WANTS, pa.table({"user": take_chunks(users, problem.want_users), **columns}))
        write(CHANNELS, channels.replace_schema_metadata(GENERATED if generated else None))


def check_generated(out: Path) -> None:
    """Refuse to overwrite anything but an empty folder or an earlier drawn problem."""
    check_own_folder(out, str(out), "a generated problem", _is_generated)


def _is_generated(folder: Path) -> bool:
    if not {path.name for path in folder.iterdir()} <= tables.SCHEMAS.keys():
        return False
    try:
        metadata = pq.read_schema(folder / CHANNELS).metadata or {}
    except (OSError, pa.ArrowException):
        return False
    return all(metadata.get(key) == value for key, value in GENERATED.items())


def _coordinates_table(problem: ContentProblem, coordinates: Coordinates) -> pa.Table:
    kinds = ["user"] * problem.n_users + ["broker"] * problem.n_brokers
    points = np.concatenate([coordinates.users, coordinates.brokers])
    core_scale = np.full(problem.n_brokers, coordinates.core_scale)
    return pa.table(
        {
            "kind": kinds,
            "id": pa.concat_arrays([problem.users, problem.brokers]),
            "x": points[:, 0],
            "y": points[:, 1],
            "scale": np.concatenate([coordinates.user_scale, core_scale]),
        }
    )


def _read_channels(folder: Path) -> int:
    """Return how many channels there are; each number from 0 on must occur once."""
    rows = read_rows(folder, CHANNELS)
    rows.check_type("bounds", tables.BOUNDS)
    channel = rows.integers("channel")
    rows.refuse(
        (channel < 0) | (channel >= len(rows)), f"the {len(rows):,} channels must be 0 to {len(rows) - 1:,}"
    )
    rows.refuse(np.bincount(channel)[channel] > 1, "the channel stands there more than once")
    return len(rows)


def _read_brokers(folder: Path) -> tuple[pa.StringArray, Floats]:
    rows = read_rows(folder, tables.BROKERS)
    rows.refuse(rows.repeated("broker"), "the broker stands there more than once")
    brokers, broker = rows.sorted_names("broker")
    return brokers, rows.numbers("capacity")[np.argsort(broker)]


def _read_traffic(
    folder: Path, name: str, users: pa.StringArray, n_channels: int
) -> tuple[CheckedTable, Longs, list[Longs]]:
    """Return what users want or publish: the rows, their users, and their columns of channels."""
    rows = read_rows(folder, name, empty=True)
    user = rows.known("user", users, "the user has no prices")
    columns = [rows.integers(field.name) for field in tables.SCHEMAS[name] if field.type == pa.int32()]
    outside = np.any([(channel < 0) | (channel >= n_channels) for channel in columns], axis=0)
    rows.refuse(outside, f"there are only channels 0 to {n_channels - 1:,}")
    return rows, user, columns

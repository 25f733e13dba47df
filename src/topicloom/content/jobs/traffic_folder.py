"""The traffic measured from a log and subscriptions, and how it is written into a content problem."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import take_chunks
from topicloom.base.atomic_write import replacing
from topicloom.base.summaries import Parameters, ResultSummary, Seconds, Summary
from topicloom.content.model import tables as names
from topicloom.content.model.problem import WantedRanges
from topicloom.content.model.tables import write_content_table
from topicloom.content.traffic.channels import AttributeAxis, ChannelGrid, SubscriptionBoxes
from topicloom.content.traffic.log_passes import LogSummary, MessageCounts
from topicloom.content.traffic.publication_log import SAMPLE_ROWS
from topicloom.errors import InputError
from topicloom.tables.folder import REJECTS, check_own_folder, write_json

TRAFFIC = "traffic.json"


class FalseTraffic(Summary, frozen=True):
    """The share of what users receive by their channels that their subscriptions do not ask for.

    It is measured on this many messages; exact means on all of them.
    """

    false_positive_share: float
    false_positive_messages: int
    false_positive_exact: bool


class TrafficSummary(ResultSummary, frozen=True, kw_only=True):
    """The content of traffic.json."""

    kind: str = "content-traffic"
    parameters: Parameters
    log_rows: int
    rejected: int
    span_seconds: float
    users: int
    publishers: int
    subscribers: int
    subscriptions: int
    subscriptions_empty: int
    attributes: list[str]
    channels_before: int
    channels: int
    shape: list[int]
    dropped: int
    rates: int
    wants: int
    density: float
    false_traffic: FalseTraffic
    seconds: Seconds

    FLAT = frozenset({"false_traffic"})


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredTraffic:
    """What a log and subscriptions amount to, before anything is written."""

    boxes: SubscriptionBoxes
    axes: tuple[AttributeAxis, ...]
    log: LogSummary
    grid: ChannelGrid
    counted: MessageCounts
    wants: WantedRanges
    users: pa.StringArray
    rejected: int


def check_traffic_out(out: Path) -> None:
    """Refuse to mix the tables with anything but those of a content problem."""
    ours = {*names.SCHEMAS, TRAFFIC, REJECTS}
    shown, what = f"`out={out}`", "a content problem"
    check_own_folder(out, shown, what, lambda folder: {path.name for path in folder.iterdir()} <= ours)


def keep_rejects(written: Path, out: Path) -> None:
    """Put the refused rows of the log into the folder; if there are none, remove those of an earlier run."""
    if not written.exists():
        if (out / REJECTS).is_dir():
            shutil.rmtree(out / REJECTS)
        (out / REJECTS).unlink(missing_ok=True)
        return
    with replacing(out / REJECTS) as temporary:
        if written.is_dir():  # there are very many
            shutil.copytree(written, temporary, ignore=shutil.ignore_patterns("_*", ".*"))
        else:
            shutil.copyfile(written, temporary)
        if (out / REJECTS).is_file():
            (out / REJECTS).unlink()  # a folder cannot be renamed onto a file


def summarise_traffic(
    traffic: MeasuredTraffic, false_traffic: FalseTraffic, channels: int | None, seconds: Seconds
) -> TrafficSummary:
    """Return the content of traffic.json."""
    boxes, log, grid = traffic.boxes, traffic.log, traffic.grid
    return TrafficSummary(
        parameters={"channels": channels or "exact", "sample_rows": SAMPLE_ROWS},
        log_rows=log.rows,
        rejected=traffic.rejected,
        span_seconds=log.last - log.first,
        users=len(traffic.users),
        publishers=len(log.publishers),
        subscribers=len(boxes.users),
        subscriptions=len(boxes) + boxes.n_empty,
        subscriptions_empty=boxes.n_empty,
        attributes=list(boxes.attributes),
        channels_before=prod(axis.n_wanted for axis in traffic.axes),
        channels=grid.n_channels,
        shape=list(grid.shape),
        dropped=log.rows - int(traffic.counted.n.sum()),
        rates=len(traffic.counted.n),
        wants=len(traffic.wants.user),
        density=float(traffic.wants.wanted(grid.n_channels).sum()) / (len(traffic.users) * grid.n_channels),
        false_traffic=false_traffic,
        seconds=seconds,
    )


def write_tables(out: Path, traffic: MeasuredTraffic, tables: Mapping[str, pa.Table]) -> None:
    """Write all tables except those of `finish_folder`, which are removed first: the folder is not whole."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        stale = [names.CHANNELS, TRAFFIC]
        # Prices of the other kind would contradict the new ones.
        stale += [names.COORDINATES] if names.ACCESS in tables else []
        stale += [names.ACCESS, names.CORE] if names.COORDINATES in tables else []
        for name in stale:
            (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror or error}") from None
    for name, table in tables.items():
        write_content_table(out, name, table)
    write_content_table(out, names.RATES, _rates_table(traffic))
    wants = traffic.wants
    columns = {"first_channel": wants.first, "last_channel": wants.last}
    users = take_chunks(traffic.boxes.users, wants.user)
    write_content_table(out, names.WANTS, pa.table({"user": users, **columns}))


def finish_folder(out: Path, traffic: MeasuredTraffic, found: TrafficSummary) -> None:
    """Make the folder whole: write traffic.json and, always last, channels.parquet."""
    with replacing(out / TRAFFIC) as temporary:
        write_json(found, temporary)
    write_content_table(out, names.CHANNELS, traffic.grid.bounds())


def _rates_table(traffic: MeasuredTraffic) -> pa.Table:
    """Return messages per second by user and channel.

    A user that neither publishes nor wants anything gets rate 0 on channel 0: the folder names every user.
    """
    counted, log = traffic.counted, traffic.log
    rates = counted.n / (log.last - log.first)
    named = pa.chunked_array(
        [
            log.publishers.take(pa.array(np.unique(counted.publisher))),
            traffic.boxes.users.take(pa.array(np.unique(traffic.wants.user))),
        ]
    )
    silent = traffic.users.filter(pc.invert(pc.is_in(traffic.users, value_set=named)))
    nothing = np.zeros(len(silent))
    users = take_chunks(log.publishers, counted.publisher)
    return pa.table(
        {
            "user": pa.chunked_array([*users.chunks, silent]),
            "channel": np.concatenate([counted.channel, nothing.astype(np.int64)]),
            "rate": np.concatenate([rates, nothing]),
        }
    )

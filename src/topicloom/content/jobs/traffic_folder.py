"""What came of a log and subscriptions, and how it goes into the folder of a content problem."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import take_chunks
from topicloom.base.atomic_write import replacing
from topicloom.base.summaries import FORMAT, Parameters, Seconds, Summary
from topicloom.content.model.problem_folder import (
    ACCESS,
    CHANNELS,
    COORDINATES,
    CORE,
    RATES,
    SCHEMAS,
    WANTS,
    write_content_table,
)
from topicloom.content.spark.publication_log import SAMPLE_ROWS, LogSummary, MessageCounts
from topicloom.content.traffic.channel_merging import WantedRanges
from topicloom.content.traffic.channels import ChannelGrid, SubscriptionBoxes
from topicloom.errors import InputError
from topicloom.tables.folder import REJECTS, check_own_folder, write_json
from topicloom.version import __version__

TRAFFIC = "traffic.json"


class FalseTraffic(Summary, frozen=True):
    """Which share of what the users take by their channels their subscriptions do not ask for.

    Looked at were so many messages; exact: all of them.
    """

    false_positive_share: float
    false_positive_messages: int
    false_positive_exact: bool


class TrafficSummary(Summary, frozen=True, kw_only=True):
    """The content of traffic.json."""

    format: int = FORMAT
    kind: str = "content-traffic"
    version: str = __version__
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
    """What came of it, before anything is written."""

    boxes: SubscriptionBoxes
    log: LogSummary
    grid: ChannelGrid
    counted: MessageCounts
    wants: WantedRanges
    users: pa.StringArray
    rejected: int
    channels_before: int
    dropped: int
    false_traffic: FalseTraffic
    seconds: Seconds


def check_traffic_out(out: Path) -> None:
    """Refuse to mix the tables with anything but those of a content problem."""
    ours = {*SCHEMAS, TRAFFIC, REJECTS}
    check_own_folder(
        out,
        f"`out={out}`",
        "a content problem",
        lambda folder: {path.name for path in folder.iterdir()} <= ours,
    )


def keep_rejects(written: Path, out: Path) -> None:
    """Put the refused rows of the log into the folder; without any, none of an earlier run stay there."""
    if not written.exists():
        (out / REJECTS).unlink(missing_ok=True)
        return
    with replacing(out / REJECTS) as temporary:
        shutil.copyfile(written, temporary)


def summarise_traffic(traffic: MeasuredTraffic, channels: int | None, seconds: Seconds) -> TrafficSummary:
    """The content of traffic.json."""
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
        channels_before=traffic.channels_before,
        channels=grid.n_channels,
        shape=list(grid.shape),
        dropped=traffic.dropped,
        rates=len(traffic.counted.n),
        wants=len(traffic.wants.user),
        density=float(traffic.wants.wanted(grid.n_channels).sum()) / (len(traffic.users) * grid.n_channels),
        false_traffic=traffic.false_traffic,
        seconds=seconds,
    )


def write_tables(out: Path, traffic: MeasuredTraffic, tables: Mapping[str, pa.Table]) -> None:
    """Fill the folder but for what `finish_folder` writes, which is taken away first: it is not whole now."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / CHANNELS).unlink(missing_ok=True)
        (out / TRAFFIC).unlink(missing_ok=True)
        # Prices of the other kind would contradict the new ones.
        for name in {ACCESS: [COORDINATES], COORDINATES: [ACCESS, CORE]}.get(_prices(tables), []):
            (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror or error}") from None
    for name, table in tables.items():
        write_content_table(out, name, table)
    write_content_table(out, RATES, _rates_table(traffic))
    wants = traffic.wants
    columns = {"first_channel": wants.first, "last_channel": wants.last}
    users = take_chunks(traffic.boxes.users, wants.user)
    write_content_table(out, WANTS, pa.table({"user": users, **columns}))


def finish_folder(out: Path, traffic: MeasuredTraffic, found: TrafficSummary) -> None:
    """Make the folder whole: traffic.json and, always last, channels.parquet."""
    with replacing(out / TRAFFIC) as temporary:
        write_json(found, temporary)
    write_content_table(out, CHANNELS, traffic.grid.bounds())


def _prices(tables: Mapping[str, pa.Table]) -> str:
    return next((name for name in (ACCESS, COORDINATES) if name in tables), "")


def _rates_table(traffic: MeasuredTraffic) -> pa.Table:
    """Messages per second by user and channel; a user without any, who wants nothing either, stands there
    with rate 0 on channel 0, so that the folder names every user."""
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

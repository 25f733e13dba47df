"""Turn a publication log and range subscriptions into the channels, rates and wants of a content problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import Seconds
from topicloom.content.jobs.traffic_folder import (
    FalseTraffic,
    MeasuredTraffic,
    TrafficSummary,
    check_traffic_out,
    finish_folder,
    keep_rejects,
    summarise_traffic,
    write_tables,
)
from topicloom.content.spark.publication_log import SparkLog
from topicloom.content.traffic.channels import (
    AttributeAxis,
    SubscriptionBoxes,
    cover,
    make_grid,
    read_boxes,
    users_reached,
)
from topicloom.content.traffic.local_log import LocalLog
from topicloom.content.traffic.log_passes import LogSummary, MessageKeys
from topicloom.content.traffic.price_files import PriceFiles, read_prices
from topicloom.content.traffic.publication_log import PUBLISHER, TIME, PublicationLog, log_columns
from topicloom.errors import InputError, UsageError
from topicloom.tables.first_look import check_there
from topicloom.tables.folder import REJECTS
from topicloom.tables.local.table import LocalTable
from topicloom.tables.origins import Origin
from topicloom.tables.parse_text import REJECTED
from topicloom.tables.reader import (
    TableRead,
    TableReader,
    read_all,
    refuse_rows,
    require_no_rejects,
    write_rejects,
)
from topicloom.tables.records import Field
from topicloom.tables.source import TableSource, records_source
from topicloom.tables.spark.raw_table import RawTable
from topicloom.tables.spark.spark_choice import Notice, SparkChoice, no_notice, tell_refused

DEFAULT_CHANNELS = 1_000
MOST_CHANNELS = 1_000_000

SUBSCRIPTION_COLUMNS = (
    *map(Field, ("user", "subscription", "attribute")), Field("low", "bound"), Field("high", "bound"),
)  # fmt: skip
YEAR_5000 = 95_617_584_000.0  # in seconds since 1970: later times are likely to be milliseconds
RESERVED = (PUBLISHER, TIME, *REJECTED)


@dataclass(frozen=True, slots=True)
class TrafficTask:
    """Which tables become which folder; `channels` is the most channels to make, None: all there are.

    A log that is no file has an `origin`, and `log` is what messages call it.
    """

    log: str
    subscriptions: str
    out: Path
    spark: SparkChoice
    channels: int | None = DEFAULT_CHANNELS
    prices: PriceFiles = field(default_factory=PriceFiles)
    strict: bool = False
    notice: Notice = no_notice
    progress: Progress = SILENT
    origin: Origin | None = None

    def check(self) -> None:
        """Refuse what is bound to fail, before any work begins."""
        if self.channels is not None and not 1 <= self.channels <= MOST_CHANNELS:
            raise UsageError(
                f"`channels={self.channels}` is neither a number from 1 to {MOST_CHANNELS:,} nor exact"
            )
        check_traffic_out(self.out)
        for source in self.sources()[:2]:
            check_there(source)
        self.prices.check()

    def sources(self) -> list[TableSource]:
        """Return all tables that are read: the log, the subscriptions, those of prices."""
        named = {"subscriptions": self.subscriptions}
        named |= {name: getattr(self.prices, name) for name in self.prices.given()}
        return [self.log_source(), *(records_source(path, what) for what, path in named.items())]

    def log_source(self, fields: Sequence[Field] = ()) -> TableSource:
        """Return the log with these columns."""
        return records_source(self.log, "log", fields, origin=self.origin)


def make_traffic(task: TrafficTask) -> TrafficSummary:
    """Read, make channels, count, write; return the content of traffic.json."""
    task.check()
    progress, laps = task.progress, _Laps(task.progress)
    reader = task.spark.reader(*task.sources(), notice=task.notice, progress=progress)
    laps.end("start")
    boxes = _read_subscriptions(reader, task)
    laps.end("subscriptions")
    prices = read_prices(reader, task.prices, notice=task.notice, progress=progress)
    laps.end("prices")
    log = task.log_source(log_columns(boxes.attributes, task.subscriptions))
    raw = reader.read(log, progress=progress)
    with task.spark.workspace(task.out, starts=False, progress=progress) as work:
        try:
            traffic, false_traffic = _measure(_log_of(raw), boxes, task, laps)
            if traffic.rejected:
                write_rejects(raw, work / REJECTS)
        finally:
            raw.release()
        progress.phase("write")
        write_tables(task.out, traffic, prices.tables(traffic.users))
        keep_rejects(work / REJECTS, task.out)
    laps.end("write")
    found = summarise_traffic(traffic, false_traffic, task.channels, laps.seconds())
    finish_folder(task.out, traffic, found)
    return found


def _log_of(raw: TableRead) -> PublicationLog:
    """Return the log as it was read."""
    if isinstance(raw, LocalTable):
        return LocalLog(raw)
    assert isinstance(raw, RawTable)
    return SparkLog(raw)


class _Laps:
    """How long the named steps took that follow each other without a gap."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._begun, self._laps = progress, progress.now(), dict[str, float]()

    def end(self, name: str) -> None:
        """End the step that runs; the next one begins."""
        self._laps[name] = self._progress.now() - self._begun - sum(self._laps.values())

    def seconds(self) -> Seconds:
        return {**self._laps, "total": self._progress.now() - self._begun}


def _read_subscriptions(reader: TableReader, task: TrafficTask) -> SubscriptionBoxes:
    path = task.subscriptions
    source = records_source(path, "subscriptions", SUBSCRIPTION_COLUMNS)
    table = read_all(reader, source, progress=task.progress)
    low, high = table.column("low").to_numpy(), table.column("high").to_numpy()
    refuse_rows(path, table, low > high, "low is above high")
    boxes = read_boxes(table)
    seen: dict[str, str] = {name: name for name in RESERVED}
    for name in boxes.attributes:
        other = seen.setdefault(name.lower(), name)
        if other in RESERVED:
            raise InputError(f"{path}: no attribute can be called {name!r}: that name is taken")
        if other != name:
            raise InputError(f"{path}: the attributes {other!r} and {name!r} differ in case only")
    if task.channels is None and len(boxes.attributes) > 1:
        raise UsageError(
            f"`channels=exact` is for one attribute, and {path} names {len(boxes.attributes)}: "
            f"{', '.join(boxes.attributes)}; give a number"
        )
    if not len(boxes):
        raise InputError(f"{path}: nobody wants anything, for low is not below high in any subscription")
    if boxes.n_empty:
        told = "1 subscription asks" if boxes.n_empty == 1 else f"{boxes.n_empty:,} subscriptions ask"
        task.notice(f"{told} for nothing in {path}: low is not below high")
    return boxes


def _measure(
    messages: PublicationLog, boxes: SubscriptionBoxes, task: TrafficTask, laps: _Laps
) -> tuple[MeasuredTraffic, FalseTraffic]:
    progress, raw = task.progress, messages.raw
    progress.phase("check log")
    refused = raw.refused(progress=progress)
    rejected = refused.rows
    if task.strict:
        require_no_rejects(raw, rejected)
    tell_refused(refused, raw.source, task.notice)
    axes = [AttributeAxis.of(boxes, k) for k in range(len(boxes.attributes))]
    log = messages.summarise(boxes.attributes, [axis.edges for axis in axes], progress=progress)
    if log.rows == 0:
        require_no_rejects(raw, rejected)
    _check_log(log, task)
    laps.end("read")
    grid = make_grid(boxes, axes, log.messages, task.channels, progress=progress)
    laps.end("merge")
    counted = messages.count(boxes.attributes, MessageKeys(log.publishers, grid), progress=progress)
    progress.phase("cover subscriptions")
    wants = cover(grid, boxes)
    laps.end("count")
    users = pa.chunked_array([log.publishers, boxes.users]).unique().sort()
    traffic = MeasuredTraffic(boxes, tuple(axes), log, grid, counted, wants, users, rejected)
    false_traffic = _false_traffic(messages, traffic, progress)
    laps.end("compare")
    return traffic, false_traffic


def _check_log(log: LogSummary, task: TrafficTask) -> None:
    """Refuse a log that gives no rates; report times that look like milliseconds."""
    if log.rows == 0:
        raise InputError(f"{task.log} holds no message: it is empty")
    if log.last <= log.first:
        one = "it holds a single message"
        many = f"all {log.rows:,} messages are of one moment, {log.first:.15g}"
        raise InputError(
            f"{task.log} has no span of time, which rates need: {one if log.rows == 1 else many}"
        )
    if log.last > YEAR_5000:
        task.notice(
            f"the times of {task.log} go up to {log.last:.15g}: as seconds since 1970 that is after the year "
            "5000; if they are milliseconds, divide them by 1000"
        )


def _false_traffic(log_read: PublicationLog, traffic: MeasuredTraffic, progress: Progress) -> FalseTraffic:
    """Measure which share of what users receive by their channels their subscriptions do not ask for.

    A delivery is a (message, user) pair in which the user takes the message's channel; it is false if no
    subscription of the user matches the message. With one attribute all messages are examined, and with
    several if the grid has every end point; otherwise a sample of them.
    """
    boxes, axes, log, grid, counted = (
        traffic.boxes, traffic.axes, traffic.log, traffic.grid, traffic.counted,
    )  # fmt: skip
    wanted = traffic.wants.wanted(grid.n_channels)
    messages = np.bincount(counted.channel, weights=counted.n, minlength=grid.n_channels).astype(np.int64)
    delivered, examined = int(messages @ wanted), log.rows
    if len(axes) == 1:
        asked_for = int(log.messages[0] @ axes[0].ranges.wanted(axes[0].n_parts))
    elif list(grid.shape) == [axis.n_wanted for axis in axes]:
        asked_for = delivered
    else:
        sample = log_read.sample(boxes.attributes, log.rows, progress=progress)
        progress.phase("match sample")
        asked_for = int(users_reached(boxes, sample.values, progress=progress) @ sample.n)
        channel = grid.channel_of(list(sample.values.T))
        delivered = int((wanted[channel] * sample.n)[channel >= 0].sum())
        examined = int(sample.n.sum())
    share = (delivered - asked_for) / delivered if delivered else 0.0
    return FalseTraffic(share, examined, examined == log.rows)

"""A publication log, whoever reads it: its columns, and what is asked of it.

`log_passes.py` has the two passes over its rows. Where deliveries are compared with subscriptions, a sample
of the messages is matched one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from topicloom.base.arrays import Floats, Longs
from topicloom.base.progress import SILENT, Progress
from topicloom.content.traffic.log_passes import LogSummary, MessageCounts, MessageKeys
from topicloom.tables.reader import TableRead
from topicloom.tables.records import Field

PUBLISHER, TIME = "publisher", "time"

SAMPLE_ROWS = 20_000  # about the number of messages that are matched one by one


def log_columns(attributes: Sequence[str], subscriptions: str) -> list[Field]:
    """Return the columns that a log must have for these subscriptions."""
    note = f", an attribute in {subscriptions}"
    return [Field(PUBLISHER), Field(TIME, "time"), *(Field(name, "number", note) for name in attributes)]


@dataclass(frozen=True, slots=True, eq=False)
class MessageSample:
    """Some messages: `n[k]` of them have the values in row k."""

    values: Floats
    n: Longs


class PublicationLog(Protocol):
    """A log that was read, and what is asked of it; see `content/spark` and `local_log.py`."""

    @property
    def raw(self) -> TableRead:
        """Return the table."""

    def summarise(
        self, attributes: Sequence[str], edges: Sequence[Floats], *, progress: Progress = SILENT
    ) -> LogSummary:
        """Make the first pass; part x of attribute k is [edges[k][x], edges[k][x + 1])."""

    def count(
        self, attributes: Sequence[str], keys: MessageKeys, *, progress: Progress = SILENT
    ) -> MessageCounts:
        """Make the second pass: count messages per (publisher, channel)."""

    def sample(self, attributes: Sequence[str], rows: int, *, progress: Progress = SILENT) -> MessageSample:
        """Return about SAMPLE_ROWS messages, or all if there are no more.

        They are chosen by a hash of the message itself, so any partitioning and order of rows gives the same
        ones. Equal messages are then all in or all out, and of a log that repeats a few messages the sample
        might be empty or the whole log: there every message counts by its share, rounded by a hash.
        """


def sample_every(rows: int) -> int:
    """Return of how many messages of a log one is in the sample."""
    return -(-rows // SAMPLE_ROWS)


def enough(sample: MessageSample) -> bool:
    """Return whether a sample has about as many messages as it should."""
    return bool(SAMPLE_ROWS // 2 <= sample.n.sum() <= 2 * SAMPLE_ROWS)

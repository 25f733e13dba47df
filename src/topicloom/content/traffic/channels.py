"""Channels: the content space cut into disjoint parts, and the channels that cover each user's subscriptions.

With one attribute a channel is an interval whose ends are end points of subscriptions; with several it is a
cell of a grid of such intervals. [Zhao2011, IV-A]: a user takes the channels that meet one of its
subscriptions (minimum cover); what this delivers beyond the subscriptions is false traffic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import Floats, Longs, first_of_runs
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.content.model.problem import WantedRanges
from topicloom.content.model.tables import BOUNDS
from topicloom.content.traffic.channel_merging import merge_parts
from topicloom.errors import UsageError

COVER_RANGES = 50_000_000  # a cover of more ranges is refused: it would not fit into memory later on
_MATCHES_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class SubscriptionBoxes:
    """Subscriptions as boxes: box k belongs to user `owner[k]` (ascending) and is [low[k], high[k]).

    An attribute that a box does not name reaches from -inf to inf. No box is empty: `n_empty` were left out,
    but `users` includes their users.
    """

    users: pa.StringArray
    attributes: tuple[str, ...]
    owner: Longs
    low: Floats
    high: Floats
    n_empty: int = 0

    def __len__(self) -> int:
        return len(self.owner)


def read_boxes(table: pa.Table) -> SubscriptionBoxes:
    """Make boxes of rows (user, subscription, attribute, low, high); rows of one subscription intersect."""
    users, owner = _numbered(table.column("user"))
    attributes, attribute = _numbered(table.column("attribute"))
    names, name = _numbered(table.column("subscription"))
    keys, box = np.unique(owner * max(len(names), 1) + name, return_inverse=True)
    low = np.full((len(keys), len(attributes)), -np.inf)
    high = np.full((len(keys), len(attributes)), np.inf)
    np.maximum.at(low, (box, attribute), table.column("low").to_numpy())
    np.minimum.at(high, (box, attribute), table.column("high").to_numpy())
    full = np.all(low < high, axis=1)
    return SubscriptionBoxes(
        users,
        tuple(attributes.to_pylist()),
        (keys // max(len(names), 1))[full],
        low[full],
        high[full],
        int(np.count_nonzero(~full)),
    )


def _numbered(column: pa.ChunkedArray) -> tuple[pa.StringArray, Longs]:
    """Return the distinct values in the order of their UTF-8 bytes, and the number of each row's value."""
    values = column.combine_chunks()
    order = values.unique().cast(pa.binary()).sort().cast(pa.string())
    return order, pc.index_in(values, order).to_numpy().astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class AttributeAxis:
    """One attribute cut at all end points of the subscriptions: part x is [edges[x], edges[x + 1])."""

    edges: Floats
    ranges: WantedRanges

    @classmethod
    def of(cls, boxes: SubscriptionBoxes, k: int) -> AttributeAxis:
        low, high = boxes.low[:, k], boxes.high[:, k]
        edges = np.unique(np.concatenate([low, high]))
        first, last = np.searchsorted(edges, low), np.searchsorted(edges, high) - 1
        return cls(edges, WantedRanges.of(boxes.owner, first, last))

    @property
    def n_parts(self) -> int:
        return len(self.edges) - 1

    @property
    def n_wanted(self) -> int:
        """The number of parts that somebody wants."""
        return int(np.count_nonzero(self.ranges.wanted(self.n_parts)))


@dataclass(frozen=True, slots=True, eq=False)
class ChannelGrid:
    """The channels: cells of a grid, numbered row by row (the last attribute runs fastest).

    `lows[k]` and `highs[k]` are the ends of attribute k's intervals, ascending and disjoint; what lies
    between two intervals is wanted by nobody and belongs to no channel.
    """

    attributes: tuple[str, ...]
    lows: tuple[Floats, ...]
    highs: tuple[Floats, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(low) for low in self.lows)

    @property
    def n_channels(self) -> int:
        return math.prod(self.shape)

    def channel_of(self, values: Sequence[Floats]) -> Longs:
        """Return the channel of each message, given its values by attribute; -1 where there is none.

        >>> grid = ChannelGrid(("x",), (np.array([0.0, 5.0]),), (np.array([2.0, 9.0]),))
        >>> grid.channel_of([np.array([1.9, 2.0, 5.0, 9.0])]).tolist()
        [0, -1, 1, -1]
        """
        channel = np.zeros(len(values[0]), np.int64)
        inside = np.ones(len(values[0]), np.bool_)
        for low, high, value in zip(self.lows, self.highs, values, strict=True):
            at = np.searchsorted(low, value, side="right") - 1
            inside &= (at >= 0) & (value < high[at])
            channel = channel * len(low) + at
        return np.where(inside, channel, -1)

    def bounds(self) -> pa.Table:
        """Return channels.parquet: number and box of every channel."""
        n, d = self.n_channels, len(self.attributes)
        places = np.unravel_index(np.arange(n), self.shape)
        low = np.stack([ends[at] for ends, at in zip(self.lows, places, strict=True)], axis=1).ravel()
        high = np.stack([ends[at] for ends, at in zip(self.highs, places, strict=True)], axis=1).ravel()
        names = pa.array(list(self.attributes) * n, pa.string())
        flat = pa.StructArray.from_arrays(
            [names, pa.array(low), pa.array(high)], fields=list(BOUNDS.value_type)
        )
        starts = pa.array(np.arange(0, n * d + 1, d, dtype=np.int32))
        return pa.table(
            {"channel": np.arange(n, dtype=np.int32), "bounds": pa.ListArray.from_arrays(starts, flat)}
        )


def make_grid(
    boxes: SubscriptionBoxes,
    axes: Sequence[AttributeAxis],
    messages: Sequence[Longs],
    limit: int | None,
    *,
    progress: Progress = SILENT,
) -> ChannelGrid:
    """Make at most `limit` channels (None: all), given the messages in every part of every attribute.

    Each attribute is merged by itself, as if a subscription asked for nothing else. With one attribute each
    step counts the exact false traffic, with several an estimate (quantiles of the log do no better).
    """
    sizes = [axis.n_wanted for axis in axes]
    shape = share_out(sizes, limit) if limit is not None else sizes
    lows, highs = [], []
    for axis, counts, size in zip(axes, messages, shape, strict=True):
        stretches = np.array(merge_parts(counts, axis.ranges, size, progress=progress))
        lows.append(axis.edges[stretches[:, 0]])
        highs.append(axis.edges[stretches[:, 1] + 1])
    return ChannelGrid(boxes.attributes, tuple(lows), tuple(highs))


def share_out(sizes: Sequence[int], limit: int) -> list[int]:
    """Choose how many intervals each attribute gets: as equal as possible, never more than it has.

    >>> share_out([100, 100], 1000), share_out([3, 1000], 1000), share_out([4, 5], 1000)
    ([31, 32], [3, 333], [4, 5])
    """
    shape = [1] * len(sizes)
    while True:
        product = math.prod(shape)
        # Later attributes first: they run fastest, so the cover's ranges of channels are longer.
        able = [
            k
            for k in reversed(range(len(sizes)))
            if shape[k] < sizes[k] and product // shape[k] * (shape[k] + 1) <= limit
        ]
        if not able:
            return shape
        k = min(able, key=lambda k: shape[k])
        shape[k] += 1


def cover(grid: ChannelGrid, boxes: SubscriptionBoxes) -> WantedRanges:
    """Return which channels each user takes: all that meet one of its boxes."""
    first, last = [], []
    for k, (low, high) in enumerate(zip(grid.lows, grid.highs, strict=True)):
        first.append(np.searchsorted(high, boxes.low[:, k], side="right"))
        last.append(np.searchsorted(low, boxes.high[:, k], side="left") - 1)
    # A box is a run of channels for every place it has in all attributes but the last.
    runs = np.ones(len(boxes), np.int64)
    for begin, end in zip(first[:-1], last[:-1], strict=True):
        runs = runs * (end - begin + 1)
    if runs.sum() > COVER_RANGES:
        raise UsageError(
            f"`channels={grid.n_channels}` makes {runs.sum():,} ranges of wanted channels, more than "
            f"{COVER_RANGES:,}: choose fewer channels"
        )
    box = np.repeat(np.arange(len(boxes)), runs)
    rest = np.arange(len(box)) - np.repeat(np.cumsum(runs) - runs, runs)
    row, scale = np.zeros(len(box), np.int64), 1
    for k in reversed(range(len(first) - 1)):
        width = (last[k] - first[k] + 1)[box]
        row += (first[k][box] + rest % width) * scale
        rest, scale = rest // width, scale * grid.shape[k]
    row *= grid.shape[-1]
    return WantedRanges.of(boxes.owner[box], row + first[-1][box], row + last[-1][box])


def users_reached(boxes: SubscriptionBoxes, values: Floats, *, progress: Progress = SILENT) -> Longs:
    """Count the users that each message (row of `values`) reaches if users get exactly what they want."""
    heads = np.flatnonzero(first_of_runs(boxes.owner))
    step = max(1, _MATCHES_AT_ONCE // max(len(boxes), 1))
    found = np.zeros(len(values), np.int64)
    for start in range(0, len(values), step):
        check_stop(progress)
        some = values[start : start + step]
        match = np.ones((len(some), len(boxes)), np.bool_)
        for k in range(values.shape[1]):
            value = some[:, k, None]
            match &= (boxes.low[:, k] <= value) & (value < boxes.high[:, k])
        found[start : start + step] = np.logical_or.reduceat(match, heads, axis=1).sum(axis=1)
    return found

"""Content traffic from its definitions: sets and dicts over every message, user and pair of neighbours."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise, product
from math import inf, prod
from typing import Any, NamedTuple

Log = list[tuple[str, float, dict[str, float]]]  # publisher, time, values
Subscriptions = list[tuple[str, str, str, float, float]]  # user, subscription, attribute, low, high


class Interval(NamedTuple):
    low: float
    high: float
    users: frozenset[str]


def naive_boxes(subscriptions: Subscriptions) -> list[tuple[str, dict[str, tuple[float, float]]]]:
    """One box per (user, subscription) over all attributes; empty ones left out."""
    attributes = sorted({row[2] for row in subscriptions})
    found: dict[tuple[str, str], dict[str, tuple[float, float]]] = {}
    for user, name, attribute, low, high in subscriptions:
        box = found.setdefault((user, name), dict.fromkeys(attributes, (-inf, inf)))
        box[attribute] = (max(box[attribute][0], low), min(box[attribute][1], high))
    return [(user, box) for (user, _), box in found.items() if all(a < b for a, b in box.values())]


def naive_axis(values: list[float], ranges: list[tuple[str, float, float]], limit: float) -> list[Interval]:
    """One attribute cut at all end points, then neighbours merged while there are too many."""
    points = sorted({end for _, low, high in ranges for end in (low, high)})
    cut = [
        Interval(a, b, frozenset(user for user, low, high in ranges if low <= a and b <= high))
        for a, b in pairwise(points)
    ]
    channels = [interval for interval in cut if interval.users]

    def delivered(one: Interval) -> int:
        return sum(one.low <= value < one.high for value in values) * len(one.users)

    while len(channels) > limit:
        merges = []
        for i, (one, other) in enumerate(pairwise(channels)):
            both = Interval(one.low, other.high, one.users | other.users)
            added = delivered(both) - delivered(one) - delivered(other)
            new = len(both.users - one.users) + len(both.users - other.users)
            merges.append((added, new, i, both))
        _, _, i, both = min(merges)
        channels[i : i + 2] = [both]
    return channels


def naive_shape(sizes: list[int], limit: int) -> list[int]:
    """One more interval at a time for the attribute that has the fewest, the last first."""
    shape = [1] * len(sizes)
    grown = True
    while grown:
        grown = False
        for k in sorted(range(len(sizes)), key=lambda k: (shape[k], -k)):
            more = [size + (i == k) for i, size in enumerate(shape)]
            if more[k] <= sizes[k] and prod(more) <= limit:
                shape, grown = more, True
                break
    return shape


def naive_traffic(log: Log, subscriptions: Subscriptions, limit: int | None) -> dict[str, Any]:
    """Everything `topicloom content traffic` finds out."""
    boxes = naive_boxes(subscriptions)
    attributes = sorted({row[2] for row in subscriptions})
    inputs = [
        ([values[name] for _, _, values in log], [(user, *box[name]) for user, box in boxes])
        for name in attributes
    ]
    full = [naive_axis(values, ranges, inf) for values, ranges in inputs]
    shape = [len(axis) for axis in full]
    shape = shape if limit is None else naive_shape(shape, limit)
    axes = [naive_axis(*given, size) for given, size in zip(inputs, shape, strict=True)]
    channels = list(product(*[[(one.low, one.high) for one in axis] for axis in axes]))

    def channel_of(values: dict[str, float]) -> int | None:
        return next(
            (
                number
                for number, bounds in enumerate(channels)
                if all(a <= values[name] < b for name, (a, b) in zip(attributes, bounds, strict=True))
            ),
            None,
        )

    wants: dict[str, set[int]] = defaultdict(set)
    for user, box in boxes:
        for number, bounds in enumerate(channels):
            pairs = zip((box[name] for name in attributes), bounds, strict=True)
            if all(low < b and a < high for (low, high), (a, b) in pairs):
                wants[user].add(number)
    counts: dict[tuple[str, int], int] = defaultdict(int)
    delivered = asked_for = dropped = 0
    for publisher, _, values in log:
        asked_for += len(
            {user for user, box in boxes if all(a <= values[name] < b for name, (a, b) in box.items())}
        )
        number = channel_of(values)
        if number is None:
            dropped += 1
            continue
        counts[publisher, number] += 1
        delivered += sum(number in taken for taken in wants.values())
    times = [time for _, time, _ in log]
    span = max(times) - min(times)
    return {
        "channels": [dict(zip(attributes, bounds, strict=True)) for bounds in channels],
        "channels_before": prod(len(axis) for axis in full),
        "rates": {pair: n / span for pair, n in counts.items()},
        "wants": dict(wants),
        "dropped": dropped,
        "false_positive_share": (delivered - asked_for) / delivered if delivered else 0.0,
        "users": {row[0] for row in subscriptions} | {row[0] for row in log},
    }

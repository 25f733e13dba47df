"""Events matched against range subscriptions: the index beside two plain scans, and how its time grows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness import Figure, Options, Row, attempt, fit_exponent, in_child

TITLE = "Matching of events to range subscriptions"
CASES = [(1, 0.001), (1, 0.01), (3, 0.001), (3, 0.01), (3, 0.1)]
SIZES = (12_500, 25_000, 50_000, 100_000, 200_000)
EVENTS = 20_000


def run(options: Options) -> Iterator[Row]:
    many = 10_000 if options.quick else 100_000
    table = f"{many:,} subscriptions, events per second"
    for width, length in CASES:
        case = f"{width} attribute{'s' * (width > 1)}, ranges of {length:g}"
        yield attempt(table, case, partial(_cells, many, width, length))
    if not options.quick:
        table = (
            "growth of the time of an event, seconds ~ subscriptions^e, ranges of the same number of matches"
        )
        for width in (1, 3):
            yield attempt(table, f"{width} attribute{'s' * (width > 1)}", partial(_growth, width))
        yield attempt("one event at a time, with changes", "100,000 subscriptions, 1 attribute", _changes)


def _cells(many: int, width: int, length: float) -> dict[str, Figure | str]:
    found = in_child("bench_matching:measure", many=many, width=width, length=length, scans=True)
    return {
        "matches per event": Figure(found["matches"], ""),
        "index": Figure(found["index"], "/s"),
        "numpy scan": Figure(found["numpy"], "/s"),
        "compiled scan": Figure(found["compiled"], "/s"),
        "index over the better scan": Figure(
            found["index"] / max(found["numpy"], found["compiled"]), "times"
        ),
        "to build": Figure(found["build"], "s"),
    }


def _growth(width: int) -> dict[str, Figure | str]:
    seconds = []
    for many in SIZES:
        length = (20 / many) ** (1 / width)  # about twenty matches at every size
        found = in_child("bench_matching:measure", many=many, width=width, length=length, scans=False)
        seconds.append(1 / found["index"])
    return {"exponent": Figure(fit_exponent(SIZES, seconds), "", asked=0.5)}


def _changes() -> dict[str, Figure | str]:
    found = in_child("bench_matching:changing", many=100_000)
    return {
        "events": Figure(found["events"], "/s"),
        "events with one subscription changed before each": Figure(found["mixed"], "/s"),
    }


def measure(many: int, width: int, length: float, scans: bool) -> dict[str, float]:
    """Inside a process of its own: build an index of random boxes, match random events."""
    from topicloom.content.brokers.matching import SubscriptionIndex

    rng = np.random.default_rng(1)
    middle = rng.random((many, width))
    low, high = middle - length / 2, middle + length / 2
    points = rng.random((EVENTS, width))
    SubscriptionIndex(width).match_batch(points[:1])  # compile
    index = SubscriptionIndex(width)
    index.add_many(range(many), low, high)
    build = _seconds(lambda: index.match_batch(points[:1]))
    _, numbers = index.match_batch(points)
    answer = {
        "build": build,
        "matches": len(numbers) / EVENTS,
        "index": EVENTS / min(_seconds(lambda: index.match_batch(points)) for _ in range(3)),
    }
    if scans:
        few = points[:100]
        answer["numpy"] = len(few) / _seconds(lambda: [_scan(low, high, point) for point in few])
        flat = SubscriptionIndex(width)
        flat._tidy = lambda: None  # type: ignore[method-assign]
        flat.add_many(range(many), low, high)  # everything stays in the tail: the kernel itself scans
        answer["compiled"] = len(few) / _seconds(lambda: flat.match_batch(few))
    return answer


def changing(many: int) -> dict[str, float]:
    """One event at a time while subscriptions come and go."""
    from topicloom.content.brokers.matching import SubscriptionIndex

    rng = np.random.default_rng(2)
    low = rng.random((many, 1))
    index = SubscriptionIndex(1)
    numbers = list(index.add_many(range(many), low, low + 0.001))
    points, places = rng.random((2_000, 1)), rng.integers(0, many, 2_000)
    index.match(points[0])

    def work() -> None:
        for point, place in zip(points, places, strict=True):
            index.remove(numbers[place])
            numbers[place] = index.add(int(place), ((point[0], point[0] + 0.001),))
            index.match(point)

    mixed = len(points) / _seconds(work)
    return {
        "events": len(points) / _seconds(lambda: [index.match(point) for point in points]),
        "mixed": mixed,
    }


def _scan(low: Any, high: Any, point: Any) -> Any:
    held = (low[:, 0] <= point[0]) & (point[0] < high[:, 0])
    for attribute in range(1, low.shape[1]):
        held &= (low[:, attribute] <= point[attribute]) & (point[attribute] < high[:, attribute])
    return np.flatnonzero(held)


def _seconds(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start

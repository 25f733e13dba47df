"""Faults of a scenario that have a beginning and an end: cuts of the network and freezes of nodes.

A cut keeps a share of the nodes from reaching the others; a freeze stops a share of the nodes (a paused
process), which then wake up and find all that came. Who is struck is decided by a hash of the name, so it
depends on nothing but the seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from topicloom.base.seeds import stream_key
from topicloom.errors import UsageError
from topicloom.wire.core import NOTHING, Effect, Name

HALF = 0.5


@dataclass(frozen=True, slots=True)
class Fault:
    """From `start` to `end` (seconds), a `share` of all nodes is struck."""

    start: float
    end: float
    share: float

    def struck(self, names: Sequence[str], seed: int, *stream: str) -> set[int]:
        """Return the positions of those struck: at least one, and at least one is left.

        >>> sorted(Fault(1, 2, 0.5).struck(["a", "b", "c", "d"], 1, "cut"))
        [2, 3]
        """
        order = sorted(range(len(names)), key=lambda at: (stream_key(seed, *stream, names[at]), at))
        count = round(self.share * len(names))
        return set(order[: min(max(count, 1), len(names) - 1)])


def read_faults(name: str, text: str, share: float | None = None) -> list[Fault]:
    """Read `START:END[:SHARE]`, several separated by commas; without a `share` to fall back on it is needed.

    >>> read_faults("cut", "5:10,20:30:0.2", share=0.5)
    [Fault(start=5.0, end=10.0, share=0.5), Fault(start=20.0, end=30.0, share=0.2)]
    """
    return [_read_fault(name, word, share) for word in text.split(",") if text]


def _read_fault(name: str, word: str, share: float | None) -> Fault:
    form = "START:END:SHARE" if share is None else "START:END or START:END:SHARE"
    try:
        values = [float(part) for part in word.split(":")]
    except ValueError:
        values = []
    if share is not None and len(values) == 2:
        values.append(share)
    if len(values) != 3 or not all(map(isfinite, values)):
        raise UsageError(f"`{name}={word}`: write {form}, in seconds; several are separated by commas")
    start, end, part = values
    if not 0 <= start < end:
        raise UsageError(f"`{name}={word}`: it must begin at 0 s or later, and end after it began")
    if not 0 < part < 1:
        raise UsageError(f"`{name}={word}`: the share of nodes lies between 0 and 1")
    return Fault(start, end, part)


class FrozenCore:
    """What stands in for a core whose process is paused: it keeps what comes, and does nothing."""

    def __init__(self) -> None:
        self.kept: list[tuple[Name, Any]] = []

    def receive(self, peer: Name, message: Any, now: float) -> None:
        self.kept.append((peer, message))

    def handle_timer(self, now: float) -> None:
        pass

    def next_timer(self) -> float:
        return inf

    def take_effects(self) -> Sequence[Effect]:
        return NOTHING

"""What connections add to the delays of links: order, set-up time, bandwidth, slow nodes.

`Shape` changes the moment at which a message arrives, message by message. It keeps one entry for each pair
that spoke since its connection was closed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any

from topicloom.errors import UsageError

Pair = tuple[Any, Any]


@dataclass(slots=True)
class Shape:
    """How connections behave. Without `bandwidth` (bytes per second) size does not matter.

    >>> shape = Shape(fifo=True, setup=0.5)
    >>> shape.arrival("a", "b", "hello", 1.0, 0.1), shape.arrival("a", "b", "again", 1.2, 0.1)
    (1.6, 1.6)
    """

    fifo: bool = False  # a message never overtakes an earlier one of the same connection
    setup: float = 0.0  # seconds until a connection is open; it is opened by the first message
    bandwidth: float = inf
    slow: dict[Any, float] = field(default_factory=dict)  # node -> its messages take so many times as long
    size_of: Callable[[Any], int] = len
    narrow: dict[Any, float] = field(default_factory=dict)  # node -> its own bandwidth, both ways
    setups: dict[Any, float] = field(default_factory=dict)  # node -> what its connections take at least
    ordered: set[Any] = field(default_factory=set)  # nodes whose connections keep the order
    _open: dict[Pair, float] = field(default_factory=dict)  # when the connection is or was ready
    _busy: dict[Pair, float] = field(default_factory=dict)  # when the last byte has left
    _last: dict[Pair, float] = field(default_factory=dict)  # when the last message arrives
    _sized: tuple[Any, int] = (None, 0)

    def arrival(self, sender: Any, receiver: Any, message: Any, now: float, delay: float) -> float:
        """Return when a message arrives that is sent now over a link with this delay."""
        pair = (sender, receiver)
        if self.slow:
            delay *= max(self.slow.get(sender, 1.0), self.slow.get(receiver, 1.0))
        both = pair if pair in self._open else (receiver, sender)
        ready = self._open.get(both)
        if ready is None:
            ready = self._open[both] = now + self._setup_of(sender, receiver)
        start = max(now, ready)
        bandwidth = self.bandwidth
        if self.narrow:
            bandwidth = min(bandwidth, self.narrow.get(sender, inf), self.narrow.get(receiver, inf))
        if bandwidth < inf:
            start = max(start, self._busy.get(pair, 0.0)) + self._size(message) / bandwidth
            self._busy[pair] = start
        at = start + delay
        if self.fifo or (self.ordered and not self.ordered.isdisjoint(pair)):
            at = self._last[pair] = max(at, self._last.get(pair, 0.0))
        return at

    def close(self, one: Any, other: Any) -> None:
        """Forget the connection of two: what they say next opens another one."""
        for pair in ((one, other), (other, one)):
            self._open.pop(pair, None)
            self._last.pop(pair, None)

    def close_all(self, node: Any) -> None:
        """Forget all connections of a node that went away, with what had not left yet."""
        for table in (self._open, self._last, self._busy):
            for pair in [pair for pair in table if node in pair]:
                del table[pair]

    def _setup_of(self, sender: Any, receiver: Any) -> float:
        if not self.setups:
            return self.setup
        return max(self.setup, self.setups.get(sender, 0.0), self.setups.get(receiver, 0.0))

    def backlog(self, sender: Any, receiver: Any, now: float) -> float:
        """Return how many seconds it takes until all that `sender` sent to `receiver` has left."""
        return max(0.0, self._busy.get((sender, receiver), 0.0) - now)

    def _size(self, message: Any) -> int:
        if self._sized[0] is not message:  # one message often goes to many
            self._sized = (message, self.size_of(message))
        return self._sized[1]


def read_slow(text: str) -> tuple[float, float]:
    """Read SHARE:FACTOR: a share of the nodes is so many times slower.

    >>> read_slow("0.1:20")
    (0.1, 20.0)
    """
    try:
        share, factor = (float(word) for word in text.split(":"))
    except ValueError:
        raise UsageError(f"`slow={text}`: write SHARE:FACTOR, such as 0.1:20") from None
    if not 0 < share < 1 or not isfinite(factor) or factor < 1:
        raise UsageError(f"`slow={text}`: the share lies between 0 and 1, the factor is at least 1")
    return share, factor

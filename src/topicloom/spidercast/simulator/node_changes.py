"""Who comes, goes and changes when: by churn [Chockler2007b, 3.8]; a trace file is read in `trace.py`.

A life begins with a JOIN, also that of a node which is there from the start: its JOIN has time 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from math import inf, isfinite
from random import Random
from typing import NamedTuple

from topicloom.base.seeds import stream_key
from topicloom.errors import UsageError
from topicloom.overlay.model.interest import Interest


class ChangeKind(Enum):
    """What may happen to a node."""

    JOIN = "join"
    LEAVE = "leave"
    CRASH = "crash"
    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"
    PUBLISH = "publish"
    FREEZE = "freeze"
    THAW = "thaw"
    CUT = "cut"
    HEAL = "heal"
    SLOW = "slow"
    BANDWIDTH = "bandwidth"
    SETUP = "setup"
    FIFO = "fifo"


BARE = (
    ChangeKind.LEAVE,
    ChangeKind.CRASH,
    ChangeKind.FREEZE,
    ChangeKind.THAW,
    ChangeKind.CUT,
    ChangeKind.HEAL,
)
"""Changes that name no topics. CUT: the node reaches nobody, until HEAL; FREEZE: it is paused, until THAW."""
VALUED = {
    ChangeKind.SLOW: (1, inf, "a factor of at least 1"),
    ChangeKind.BANDWIDTH: (0, inf, "bytes per second (0: no limit)"),
    ChangeKind.SETUP: (0, inf, "seconds until a connection is open"),
    ChangeKind.FIFO: (0, 1, "1 (in order) or 0 (not)"),
}
"""Changes of a node's connections, with a value: the least and the largest one, and what it must be. SLOW:
messages to and from it take so many times as long."""


class NodeChange(NamedTuple):
    """At `time` (seconds), `kind` happens to `node`.

    `topics` are all that a joining node wants, those subscribed to or unsubscribed from, or the one that is
    published on; None for changes that name none. `value` belongs to those of `VALUED`.
    """

    time: float
    node: int
    kind: ChangeKind
    topics: tuple[int, ...] | None
    value: float = 0.0


def own_topics(interest: Interest, node: int) -> tuple[int, ...]:
    """Return what the node wants by the interest."""
    return tuple(interest.topics_of(node).tolist())


class Churn:
    """Nodes that are on and off by turns, for exponential times, each time with another interest.

    On times have mean `life`, off times mean `off` (default: a quarter of `life`, as in the paper). At time 0
    a node is on with probability life / (life + off), so shares do not drift: the times are memoryless.
    A node that joins later wants new topics: as many as a random node of the interest wants, each drawn with
    the popularity it has there. Taking the whole list of another node would do harm: equal nodes would form
    closed groups.
    Departures are crashes with probability `crash`, else orderly. After `until` seconds nothing happens.

    Changes are computed when asked for, each from the one before and the seed alone: no state is kept, and
    the order of asking does not matter.

    >>> interest = Interest.from_pairs([("a", "x"), ("b", "y")])
    >>> churn = Churn(interest, life=100.0, seed=1)
    >>> first = next(churn.first_changes())
    >>> first.kind, churn.next_change(first.node, first).kind
    (<ChangeKind.JOIN: 'join'>, <ChangeKind.LEAVE: 'leave'>)
    """

    def __init__(
        self,
        interest: Interest,
        *,
        life: float,
        off: float | None = None,
        crash: float = 0.0,
        until: float = inf,
        seed: int = 0,
    ) -> None:
        off = life / 4 if off is None else off
        for name, value in (("life", life), ("off", off)):
            if not isfinite(value) or value <= 0:
                raise UsageError(f"{name}={value}: a mean time of more than 0 seconds is needed")
        if not 0 <= crash <= 1:
            raise UsageError(f"crash={crash}: the share of departures that are crashes lies between 0 and 1")
        if not until >= 0:
            raise UsageError(f"until={until}: the end of churn is a time of at least 0 seconds")
        self._interest, self._seed = interest, seed
        self._sizes, self._topics = interest.subscription_sizes(), interest.node_topics
        self._life, self._off, self._crash, self._until = life, off, crash, until
        self._rng = Random(0)  # set anew for each change: making one each time would take longer

    def first_changes(self) -> Iterator[NodeChange]:
        """Yield the first JOIN of each node, in the order of nodes; joins after `until` are left out."""
        on = self._life / (self._life + self._off)
        for node in range(self._interest.n_nodes):
            rng = self._stream(node, "first")
            if rng.random() < on:
                yield NodeChange(0.0, node, ChangeKind.JOIN, own_topics(self._interest, node))
            else:
                change = self._join(node, 0.0, rng)
                if change is not None:
                    yield change

    def next_change(self, node: int, after: NodeChange) -> NodeChange | None:
        """Return what happens to the node after `after`, or None if nothing more does."""
        rng = self._stream(node, after.kind.value, repr(after.time))
        if after.kind in (ChangeKind.LEAVE, ChangeKind.CRASH):
            return self._join(node, after.time, rng)
        time = after.time + rng.expovariate(1 / self._life)
        kind = ChangeKind.CRASH if rng.random() < self._crash else ChangeKind.LEAVE
        return None if time > self._until else NodeChange(time, node, kind, None)

    def _join(self, node: int, since: float, rng: Random) -> NodeChange | None:
        time = since + rng.expovariate(1 / self._off)
        return None if time > self._until else NodeChange(time, node, ChangeKind.JOIN, self._new_topics(rng))

    def _new_topics(self, rng: Random) -> tuple[int, ...]:
        """Draw as many topics as some node wants, one after the other by popularity, each once."""
        size = int(self._sizes[rng.randrange(len(self._sizes))])
        drawn: set[int] = set()
        while len(drawn) < size:
            drawn.add(int(self._topics[rng.randrange(len(self._topics))]))
        return tuple(sorted(drawn))

    def _stream(self, node: int, *names: str) -> Random:
        self._rng.seed(stream_key(self._seed, "churn", str(node), *names))
        return self._rng

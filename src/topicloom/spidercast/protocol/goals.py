"""What the two tasks of a node aim for: K-coverage [Chockler2007b, 2.3] or a number of links (3.9.1).

A goal is told which topics a neighbor shares with the node when it comes and when it goes. It answers at any
time how much is missing and what the loss of a neighbor would cost. Pure bookkeeping: no peers, no time.

`asleep`: the task accepts neighbors but never looks for one. `limit` is L^max, the number of neighbors that
always suffices. `lacking` counts the topics not yet covered, or the links not yet made. `wanted` are the
topics that a next neighbor is judged by.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias

from topicloom.spidercast.protocol.membership import NeighborChoice
from topicloom.spidercast.protocol.messages import Topic, Topics


class Coverage:
    """Every topic of the interest shall be wanted by at least `k` neighbors.

    >>> goal = Coverage(frozenset("xyz"), k=1)
    >>> goal.add(frozenset("xy")); goal.add(frozenset("x"))
    >>> goal.lacking, sorted(goal.wanted), goal.loss(frozenset("x")), goal.loss(frozenset("xy"))
    (1, ['z'], 0, 1)
    """

    __slots__ = ("_counts", "_needed", "k", "wanted")

    def __init__(self, interest: Topics, k: int) -> None:
        self.k = k
        self.restart(interest)

    def restart(self, interest: Topics) -> None:
        """Begin anew, without neighbors, for another interest."""
        self._count(dict.fromkeys(interest, 0))

    def raise_k(self) -> None:
        """Ask for one more neighbor per topic."""
        self.k += 1
        self._count(self._counts)

    def _count(self, counts: dict[Topic, int]) -> None:
        self._counts = counts
        self.wanted = {topic for topic, count in counts.items() if count < self.k}
        # Topics of which no neighbor can be spared.
        self._needed = {topic for topic, count in counts.items() if count <= self.k}

    @property
    def asleep(self) -> bool:
        return self.k == 0

    @property
    def limit(self) -> int:
        return self.k * len(self._counts)

    @property
    def lacking(self) -> int:
        return len(self.wanted)

    def add(self, shared: Collection[Topic]) -> None:
        """Count a new neighbor with these topics in common."""
        counts, k = self._counts, self.k
        for topic in shared:
            count = counts[topic] + 1
            counts[topic] = count
            if count == k:
                self.wanted.discard(topic)
            elif count == k + 1:
                self._needed.discard(topic)

    def drop(self, shared: Collection[Topic]) -> None:
        """Count it no longer."""
        counts, k = self._counts, self.k
        for topic in shared:
            count = counts[topic] - 1
            counts[topic] = count
            if count == k:
                self._needed.add(topic)
            elif count == k - 1:
                self.wanted.add(topic)

    def loss(self, shared: Collection[Topic]) -> int:
        """Return what the loss of such a neighbor would cost: topics that cannot spare one; 0 if none."""
        return len(self._needed.intersection(shared)) if self._needed else 0

    def needs(self, shared: Collection[Topic]) -> bool:
        """Tell whether the loss of such a neighbor would cost anything."""
        return not self._needed.isdisjoint(shared)

    def serves(self, interest: Topics) -> bool:
        """Tell whether a neighbor with this interest would be of any use."""
        return not self.wanted.isdisjoint(interest)


class Quantity:
    """`links` neighbors of any interest: the goal of similarity(x, y) and random(y).

    >>> goal = Quantity(frozenset("x"), links=2)
    >>> goal.add(frozenset()); goal.lacking, goal.loss(frozenset())
    (1, 1)
    """

    __slots__ = ("_neighbors", "limit", "wanted")

    def __init__(self, interest: Topics, links: int) -> None:
        self.limit = links
        self.restart(interest)

    def restart(self, interest: Topics) -> None:
        self.wanted = interest
        self._neighbors = 0

    @property
    def asleep(self) -> bool:
        return self.limit == 0

    @property
    def lacking(self) -> int:
        return max(self.limit - self._neighbors, 0)

    def add(self, shared: Collection[Topic]) -> None:
        self._neighbors += 1

    def drop(self, shared: Collection[Topic]) -> None:
        self._neighbors -= 1

    def loss(self, shared: Collection[Topic]) -> int:
        return 1 if self._neighbors <= self.limit else 0

    def needs(self, shared: Collection[Topic]) -> bool:
        return self._neighbors <= self.limit

    def serves(self, interest: Topics) -> bool:
        return self.lacking > 0


Goal: TypeAlias = Coverage | Quantity


@dataclass(frozen=True, slots=True)
class NodeGoals:
    """(K_g, K_r)-coverage, or so many similar and random links; K_r may adapt [Chockler2007b, 3.3.1].

    With `root` the nodes of a topic also agree on a root (roots.py), which only coverage has a use for.
    """

    greedy: int = 3
    random: int = 0
    adaptive: bool = False
    by_coverage: bool = True
    root: bool = True

    def of_tasks(self, interest: Topics) -> tuple[tuple[Goal, NeighborChoice], ...]:
        """Return the goal of each task and how it chooses neighbors, the greedy task first."""
        if self.by_coverage:
            return (
                (Coverage(interest, self.greedy), NeighborChoice.GREEDY),
                (Coverage(interest, self.random), NeighborChoice.COVERING),
            )
        return (
            (Quantity(interest, self.greedy), NeighborChoice.SIMILAR),
            (Quantity(interest, self.random), NeighborChoice.ANYONE),
        )

"""What a node knows of others (the interest view, [Chockler2007b, 2.2]), and how it chooses a neighbor.

A node asks its `Membership` for one more neighbor by one of four rules [Chockler2007b, Figure 5 and 3.9.1].
Ties are broken uniformly at random; a node that covers nothing new is never chosen by coverage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum
from math import inf
from random import Random

from topicloom.spidercast.protocol.messages import NodeId, RootNames, Shuffle, ShuffleReply, Topic, Topics


class NeighborChoice(Enum):
    """How the next neighbor is chosen among those known."""

    GREEDY = "greedy"  # most of the wanted topics
    COVERING = "covering"  # anyone with at least one of the wanted topics
    SIMILAR = "similar"  # most of the wanted topics, even if that is none
    ANYONE = "anyone"  # anyone

    @property
    def least(self) -> int:
        """The number of wanted topics that a chosen node must have."""
        return 1 if self in (NeighborChoice.GREEDY, NeighborChoice.COVERING) else 0

    @property
    def ranked(self) -> bool:
        """Whether only nodes with the most wanted topics may be chosen."""
        return self in (NeighborChoice.GREEDY, NeighborChoice.SIMILAR)


class Membership:
    """The view of one node. A view that somebody else keeps up to date implements nothing but `choose`."""

    __slots__ = ()

    def choose(
        self, choice: NeighborChoice, wanted: Collection[Topic], banned: Collection[NodeId], rng: Random
    ) -> NodeId | None:
        """Return one known node outside `banned` by `choice`, or None."""
        raise NotImplementedError

    def heard(self, node: NodeId, life: int, version: int, interest: Topics, now: float) -> None:
        """Note what `node` itself just said it wants."""

    def oldest(self, topics: Topics) -> RootNames:
        """Return, for each topic, the smallest (life, name) of the known nodes with it, as far as lives are
        known: so young a node, or a younger one, will not be its root."""
        return {}

    def gone(self, node: NodeId, now: float) -> None:
        """Forget `node`, which left or was given up."""

    def start(self, now: float) -> None:
        """Begin."""

    def warm_up(self) -> float:
        """Return for how many seconds after `start` it is better not to choose."""
        return 0.0

    def interest_changed(self, now: float) -> None:
        """Adapt to the node's new interest."""

    def receive(self, peer: NodeId, message: Shuffle | ShuffleReply, now: float) -> None:
        """Handle a membership message."""

    def next_timer(self) -> float:
        """Return when `handle_timer` wants to be called; infinity for never."""
        return inf

    def handle_timer(self, now: float) -> None:
        """Do what is due."""


def choose_among(
    known: Iterable[tuple[NodeId, Topics]],
    choice: NeighborChoice,
    wanted: Collection[Topic],
    banned: Collection[NodeId],
    rng: Random,
) -> NodeId | None:
    """Choose from a plain list, in its order: fit for views of some hundred nodes."""
    wanted = frozenset(wanted)
    ranked, most = choice.ranked, choice.least
    best: list[NodeId] = []
    for node, interest in known:
        if node in banned or (shared := len(wanted & interest)) < most:
            continue
        if ranked and shared > most:
            best, most = [], shared
        best.append(node)
    return best[rng.randrange(len(best))] if best else None


class PlainView(Membership):
    """A given view as a dict, for tests, examples and small runs.

    >>> view = PlainView({"a": frozenset("xy"), "b": frozenset("x")})
    >>> view.choose(NeighborChoice.GREEDY, {"x", "y"}, set(), Random(1))
    'a'
    """

    def __init__(self, interests: dict[NodeId, Topics]) -> None:
        self.interests = interests

    def choose(
        self, choice: NeighborChoice, wanted: Collection[Topic], banned: Collection[NodeId], rng: Random
    ) -> NodeId | None:
        return choose_among(self.interests.items(), choice, wanted, banned, rng)

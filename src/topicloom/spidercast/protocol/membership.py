"""What a node knows of others (the interest view, [Chockler2007b, 2.2]), and how it chooses a neighbor.

A node asks its `Membership` for one more neighbor by one of four rules [Chockler2007b, Figure 5 and 3.9.1].
Ties are broken uniformly at random; a node that covers nothing new is never chosen by coverage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum
from math import inf
from random import Random
from typing import Protocol

from topicloom.spidercast.protocol.messages import NodeId, Shuffle, ShuffleReply, Topic, Topics


class NeighborChoice(Enum):
    """How the next neighbor is chosen among those known."""

    GREEDY = "greedy"
    """most of the wanted topics"""
    COVERING = "covering"
    """anyone with at least one of the wanted topics"""
    SIMILAR = "similar"
    """most of the wanted topics, even if that is none"""
    ANYONE = "anyone"
    """anyone"""


class Membership(Protocol):
    """The view of one node. Views by gossip speak and have a clock; views that are given do neither."""

    def choose(
        self, choice: NeighborChoice, wanted: Collection[Topic], banned: Collection[NodeId], rng: Random
    ) -> NodeId | None:
        """One known node outside `banned` by `choice`, or None."""

    def heard(self, node: NodeId, version: int, interest: Topics, now: float) -> None:
        """`node` itself just said what it wants."""

    def gone(self, node: NodeId, now: float) -> None:
        """`node` left or was given up."""

    def start(self, now: float) -> None:
        """The node begins."""

    def interest_changed(self, now: float) -> None:
        """The node's own interest is another one now."""

    def receive(self, peer: NodeId, message: Shuffle | ShuffleReply, now: float) -> None:
        """A membership message came."""

    def next_timer(self) -> float:
        """When `handle_timer` wants to be called; infinity for never."""

    def handle_timer(self, now: float) -> None:
        """The time has come."""


class Given:
    """The silent half of a membership: views that somebody else keeps up to date."""

    __slots__ = ()

    def heard(self, node: NodeId, version: int, interest: Topics, now: float) -> None:
        pass

    def gone(self, node: NodeId, now: float) -> None:
        pass

    def start(self, now: float) -> None:
        pass

    def interest_changed(self, now: float) -> None:
        pass

    def receive(self, peer: NodeId, message: Shuffle | ShuffleReply, now: float) -> None:
        pass

    def next_timer(self) -> float:
        return inf

    def handle_timer(self, now: float) -> None:
        pass


def choose_among(
    known: Iterable[tuple[NodeId, Topics]],
    choice: NeighborChoice,
    wanted: Collection[Topic],
    banned: Collection[NodeId],
    rng: Random,
) -> NodeId | None:
    """The choice over a plain list, in its order: fit for views of some hundred nodes."""
    wanted = frozenset(wanted)
    least = 1 if choice in (NeighborChoice.GREEDY, NeighborChoice.COVERING) else 0
    ranked = choice in (NeighborChoice.GREEDY, NeighborChoice.SIMILAR)
    best: list[NodeId] = []
    most = least
    for node, interest in known:
        if node in banned:
            continue
        shared = len(wanted & interest)
        if shared < least or (ranked and shared < most):
            continue
        if ranked and shared > most:
            best, most = [], shared
        best.append(node)
    return best[rng.randrange(len(best))] if best else None


class PlainView(Given):
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

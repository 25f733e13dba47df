"""A view kept up to date by shuffles, after Cyclon (Voulgaris, Gavidia, van Steen, 2005).

Every period a node sends a few of the descriptors it holds, and a new one of itself, to the node that it has
not heard of for longest, and gets as many back. Descriptors wander and are not copied, so views are like
uniform samples of all nodes (what [Chockler2007b, 3.7] asks of a membership service), and a dead node is
soon the oldest everywhere, does not answer, and is forgotten. Unlike in Cyclon the answer also begins with a
new descriptor of its sender, and a full view drops its oldest: descriptors live half as long, at no cost.

A uniform view of some dozen nodes rarely holds a subscriber of a rare topic, but hundreds of descriptors pass
through it. Those that share a topic with this node are also noted in a side table, a few for each topic,
first come first kept: common topics are soon full and leave room to rare ones. It is never passed on.

No clock is shared: a descriptor carries its age, kept here as the local time when its node said so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import inf
from random import Random
from typing import NamedTuple

from topicloom.spidercast.protocol.membership import Membership, NeighborChoice, choose_among
from topicloom.spidercast.protocol.messages import (
    Descriptor,
    NodeId,
    RootNames,
    Shuffle,
    ShuffleReply,
    Topic,
    Topics,
)
from topicloom.spidercast.protocol.node_state import NodeContext

NO_ROOTS: RootNames = {}
MOST_TOPICS = 20_000  # topics in one message: at 255 bytes each it stays below the longest frame
RELATED = 4  # the side table holds so many times the nodes of the view
FAST_ROUNDS = (
    12  # exchanges that a node begins with, ten in a period: its first neighbors should be good ones
)


class Known(NamedTuple):
    """What is known of a node. Of two, the greater is the newer one (lives and versions first)."""

    life: int
    version: int
    since: float  # local time at which the node itself said so
    interest: Topics
    roots: RootNames = NO_ROOTS

    def beats(self, other: Known) -> bool:
        return self[:3] > other[:3]


class RelatedNodes:
    """The side table: nodes that share topics with this one, at most `size`, some for each topic."""

    def __init__(self, size: int, wanted: Topics) -> None:
        self.nodes: dict[NodeId, Known] = {}
        self._size = size
        # Each node here was taken for a topic with fewer than `_enough` nodes, so in all there are never
        # more than topics x `_enough`.
        self._enough = max(1, size // max(1, len(wanted)))
        self._counts: dict[Topic, int] = dict.fromkeys(wanted, 0)

    def note(self, node: NodeId, known: Known) -> None:
        """Take the node in if one of its topics has too few nodes here; update a node that is in."""
        held = self.nodes.get(node)
        if held is not None:
            if not known.beats(held):
                return
            if known.interest == held.interest:
                self.nodes[node] = known
                return
            self.drop(node)
        shared = self._counts.keys() & known.interest
        if len(self.nodes) < self._size and any(self._counts[topic] < self._enough for topic in shared):
            self.nodes[node] = known
            for topic in shared:
                self._counts[topic] += 1

    def drop(self, node: NodeId) -> None:
        held = self.nodes.pop(node, None)
        if held is not None:
            for topic in self._counts.keys() & held.interest:
                self._counts[topic] -= 1


class Gossip(Membership):
    """The membership of one node by gossip; `seeds` are entry points, used whenever nobody else is known."""

    def __init__(self, context: NodeContext, seeds: Iterable[Descriptor]) -> None:
        self._context = context
        self._seeds = tuple(seeds)
        self._size = context.settings.gossip_view
        self._count = max(1, context.settings.gossip_shuffle)
        self._forget = context.settings.gossip_forget
        self._view: dict[NodeId, Known] = {}
        self._related = RelatedNodes(RELATED * self._size, context.interest)
        self._gone: dict[
            NodeId, tuple[tuple[float, int], float]
        ] = {}  # its life and version, and when it went
        self._partner: NodeId | None = None
        self._sent: list[NodeId] = []
        self._asked_seed = False
        self._fast = 0
        self._next = self._ask_seed = inf

    @property
    def view(self) -> dict[NodeId, Topics]:
        """The nodes in the shuffled view and what they want."""
        return {node: known.interest for node, known in self._view.items()}

    def choose(
        self, choice: NeighborChoice, wanted: Collection[Topic], banned: Collection[NodeId], rng: Random
    ) -> NodeId | None:
        """Choose by topics among the view and the side table; `anyone` among the uniform view alone."""
        known = [(node, known.interest) for node, known in self._view.items()]
        if choice is not NeighborChoice.ANYONE:
            noted = self._related.nodes.items()
            known += [(node, known.interest) for node, known in noted if node not in self._view]
        return choose_among(known, choice, wanted, banned, rng)

    def start(self, now: float) -> None:
        """Begin at a random moment of the period: otherwise all entry points would be asked at once."""
        self._enter(now)
        settings, draw = self._context.settings, self._context.rng.random
        self._fast = FAST_ROUNDS
        self._next = now + draw() * settings.gossip_period / 10
        self._ask_seed = now + (1 + draw()) * settings.gossip_seed

    def warm_up(self) -> float:
        return self._context.settings.gossip_period

    def heard(self, node: NodeId, life: int, version: int, interest: Topics, now: float) -> None:
        """Take the word of the node itself, whatever others said of it."""
        self._gone.pop(node, None)
        known = Known(life, version, now, interest)
        held = self._view.get(node) or self._related.nodes.get(node)
        if held is not None and not known.beats(held):
            self._drop(node)  # hearsay that claims to be newer than the node itself
        self._learn(node, known, [], evict=False)

    def gone(self, node: NodeId, now: float) -> None:
        """Forget the node, and ignore what others still say of it that is no newer than this moment."""
        known = self._view.get(node) or self._related.nodes.get(node)
        self._drop(node)
        self._gone.pop(node, None)
        self._gone[node] = ((inf, 0) if known is None else known[:2], now)
        if len(self._gone) > self._size:
            del self._gone[next(iter(self._gone))]

    def interest_changed(self, now: float) -> None:
        """Fill the side table anew from the nodes at hand."""
        noted = self._related.nodes
        self._related = RelatedNodes(RELATED * self._size, self._context.interest)
        for node, known in (*noted.items(), *self._view.items()):
            self._related.note(node, known)

    def receive(self, peer: NodeId, message: Shuffle | ShuffleReply, now: float) -> None:
        """Take what is valid in it; an answer that was not asked for is ignored."""
        if peer == self._context.name:
            return
        descriptors = message.descriptors
        if isinstance(message, Shuffle):
            sent = self._sample(peer)
            self._context.send(peer, ShuffleReply(self._descriptors(sent, now)))
        elif peer == self._partner:
            self._partner, sent = None, self._sent
            if self._asked_seed:  # everybody asks it: in all views it would be known far too well
                descriptors = tuple(told for told in descriptors if told.node != peer)
        else:
            return
        self._merge(descriptors, sent, now)

    def next_timer(self) -> float:
        return self._next

    def handle_timer(self, now: float) -> None:
        if now < self._next:
            return
        period = self._context.settings.gossip_period
        self._next = now + (period / 10 if self._fast > 0 else period)
        self._fast -= 1
        if self._partner is not None:
            self._drop(self._partner)
            self._partner = None
        self._forget_old(now)
        if not self._view:
            self._enter(now)
        if self._view:
            self._shuffle(self._next_partner(now), now)

    def _next_partner(self, now: float) -> NodeId:
        """Return the node that was not heard of for longest; now and then an entry point.

        After a long cut nobody knows a node of the other side any more, however full the views are.
        """
        self._asked_seed = self._ask_seed <= now
        if self._asked_seed:
            self._ask_seed = now + self._context.settings.gossip_seed
            seeds = [seed.node for seed in self._seeds if seed.node != self._context.name]
            if seeds:
                return seeds[self._context.rng.randrange(len(seeds))]
        return min(self._view, key=lambda node: self._view[node].since)

    def _shuffle(self, partner: NodeId, now: float) -> None:
        # As in Cyclon the partner leaves the view now; its answer brings it back, silence does not.
        self._view.pop(partner, None)
        self._partner, self._sent = partner, self._sample(partner)
        self._context.send(partner, Shuffle(self._descriptors(self._sent, now)))

    def _enter(self, now: float) -> None:
        """Begin (again) with the entry points, in random order: not all nodes should ask the same one."""
        seeds = [seed for seed in self._seeds if seed.node != self._context.name]
        self._context.rng.shuffle(seeds)
        for seed in seeds:
            self._learn(seed.node, Known(seed.life, seed.version, now, seed.interest), [], evict=False)

    def _forget_old(self, now: float) -> None:
        latest = now - self._forget
        for node in [node for node, known in self._view.items() if known.since < latest]:
            del self._view[node]
        for node in [node for node, known in self._related.nodes.items() if known.since < latest]:
            self._related.drop(node)
        for node in [node for node, (_, when) in self._gone.items() if when < latest]:
            del self._gone[node]

    def _sample(self, peer: NodeId) -> list[NodeId]:
        """Draw the nodes to tell `peer` of, besides this node itself."""
        others = [node for node in self._view if node != peer]
        return self._context.rng.sample(others, min(self._count - 1, len(others)))

    def _descriptors(self, nodes: list[NodeId], now: float) -> tuple[Descriptor, ...]:
        context = self._context
        roots = {} if context.roots is None else context.roots.settled(now)
        own = Descriptor(
            context.name, context.version, 0.0, context.interest, context.life, context.address, roots
        )
        nodes = self._as_fit(nodes)
        known = ((node, self._view[node]) for node in nodes)
        addresses = context.addresses
        return (
            own,
            *(
                Descriptor(
                    node,
                    k.version,
                    max(0.0, now - k.since),
                    k.interest,
                    k.life,
                    addresses.get(node, ""),
                    k.roots,
                )
                for node, k in known
            ),
        )

    def _as_fit(self, nodes: list[NodeId]) -> list[NodeId]:
        """Return as many of the nodes as one message can hold, however many topics they want."""
        left = MOST_TOPICS - len(self._context.interest)
        for at, node in enumerate(nodes):
            left -= len(self._view[node].interest)
            if left < 0:
                return nodes[:at]
        return nodes

    def _merge(self, descriptors: tuple[Descriptor, ...], sent: list[NodeId], now: float) -> None:
        """Put what came in the places of what was sent: descriptors are exchanged, not copied."""
        context = self._context
        places = [node for node in sent if node in self._view]
        for told in descriptors[: self._count]:
            # An age that is no number fails the comparison too.
            if told.node == self._context.name or not 0 <= told.age <= self._forget or told.version < 0:
                continue
            known = Known(told.life, told.version, now - told.age, told.interest, told.roots)
            context.note_address(told.node, told.address)
            if told.roots and context.roots is not None and context.roots.differ(told.roots, known.since):
                context.suspect(told.node)
            last, when = self._gone.get(told.node, ((-1, -1), -inf))
            if known[:2] > last or known.since > when:
                self._gone.pop(told.node, None)
                self._learn(told.node, known, places, evict=True)

    def _learn(self, node: NodeId, known: Known, places: list[NodeId], *, evict: bool) -> None:
        """Note news of a node, in a free or given-up place, or (`evict`) instead of an older one."""
        if node == self._context.name:
            return
        self._related.note(node, known)
        held = self._view.get(node)
        if held is not None:
            if known.beats(held):
                self._view[node] = known
        elif self._make_room(known, places, evict):
            self._view[node] = known

    def _make_room(self, known: Known, places: list[NodeId], evict: bool) -> bool:
        if len(self._view) < self._size:
            return True
        while places:
            if self._view.pop(places.pop(), None) is not None:
                return True
        if not evict or not self._view:
            return False
        oldest = min(self._view, key=lambda node: self._view[node].since)
        if self._view[oldest].since >= known.since:
            return False
        del self._view[oldest]
        return True

    def _drop(self, node: NodeId) -> None:
        self._view.pop(node, None)
        self._related.drop(node)

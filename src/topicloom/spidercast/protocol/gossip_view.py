"""The state of a gossiped view: who is in it, who is noted beside it, who is gone; and how it is told.

`gossip.py` decides when to tell and whom; `gossip_rules.py` has both as a table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import inf
from random import Random

from topicloom.spidercast.protocol.gossip_rules import ViewState
from topicloom.spidercast.protocol.membership import Membership, NeighborChoice, choose_among
from topicloom.spidercast.protocol.messages import Descriptor, NodeId, RootNames, Topic, Topics
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.protocol.related_nodes import Known, RelatedNodes

MOST_NAMES = 60_000  # names (of topics and roots) in one message: at 255 bytes each below the longest frame
MOST_KEPT = 200_000  # names in the view and the side table together
RELATED = 4  # the side table holds so many times the nodes of the view


class GossipView(Membership):
    """What one node knows of others by gossip, and by what they say themselves."""

    def __init__(self, context: NodeContext, seeds: Iterable[Descriptor]) -> None:
        self._context = context
        self._seeds = tuple(seeds)
        self._size = context.settings.gossip_view
        self._count = max(1, context.settings.gossip_shuffle)
        self._forget = context.settings.gossip_forget
        self._view: dict[NodeId, Known] = {}
        self._related = RelatedNodes(RELATED * self._size, context.interest)
        self._gone: dict[NodeId, tuple[tuple[float, int], float]] = {}  # its life and version, when it went
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

    def oldest(self, topics: Topics) -> RootNames:
        found: RootNames = {}
        own = type(self._context.name)
        for node, known in (*self._view.items(), *self._related.nodes.items()):
            if type(node) is own:  # others cannot be compared
                for topic in topics & known.interest:
                    if topic not in found or (known.life, node) < found[topic]:
                        found[topic] = (known.life, node)
        return found

    def state_of(self, node: NodeId) -> ViewState:
        """Return what `node` is to this view, in the words of `gossip_rules.py`."""
        if node == self._partner:
            return ViewState.PARTNER
        if node in self._view:
            return ViewState.VIEWED
        if node in self._related.nodes:
            return ViewState.NOTED
        return ViewState.GONE if node in self._gone else ViewState.UNKNOWN

    def heard(self, node: NodeId, life: int, version: int, interest: Topics, now: float) -> None:
        """Take the word of the node itself, whatever others said of it."""
        known = Known(life, version, now, interest, first_hand=True)
        self._trust(node, known)
        self._learn(node, known, [], evict=False)

    def _trust(self, node: NodeId, known: Known) -> None:
        """Drop hearsay that claims to be newer than what the node itself says, `known`."""
        self._gone.pop(node, None)
        for held in (self._view.get(node), self._related.nodes.get(node)):
            if held is not None and held[:2] > known[:2]:
                self._drop(node)

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
        return (own, *(self._told_of(node, now) for node in self._as_fit(nodes)))

    def _told_of(self, node: NodeId, now: float) -> Descriptor:
        """Return what this node tells others of a node in its view."""
        known, address = self._view[node], self._context.addresses.of(node)
        age = max(0.0, now - known.since)
        return Descriptor(node, known.version, age, known.interest, known.life, address, known.roots)

    def _as_fit(self, nodes: list[NodeId]) -> list[NodeId]:
        """Return as many of the nodes as one message can hold, however many topics they want."""
        left = MOST_NAMES - 3 * len(self._context.interest)
        for at, node in enumerate(nodes):
            left -= _names(self._view[node])
            if left < 0:
                return nodes[:at]
        return nodes

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
        if _names(known) * (1 + RELATED) * self._size > MOST_KEPT:  # fewer could never be too many
            self._bound_names()

    def _bound_names(self) -> None:
        """Drop those with the most topics until what is left takes no more memory than it may."""
        kept = [*self._view.items(), *self._related.nodes.items()]
        kept.sort(key=lambda entry: _names(entry[1]))
        total = sum(_names(known) for _, known in kept)
        while total > MOST_KEPT:
            node, known = kept.pop()
            total -= _names(known)
            self._drop(node)

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

    def _forget_old(self, now: float) -> None:
        latest = now - self._forget
        for node in [node for node, known in self._view.items() if known.since < latest]:
            del self._view[node]
        for node in [node for node, known in self._related.nodes.items() if known.since < latest]:
            self._related.drop(node)
        for node in [node for node, (_, when) in self._gone.items() if when < latest]:
            del self._gone[node]

    def _drop(self, node: NodeId) -> None:
        self._view.pop(node, None)
        self._related.drop(node)


def _names(known: Known) -> int:
    """Return how many names it takes to tell of a node."""
    return len(known.interest) + 2 * len(known.roots)

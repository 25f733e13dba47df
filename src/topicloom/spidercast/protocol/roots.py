"""A root for each topic that its nodes agree on: by it they see that a topic is split, and heal it.

Coverage is a local rule: two halves of a topic that are both covered never look for each other. So the
nodes of a topic elect a root, as bridges do: each names the smallest (life, name) that it hears of from a
neighbor with the same topic, and how many hops away it is. The oldest life wins, so a newcomer never takes
over. The neighbor it was heard from is the *parent*, and the link to it is needed.

Why a topic whose nodes name one root is whole: a node that is not the root has a parent with fewer hops to
the same root. So, once all is heard, parents lead to the only node with zero hops: the root itself. A half
that lost its root cannot go on naming it: its numbers of hops rise with every exchange, until MOST_HOPS.

That bound is rarely reached. A node whose parent goes takes another neighbor with fewer hops than it ever had
itself (as many: a smaller name). Along parents the pair (fewest hops, name) falls, so that neighbor does not
hang on the node itself. If there is none it names itself, tells its neighbors at once, and for HOLD
heartbeats does not believe in the old root again from a neighbor as far away. Children do the same, so old
news of a root dies out in the time it takes a message to cross the topic.

Changes travel with heartbeats, each with a number: a gap is seen, and asked about.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from topicloom.spidercast.protocol.messages import NodeId, Root, RootNames, Roots, Topic, Topics
from topicloom.spidercast.protocol.node_state import NodeContext

MOST_HOPS = 64
HOLD = 2.0  # heartbeats for which a node without a path to a root does not believe in it again
YOUNG = 10.0  # heartbeats of life in which everything changes, so that good news can wait for the next beat
MISSED = -2  # the number of a change before all that may follow
NO_ROOTS: Roots = {}


class _Doubt(NamedTuple):
    """A root that is believed again only from a neighbor nearer than `hops`, or after `until`."""

    root: tuple[int, NodeId]
    hops: int
    until: float


class TopicRoots:
    """The roots of one node's topics, and what its neighbors say about theirs."""

    __slots__ = (
        "_announced", "_changed", "_context", "_doubts", "_least", "_lent", "_offers", "_parents", "_ready",
        "_since", "_started", "_told", "_uses", "due", "number", "table", "urgent",
    )  # fmt: skip

    def __init__(self, context: NodeContext) -> None:
        self._context = context
        self.table: Roots = {}
        self._lent = False  # a message carries the table: it must not be changed in place
        self._parents: dict[Topic, NodeId] = {}
        self._uses: dict[NodeId, int] = {}  # neighbor -> topics for which it is the parent
        self._offers: dict[NodeId, Roots] = {}
        self._told: dict[NodeId, int] = {}  # neighbor -> its last change that was heard
        self._least: dict[Topic, int] = {}  # the fewest hops to the present root so far
        self._since: dict[Topic, float] = {}
        self._doubts: dict[Topic, _Doubt] = {}
        self._changed: dict[Topic, None] = {}  # topics not announced so far; a dict for its order
        self._started = -inf
        self._ready = -inf  # until then roots are only listened to: the first links are still being made
        self._announced: Roots = NO_ROOTS
        self.number = 0
        self.due = inf  # when a doubt ends
        self.urgent = inf  # when neighbors should hear of a change at the latest

    def start(self, now: float) -> None:
        """Begin: every topic's root is this node itself."""
        self._started = now
        self.due = self._ready = now + self._context.settings.heartbeat
        self.interest_changed(now)
        self._changed.clear()

    # -- what others ask --------------------------------------------------------------------------------

    def needs(self, peer: NodeId) -> bool:
        """Tell whether `peer` is the parent for a topic, and no other neighbor could be."""
        return peer in self._uses and any(
            self._other_parent(topic, peer) is None
            for topic, parent in self._parents.items()
            if parent == peer
        )

    def root_of(self, topic: Topic) -> tuple[int, NodeId]:
        """Return life and name of the topic's root."""
        return self.table[topic][:2]

    def all(self) -> Roots:
        """Return the roots of all topics, for a message."""
        self._lent = True
        return self.table

    def settled(self, now: float) -> RootNames:
        """Return the roots that have been the same for some heartbeats."""
        latest = now - HOLD * self._context.settings.heartbeat
        since = self._since
        return {topic: root[:2] for topic, root in self.table.items() if since[topic] <= latest}

    def differ(self, theirs: RootNames, said: float) -> bool:
        """Tell whether a node that named these roots at the time `said` is in another component.

        What was said before our own root had been the same for a while tells nothing.
        """
        latest = said - HOLD * self._context.settings.heartbeat
        table, since = self.table, self._since
        return any(
            topic in table and table[topic][:2] != root and since[topic] <= latest
            for topic, root in theirs.items()
        )

    def parents(self) -> dict[Topic, NodeId]:
        """Return the neighbor towards the root of each topic that has another root than this node."""
        return dict(self._parents)

    # -- what neighbors say -----------------------------------------------------------------------------

    def link_up(self, peer: NodeId, shared: Topics, number: int, roots: Roots, now: float) -> None:
        """Take `peer` as a neighbor, with all its roots."""
        self._told[peer] = number
        self._offers[peer] = {}
        self._hear_all(peer, shared, roots, now)

    def tell_all(self, peer: NodeId, shared: Topics, number: int, roots: Roots, now: float) -> None:
        """Take all roots of a neighbor, in place of those known so far."""
        if peer in self._offers and number >= self._told[peer]:
            self._told[peer] = number
            self._hear_all(peer, shared, roots, now)

    def tell(self, peer: NodeId, number: int, roots: Roots, now: float) -> bool:
        """Take the changed roots of a neighbor; return True if changes before them were missed."""
        told = self._told.get(peer)
        if told is None or number <= told:
            return False
        if number > told + 1:
            return True
        self._told[peer] = number
        offers, table = self._offers[peer], self.table
        for topic, root in roots.items():
            if topic in table:
                offers[topic] = root
                self._judge(topic, peer, root, now)
        return False

    def miss(self, peer: NodeId) -> None:
        """Take what was heard of a neighbor as incomplete."""
        if peer in self._told:
            self._told[peer] = MISSED

    def link_down(self, peer: NodeId, now: float) -> None:
        """Forget a neighbor that went; find other parents where it was one."""
        self._offers.pop(peer, None)
        self._told.pop(peer, None)
        if peer in self._uses:
            for topic in [topic for topic, parent in self._parents.items() if parent == peer]:
                self._seek_parent(topic, now)

    def _hear_all(self, peer: NodeId, shared: Topics, roots: Roots, now: float) -> None:
        offers = self._offers[peer]
        lost = [topic for topic in offers if topic not in roots or topic not in shared]
        for topic in lost:
            del offers[topic]
            if self._parents.get(topic) == peer:
                self._seek_parent(topic, now)
        for topic in self.table:  # in the node's own order: that of a set differs from run to run
            if topic in shared and topic in roots:
                root = offers[topic] = roots[topic]
                self._judge(topic, peer, root, now)

    def _judge(self, topic: Topic, peer: NodeId, offer: Root, now: float) -> None:
        """Follow a parent; take a neighbor with a better root as the parent."""
        mine = self.table[topic]
        if now < self._ready:
            return
        if offer[:2] < mine[:2] and self._believes(topic, peer, offer):
            self._set(topic, (*offer[:2], offer[2] + 1), peer, now)
        elif self._parents.get(topic) == peer:
            if offer[:2] != mine[:2] or offer[2] >= MOST_HOPS:
                self._seek_parent(topic, now)
            elif offer[2] + 1 != mine[2]:
                self._set(topic, (*offer[:2], offer[2] + 1), peer, now)

    def _believes(self, topic: Topic, peer: NodeId, offer: Root) -> bool:
        """Tell whether an offer can be taken: a root names itself, and old news is not believed."""
        if offer[2] >= MOST_HOPS or offer[2] < 0 or (offer[2] == 0) != (offer[1] == peer):
            return False
        if type(offer[1]) is not type(self._context.name) or offer[1] == self._context.name:
            return False
        doubt = self._doubts.get(topic)
        return doubt is None or offer[:2] != doubt.root or offer[2] < doubt.hops

    # -- parents ----------------------------------------------------------------------------------------

    def _seek_parent(self, topic: Topic, now: float) -> None:
        """Find another path to the root, or name another root."""
        mine = self.table[topic]
        found = self._other_parent(topic, None)
        if found is not None:
            self._set(topic, (*mine[:2], self._offers[found][topic][2] + 1), found, now)
            return
        context = self._context
        until = now + HOLD * context.settings.heartbeat
        self._doubts[topic] = _Doubt(mine[:2], self._least[topic], until)
        self.due = min(self.due, until)
        self._take_best(topic, now)
        self.urgent = now

    def _take_best(self, topic: Topic, now: float) -> None:
        """Name the best root that a neighbor offers and can be believed, or this node."""
        best: Root = (self._context.life, self._context.name, 0)
        parent: NodeId | None = None
        for peer, offers in self._offers.items():
            offer = offers.get(topic)
            if offer is not None and offer[:2] < best[:2] and self._believes(topic, peer, offer):
                best, parent = (*offer[:2], offer[2] + 1), peer
        self._set(topic, best, parent, now)

    def _other_parent(self, topic: Topic, without: NodeId | None) -> NodeId | None:
        """Return the nearest neighbor on a path to the same root that cannot lead through this node."""
        mine = self.table[topic]
        limit = (self._least[topic], self._context.name)
        found: NodeId | None = None
        for peer, offers in self._offers.items():
            offer = offers.get(topic)
            if offer is None or peer == without or offer[:2] != mine[:2]:
                continue
            if (offer[2], peer) < limit and self._believes(topic, peer, offer):
                limit, found = (offer[2], peer), peer
        return found

    def _set(self, topic: Topic, root: Root, parent: NodeId | None, now: float) -> None:
        before, old = self.table.get(topic), self._parents.get(topic)
        if parent != old:
            if old is not None:
                self._uses[old] -= 1
                if not self._uses[old]:
                    del self._uses[old]
                del self._parents[topic]
            if parent is not None:
                self._parents[topic] = parent
                self._uses[parent] = self._uses.get(parent, 0) + 1
        if before == root:
            return
        same = before is not None and before[:2] == root[:2]
        self._least[topic] = min(root[2], self._least[topic]) if same else root[2]
        if self._lent:
            self.table, self._lent = dict(self.table), False
        self.table[topic] = root
        self._changed[topic] = None
        if not same:
            self._since[topic] = now
            settings = self._context.settings
            if now - self._started > YOUNG * settings.heartbeat:
                self.urgent = min(self.urgent, now + settings.connect_timeout)

    # -- time and the node's own changes ----------------------------------------------------------------

    def handle_timer(self, now: float) -> None:
        """Begin to follow roots; believe again in those whose doubt is over."""
        if now < self.due:
            return
        over = [topic for topic, doubt in self._doubts.items() if doubt.until <= now]
        for topic in over:
            del self._doubts[topic]
        if self._ready > -inf:
            over, self._ready = list(self.table), -inf
        self.due = min((doubt.until for doubt in self._doubts.values()), default=inf)
        for topic in over:
            for peer, offers in self._offers.items():
                if topic in offers:
                    self._judge(topic, peer, offers[topic], now)

    def announce(self) -> tuple[int, Roots]:
        """Return the last change and its number, a new one if something changed since."""
        if self._changed:
            self.number += 1
            self._announced = {topic: self.table[topic] for topic in self._changed}
            self._changed.clear()
        self.urgent = inf
        return self.number, self._announced

    def interest_changed(self, now: float) -> None:
        """Name this node for new topics, and forget those that are wanted no more."""
        interest, own = self._context.interest, (self._context.life, self._context.name, 0)
        for topic in [topic for topic in self.table if topic not in interest]:
            self._forget(topic)
        new = [topic for topic in sort_topics(interest) if topic not in self.table]
        self.table = {**self.table, **dict.fromkeys(new, own)}
        for topic in new:
            self._least[topic], self._since[topic] = 0, now
            self._changed[topic] = None

    def _forget(self, topic: Topic) -> None:
        self._set(topic, self.table[topic], None, 0.0)
        self.table = {other: root for other, root in self.table.items() if other != topic}
        for offers in self._offers.values():
            offers.pop(topic, None)
        del self._since[topic], self._least[topic]
        self._doubts.pop(topic, None)
        self._changed.pop(topic, None)


def sort_topics(topics: Iterable[Topic]) -> list[Topic]:
    """Return topics in an order that is the same in all runs, whatever their types."""
    return sorted(topics, key=lambda topic: (isinstance(topic, str), topic))

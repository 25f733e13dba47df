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

from collections.abc import Callable, Collection
from math import inf

from topicloom.spidercast.protocol.messages import NodeId, RootNames, Roots, Topic, Topics
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.protocol.root_parents import HOLD, NO_ROOTS, RootParents, sort_topics

__all__ = ["NO_ROOTS", "TopicRoots", "sort_topics"]

LISTENING = 0.5  # heartbeats for which a beginner only listens: its first links are still being made
PATIENCE = 4.0  # heartbeats after that for which it does not tell of roots that will not last
NO_PARENTS: dict[Topic, NodeId] = {}
MISSED = -2  # the number of a change before all that may follow


class TopicRoots(RootParents):
    """The roots of one node's topics, and what its neighbors say about theirs."""

    __slots__ = ("_patient", "oldest")

    def __init__(self, context: NodeContext, oldest: Callable[[Topics], RootNames]) -> None:
        super().__init__(context)
        self.oldest = oldest  # who is known to be older
        self._patient = inf  # when the beginning ends at the latest

    def start(self, now: float) -> None:
        """Begin: every topic's root is this node itself."""
        heartbeat = self._context.settings.heartbeat
        self.due = self._ready = self._told_at = now + LISTENING * heartbeat
        self._patient = self._ready + PATIENCE * heartbeat
        self.interest_changed(now)
        self._changed.clear()
        self._expect(self.oldest(self._context.interest))

    # -- what others ask --------------------------------------------------------------------------------

    def needs(self, peer: NodeId) -> bool:
        """Tell whether `peer` is the parent for a topic, and no other neighbor could be."""
        if peer not in self._uses:
            return False
        for topic, parent in self._parents.items():
            if parent == peer and not self._has_other_parent(topic, peer):
                return True
        return False

    @property
    def has_news(self) -> bool:
        """Whether something changed that neighbors have not been told."""
        return bool(self._changed)

    def settled(self, now: float) -> RootNames:
        """Return the roots that have been the same for some heartbeats."""
        latest = now - HOLD * self._context.settings.heartbeat
        since = self._since
        return {
            topic: root[:2]
            for topic, root in self.table.items()
            if since[topic] <= latest and topic not in self._expected
        }

    def differ(self, theirs: RootNames, said: float) -> bool:
        """Tell whether a node that named these roots at the time `said` is in another component.

        What was said before our own root had been the same for a while tells nothing.
        """
        latest = said - HOLD * self._context.settings.heartbeat
        table, since = self.table, self._since
        return any(
            topic in table
            and table[topic][:2] != root
            and since[topic] <= latest
            and not (self._expected and self._is_passing(topic))
            for topic, root in theirs.items()
        )

    def parents(self) -> dict[Topic, NodeId]:
        """Return the neighbor towards the root of each topic that has another root than this node."""
        return dict(self._parents)

    # -- what neighbors say -----------------------------------------------------------------------------

    def link_up(self, peer: NodeId, shared: Collection[Topic], number: int, roots: Roots, now: float) -> None:
        """Take `peer` as a neighbor, with all its roots."""
        self.told[peer] = number
        self.moves += 1
        if roots:  # else a beginner that names nobody so far
            self._hear_all(peer, shared, roots, now)

    def tell_all(
        self, peer: NodeId, shared: Collection[Topic], number: int, roots: Roots, now: float
    ) -> None:
        """Take all roots of a neighbor, in place of those known so far."""
        if peer in self.told and number >= self.told[peer]:
            self.told[peer] = number
            self.moves += 1
            self._hear_all(peer, shared, roots, now)

    def tell(self, peer: NodeId, number: int, roots: Roots, now: float) -> bool:
        """Take the changed roots of a neighbor; return True if changes before them were missed."""
        told = self.told.get(peer)
        if told is None or number <= told:
            return False
        if number > told + 1:
            return True
        self.told[peer] = number
        find, table, own = self._offers.get, self.table, self._kind
        sound = own if type(peer) is own else None
        parents = self._parents if peer in self._uses else NO_PARENTS
        for topic, root in roots.items():
            offers = find(topic)
            if offers is None:
                continue
            if type(root[1]) is not sound:
                root = self._nowhere(root)
            offers[peer] = root
            # A better root, another path to ours, or the parent's word; most are neither and change nothing.
            if root <= table[topic] or (parents and parents.get(topic) == peer):
                self.moves += 1
                self._judge(topic, peer, root, now)
                table = self.table
        return False

    def miss(self, peer: NodeId) -> None:
        """Take what was heard of a neighbor as incomplete."""
        if peer in self.told:
            self.told[peer] = MISSED

    def link_down(self, peer: NodeId, now: float) -> None:
        """Forget a neighbor that went; find other parents where it was one."""
        self.told.pop(peer, None)
        for offers in self._offers.values():
            offers.pop(peer, None)
        if peer in self._uses:
            for topic in [topic for topic, parent in self._parents.items() if parent == peer]:
                self._seek_parent(topic, now)

    def _hear_all(self, peer: NodeId, shared: Collection[Topic], roots: Roots, now: float) -> None:
        sound = self._kind if type(peer) is self._kind else None
        for topic, offers in self._offers.items():  # in the node's own order: that of a set differs
            if topic in shared and topic in roots:
                root = roots[topic]
                if type(root[1]) is not sound:
                    root = self._nowhere(root)
                offers[peer] = root
                self._judge(topic, peer, root, now)
            elif offers.pop(peer, None) is not None and self._parents.get(topic) == peer:
                self._seek_parent(topic, now)

    # -- time and the node's own changes ----------------------------------------------------------------

    def handle_timer(self, now: float) -> None:
        """Begin to follow roots; believe again in those whose doubt is over."""
        if now < self.due:
            return
        over = [topic for topic, doubt in self._doubts.items() if doubt.until <= now]
        for topic in over:
            del self._doubts[topic]
        if self._ready > -inf:
            self._ready = -inf
            over = [*self.table]  # all name this node so far
            self._expect(self.oldest(self._context.interest))
        self.due = min((doubt.until for doubt in self._doubts.values()), default=inf)
        if self._beginner:
            self.due = min(self.due, self._patient)
            if now >= self._patient:
                self.forsaken = bool(self._expected)  # whoever was expected is not to be reached
                self._expect_no_more()
        if over:
            self.moves += 1  # a neighbor that was doubted may be another parent now
            for topic in over:
                for peer, offer in self._offers[topic].items():
                    self._judge(topic, peer, offer, now)

    def announce(self, now: float) -> tuple[int, Roots]:
        """Return the last change and its number, a new one if something changed since."""
        changed, passing = self._changed, self._expected
        if changed and (not passing or not changed.keys() <= passing.keys()):
            self.number += 1
            self._told_at = now
            table = self.table
            self._announced = {topic: table[topic] for topic in changed if topic not in passing}
            self._changed = {topic: None for topic in changed if topic in passing} if passing else {}
        self.urgent = inf
        return self.number, self._announced

    def interest_changed(self, now: float) -> None:
        """Name this node for new topics, and forget those that are wanted no more."""
        interest, own = self._context.interest, (self._context.life, self._context.name, 0)
        for topic in [topic for topic in self.table if topic not in interest]:
            self._forget(topic)
        new = [topic for topic in sort_topics(interest) if topic not in self.table]
        self.table = {**self.table, **dict.fromkeys(new, own)}
        self._lasting = None
        for topic in new:
            self._least[topic], self._since[topic] = 0, now
            self._changed[topic], self._offers[topic] = None, {}

    def _forget(self, topic: Topic) -> None:
        self._set(topic, self.table[topic], None, 0.0)
        self.table = {other: root for other, root in self.table.items() if other != topic}
        self._lasting = None
        del self._since[topic], self._least[topic], self._offers[topic]
        self._doubts.pop(topic, None)
        self._expected.pop(topic, None)
        self._changed.pop(topic, None)

"""Who is the root of each topic, and which neighbor is the parent towards it: the state, and how it changes.

`roots.py` has the argument for these rules, and says when they are applied.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from topicloom.spidercast.protocol.messages import NodeId, Root, RootNames, Roots, Topic
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.protocol.root_rules import RootState

MOST_HOPS = 64
HOLD = 2.0  # heartbeats for which a node without a path to a root does not believe in it again
NO_ROOTS: Roots = {}


class _Doubt(NamedTuple):
    """A root that is believed again only from a neighbor nearer than `hops`, or after `until`."""

    root: tuple[int, NodeId]
    hops: int
    until: float


class RootParents:
    """The roots and parents of one node's topics, and what its neighbors offer."""

    __slots__ = (
        "_announced", "_beginner", "_changed", "_context", "_doubts", "_expected", "_kind", "_lasting",
        "_least", "_lent", "_offers", "_parents", "_ready", "_since", "_told_at", "_uses", "due",
        "forsaken", "moves", "number", "table", "told", "urgent",
    )  # fmt: skip

    def __init__(self, context: NodeContext) -> None:
        self._context = context
        self._kind = type(context.name)  # only names of this kind can be compared with ours
        self.table: Roots = {}
        self._lent = False  # a message carries the table: it must not be changed in place
        self._parents: dict[Topic, NodeId] = {}
        self._uses: dict[NodeId, int] = {}  # neighbor -> topics for which it is the parent
        # Topic -> neighbor -> its root. By topic: most questions are about one topic and all neighbors.
        self._offers: dict[Topic, dict[NodeId, Root]] = {}
        self.told: dict[NodeId, int] = {}  # neighbor -> its last change that was heard
        self._least: dict[Topic, int] = {}  # the fewest hops to the present root so far
        self._since: dict[Topic, float] = {}
        self._doubts: dict[Topic, _Doubt] = {}
        self._changed: dict[Topic, None] = {}  # topics not announced so far; a dict for its order
        self._told_at = -inf  # when news of roots were last told
        self._ready = -inf  # until then roots are only listened to: the first links are still being made
        self._announced: Roots = NO_ROOTS
        self._beginner = False  # whether it waits for the roots that it expects
        self.forsaken = False  # whether an expected root did not come in time; whoever reads it clears it
        self._expected: RootNames = {}  # older ones than those here: no root of these topics will be younger
        self._lasting: Roots | None = None  # the table without passing roots, while it is still so
        self.number = 0
        self.moves = 0  # rises with whatever may make a neighbor needed, or not needed any more
        self.due = inf  # when a doubt ends
        self.urgent = inf  # when neighbors should hear of a change at the latest

    def state_of(self, topic: Topic) -> RootState:
        """Return how this node stands to the root of a topic, in the words of `root_rules.py`."""
        if topic not in self.table:
            return RootState.UNWANTED
        if topic in self._parents:
            return RootState.FOLLOWS
        return RootState.DOUBTS if topic in self._doubts else RootState.ITSELF

    def all(self) -> Roots:
        """Return the roots of all topics, for a message; without those that will not last."""
        if not self._expected:
            self._lent = True
            return self.table
        if self._lasting is None:
            self._lasting = {topic: root for topic, root in self.table.items() if not self._is_passing(topic)}
        return self._lasting

    @property
    def begins(self) -> bool:
        """Whether it only listens yet, or waits for roots in place of those that will not last."""
        return self._ready > -inf or self._beginner

    def look_if_over(self, now: float) -> None:
        """End the beginning if all expected roots are here."""
        if self._beginner and now >= self._ready and not self._expected:
            self._expect_no_more()

    def _expect(self, names: RootNames) -> None:
        """Note who is known to be older than the present roots: these will surely give way."""
        self._expected = {
            topic: names[topic]
            for topic, root in self.table.items()  # in the node's own order: that of a set differs
            if topic in names and root[:2] > names[topic]
        }
        self._beginner, self._lasting = bool(names), None
        # Who links from now on is not told these: they must be told if they stay after all.
        self._changed |= dict.fromkeys(self._expected)

    def _expect_no_more(self) -> None:
        self._beginner, self._expected, self._lasting = False, {}, None
        self.due = min((doubt.until for doubt in self._doubts.values()), default=inf)

    def _is_passing(self, topic: Topic) -> bool:
        """Tell whether a root will surely give way to another one: nobody need hear of it."""
        return topic in self._expected

    def _judge(self, topic: Topic, peer: NodeId, offer: Root, now: float) -> None:
        """Follow a parent; take a neighbor with a better root as the parent."""
        if now < self._ready:
            return
        mine = self.table[topic]
        life, name, hops = offer
        same = name == mine[1] and life == mine[0]
        if not same and offer < mine and self._believes(topic, peer, offer):
            self._set(topic, (life, name, hops + 1), peer, now)
        elif self._parents.get(topic) == peer:
            if not same or hops >= MOST_HOPS:
                self._seek_parent(topic, now)
            elif hops + 1 != mine[2]:
                self._set(topic, (life, name, hops + 1), peer, now)

    def _believes(self, topic: Topic, peer: NodeId, offer: Root) -> bool:
        """Tell whether an offer can be taken: a root names itself, and old news is not believed."""
        _, name, hops = offer
        if not 0 <= hops < MOST_HOPS or (hops == 0) != (name == peer) or name == self._context.name:
            return False
        doubt = self._doubts.get(topic) if self._doubts else None
        return doubt is None or offer[:2] != doubt.root or hops < doubt.hops

    def _nowhere(self, root: Root) -> Root:
        """Return what stands for a root that cannot be compared with others: nobody believes in it."""
        return root[0], self._context.name, MOST_HOPS

    def _seek_parent(self, topic: Topic, now: float) -> None:
        """Find another path to the root, or name another root."""
        mine = self.table[topic]
        found = self._other_parent(topic)
        if found is not None:
            self._set(topic, (*mine[:2], self._offers[topic][found][2] + 1), found, now)
            return
        context = self._context
        until = now + HOLD * context.settings.heartbeat
        self._doubts[topic] = _Doubt(mine[:2], self._least[topic], until)
        self.due = min(self.due, until)
        self._expected.pop(topic, None)  # whatever comes next: that the old root is gone must be told
        self._lasting = None
        self._take_best(topic, now)
        # Not more often than that: a neighbor may take its root back again and again.
        self.urgent = min(self.urgent, max(now, self._told_at + context.settings.connect_timeout))

    def _take_best(self, topic: Topic, now: float) -> None:
        """Name the best root that a neighbor offers and can be believed, or this node."""
        best: Root = (self._context.life, self._context.name, 0)
        parent: NodeId | None = None
        for peer, offer in self._offers[topic].items():
            if offer >= best or (offer[1] == best[1] and offer[0] == best[0]):
                continue
            if self._believes(topic, peer, offer):
                best, parent = (offer[0], offer[1], offer[2] + 1), peer
        self._set(topic, best, parent, now)

    def _has_other_parent(self, topic: Topic, without: NodeId) -> bool:
        """Tell whether there is another neighbor that `_other_parent` could return."""
        life, name, _ = self.table[topic]
        fewest, own = self._least[topic], self._context.name
        for peer, offer in self._offers[topic].items():
            if offer[2] > fewest or offer[1] != name or offer[0] != life or peer == without:
                continue
            if (offer[2], peer) < (fewest, own) and self._believes(topic, peer, offer):
                return True
        return False

    def _other_parent(self, topic: Topic) -> NodeId | None:
        """Return the nearest neighbor on a path to the same root that cannot lead through this node."""
        life, name, _ = self.table[topic]
        fewest = self._least[topic]
        nearest = self._context.name
        found: NodeId | None = None
        for peer, offer in self._offers[topic].items():
            # Most of them are further away: that is seen first.
            if offer[2] > fewest or offer[1] != name or offer[0] != life:
                continue
            if (offer[2], peer) < (fewest, nearest) and self._believes(topic, peer, offer):
                fewest, nearest, found = offer[2], peer, peer
        return found

    def _set(self, topic: Topic, root: Root, parent: NodeId | None, now: float) -> None:
        self.moves += 1
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
        same = before is not None and before[1] == root[1] and before[0] == root[0]
        if not same and topic in self._expected and root[:2] <= self._expected[topic]:
            del self._expected[topic]
        self._least[topic] = min(root[2], self._least[topic]) if same else root[2]
        if self._lent:
            self.table, self._lent = dict(self.table), False
        self.table[topic] = root
        self._lasting = None
        self._changed[topic] = None
        if not same:
            self._since[topic] = now
        # Whoever told no news for a heartbeat passes them on at once; others wait for their next beat, and so
        # do beginners: what they tell then is mostly the last word.
        if self.urgent == inf and not self._beginner:
            settings = self._context.settings
            if now - self._told_at > settings.heartbeat:
                self.urgent = now + settings.connect_timeout


def sort_topics(topics: Iterable[Topic]) -> list[Topic]:
    """Return topics in an order that is the same in all runs, whatever their types."""
    return sorted(topics, key=lambda topic: (isinstance(topic, str), topic))

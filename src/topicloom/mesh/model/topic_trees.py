"""How topics travel over an overlay: a spanning tree of each, classes of topics, links that carry them.

Values only; mesh/topic_trees/ makes and checks them. Numbers are those of the interest's nodes and topics.
"""

from __future__ import annotations

from dataclasses import dataclass

from topicloom.base.arrays import Ints, Longs, freeze_fields
from topicloom.overlay.model.interest import Interest


@dataclass(frozen=True, slots=True, eq=False)
class TopicTrees:
    """A rooted spanning tree of every topic's subscribers.

    The tree of topic t has the edges child[i] - parent[i] for starts[t] <= i < starts[t + 1], one for each
    subscriber but the root, and the root roots[t].
    """

    interest: Interest
    starts: Longs
    child: Ints
    parent: Ints
    roots: Ints

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def n_topics(self) -> int:
        return len(self.roots)

    def edges_of(self, topic: int) -> tuple[Ints, Ints]:
        """Return (children, parents) of the tree of this topic."""
        here = slice(int(self.starts[topic]), int(self.starts[topic + 1]))
        return self.child[here], self.parent[here]


@dataclass(frozen=True, slots=True, eq=False)
class ForestPacking:
    """Topics in classes such that the trees of each class together hold no cycle.

    For brokers that refuse a cycle among all links of one account: a class becomes an account.
    """

    trees: TopicTrees
    class_of: Ints

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def n_classes(self) -> int:
        return int(self.class_of.max()) + 1 if len(self.class_of) else 0


@dataclass(frozen=True, slots=True)
class PlannedLink:
    """One connection: `dialer` opens it to `acceptor`, and it carries these topics both ways.

    `backups` are nodes the dialer may turn to when the acceptor is gone, in this order; whichever links of
    a deployment do so, no topic gets a cycle. `topic_class` is the class of a forest packing, else -1.
    """

    dialer: int
    acceptor: int
    topics: tuple[int, ...]
    topic_class: int = -1
    backups: tuple[int, ...] = ()

"""What a gossiped view knows of a node, and its side table of nodes that share topics with this one.

A uniform view of some dozen nodes rarely holds a subscriber of a rare topic, but hundreds of descriptors pass
through it. Those that share a topic with this node are also noted in the side table, a few for each topic,
first come first kept: common topics are soon full and leave room to rare ones. It is never passed on.
"""

from __future__ import annotations

from typing import NamedTuple

from topicloom.spidercast.protocol.messages import NodeId, RootNames, Topic, Topics

NO_ROOTS: RootNames = {}


class Known(NamedTuple):
    """What is known of a node. Of two, the greater is the newer one (lives and versions first)."""

    life: int
    version: int
    since: float  # local time at which the node itself said so
    interest: Topics
    roots: RootNames = NO_ROOTS
    first_hand: bool = False

    def beats(self, other: Known) -> bool:
        if other.first_hand and not self.first_hand and self.since <= other.since:
            return False  # said before the node itself spoke, whatever number it names
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

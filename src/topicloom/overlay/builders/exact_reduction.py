"""Makes the problem of the exact builder smaller without changing its optimum.

Every step has a proof, in its docstring. Two tempting ones are not here because they are false: linking nodes
of identical interest first, and hanging a node under one that wants all it wants. (Chen et al. 2015, "data
reduction for subset interconnection design", point at such flaws; a test holds a counterexample.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from topicloom.overlay.model.interest import Interest

Topic = frozenset[int]


@dataclass(frozen=True, slots=True)
class Part:
    """Nodes linked by shared topics, with the topics among them; different parts have nothing in common."""

    nodes: tuple[int, ...]
    topics: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class ReducedInterest:
    """Parts to solve one by one, and leaves: nodes that get one edge, to any of the nodes beside them.

    Leaves are in the order they were taken away; put them back in the reverse order.
    """

    parts: tuple[Part, ...]
    leaves: tuple[tuple[int, tuple[int, ...]], ...]


def reduce_interest(interest: Interest, *, leaves: bool) -> ReducedInterest:
    """Return the parts that are left to solve; `leaves=True` is right for the number of edges only.

    >>> pairs = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("c", "x"), ("d", "x")]
    >>> reduce_interest(Interest.from_pairs(pairs), leaves=True).leaves
    ((0, (1, 2, 3)), (3, (1, 2)), (1, (2,)))
    """
    topics = {frozenset(interest.nodes_of(topic).tolist()) for topic in range(interest.n_topics)}
    taken: list[tuple[int, tuple[int, ...]]] = []
    while True:
        topics = essential(topics)
        stripped, more = strip_leaves(topics) if leaves else (topics, [])
        if not more:
            return ReducedInterest(tuple(_parts(topics)), tuple(taken))
        topics, taken = stripped, taken + more


def essential(topics: Iterable[Topic]) -> set[Topic]:
    """Return the topics that demand something the others do not.

    A topic of one subscriber demands nothing, one with the subscribers of another demands the same. And where
    topics strictly inside a topic hang together over all its subscribers, connecting them connects it.
    """
    kept = {topic for topic in topics if len(topic) > 1}
    by_node: dict[int, list[Topic]] = {}
    for topic in kept:
        for node in topic:
            by_node.setdefault(node, []).append(topic)
    return {topic for topic in kept if not _implied(topic, by_node)}


def _implied(topic: Topic, by_node: dict[int, list[Topic]]) -> bool:
    shared = Counter(other for node in topic for other in by_node[node])
    inside = [other for other, count in shared.items() if count == len(other) < len(topic)]
    groups = _groups(inside)
    return len(groups) == 1 and len(groups[0]) == len(topic)


def strip_leaves(topics: Iterable[Topic]) -> tuple[set[Topic], list[tuple[int, tuple[int, ...]]]]:
    """Take away the nodes with a single topic, one by one, and say whom each may be hung under.

    Such a node serves one topic only. Of its edges (to a, b, c, ...) all but the first can be moved to the
    first neighbor (a-b, a-c, ...): the topic stays connected and no edge is added. So some optimum has it
    as a leaf, under anyone of the topic.
    """
    members = [set(topic) for topic in sorted(topics, key=sorted)]
    wanted: dict[int, list[int]] = {}
    for number, own in enumerate(members):
        for node in own:
            wanted.setdefault(node, []).append(number)
    taken = []
    for node in sorted(wanted):
        own = members[wanted[node][0]]
        if len(wanted[node]) == 1 and len(own) > 1:
            own.remove(node)
            taken.append((node, tuple(sorted(own))))
    return {frozenset(own) for own in members}, taken


def _groups(topics: Iterable[Topic]) -> list[set[int]]:
    """Return the nodes of topics that hang together, group by group."""
    groups: list[set[int]] = []
    for topic in topics:
        joined = set(topic)
        apart = []
        for group in groups:
            if joined.isdisjoint(group):
                apart.append(group)
            else:
                joined |= group
        groups = [*apart, joined]
    return groups


def _parts(topics: set[Topic]) -> list[Part]:
    """Return the parts, smallest first: where time runs out, many small proofs beat half of a large one."""
    ordered = sorted(topics, key=sorted)
    parts = []
    for group in _groups(ordered):
        inside = tuple(tuple(sorted(topic)) for topic in ordered if min(topic) in group)
        parts.append(Part(tuple(sorted(group)), inside))
    return sorted(parts, key=lambda part: (len(part.nodes), part.nodes))

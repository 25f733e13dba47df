"""Backups tried out: every choice that the dialers of a topic or a class may make, all at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from topicloom.mesh.model.topic_trees import PlannedLink
from topicloom.overlay.model.interest import Interest

Edge = tuple[int, int]


def choices(links: Sequence[PlannedLink]) -> Iterator[list[Edge]]:
    """The edges of all combinations of acceptors and backups."""
    for ends in product(*((link.acceptor, *link.backups) for link in links)):
        yield [(link.dialer, end) for link, end in zip(links, ends, strict=True)]


def unsafe_choice(interest: Interest, links: Sequence[PlannedLink], *, classes: bool) -> list[Edge] | None:
    """A choice that closes a cycle or splits a topic while all nodes live."""
    for topic in range(interest.n_topics):
        own = [link for link in links if topic in link.topics]
        members = set(interest.nodes_of(topic).tolist())
        for edges in choices(own):
            inside = all(end in members for edge in edges for end in edge)
            if not inside or has_cycle(edges) or len(edges) != len(members) - 1:
                return edges  # without a cycle, one edge fewer than nodes is a spanning tree
    for where in sorted({link.topic_class for link in links}) if classes else ():
        for edges in choices([link for link in links if link.topic_class == where]):
            if has_cycle(edges):
                return edges
    return None


def has_cycle(edges: list[Edge]) -> bool:
    """Whether some edge joins two nodes that those before it joined; a second link over an edge does."""
    colour = {end: end for edge in edges for end in edge}
    for a, b in edges:
        old, new = colour[a], colour[b]
        if old == new:
            return True
        for end in colour:
            if colour[end] == old:
                colour[end] = new
    return False

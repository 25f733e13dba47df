"""Which way a link must carry a topic, by who publishes it and who receives it.

Without a link the tree of a topic is in two parts. Messages cross the link one way if there is a publisher on
the one side and a receiver on the other. A topic with one publisher so goes away from it on every link, and
what brokers retain cannot come back. Where links have backups, a direction is needed that any choice of their
ends needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshTopic

OUT, IN, BOTH = "out", "in", "both"  # as the dialer sees it
Directions = dict[tuple[str, str], str]  # of a link and a topic, by name; both ways where it has none
MOST_CHOICES = 256  # of ends of links; with more, both directions stay


def directions_of(mesh: Mesh) -> Directions:
    """Return the directions of topics whose roles are known."""
    carrying: dict[str, list[MeshLink]] = {}
    for link in mesh.links:
        for name in link.topics:
            carrying.setdefault(name, []).append(link)
    found: Directions = {}
    for topic in mesh.topics:
        if topic.publishers is not None or topic.receivers is not None:
            links = carrying.get(topic.topic, [])
            for link, needed in zip(links, _needed(topic, links), strict=True):
                found[link.name, topic.topic] = needed
    return found


def _needed(topic: MeshTopic, links: Sequence[MeshLink]) -> list[str]:
    """Return the direction of each link."""
    ends = [(link.acceptor, *link.backups) for link in links]
    if prod(map(len, ends)) > MOST_CHOICES:
        return [BOTH] * len(links)
    out, into = [False] * len(links), [False] * len(links)
    for choice in product(*ends):
        for at, goes_out, comes_in in _crossed(
            topic, [(link.dialer, end) for link, end in zip(links, choice, strict=True)]
        ):
            out[at] |= goes_out
            into[at] |= comes_in
    return [BOTH if goes == comes else OUT if goes else IN for goes, comes in zip(out, into, strict=True)]


def _crossed(topic: MeshTopic, links: Sequence[tuple[str, str]]) -> Iterator[tuple[int, bool, bool]]:
    """Yield for each link (dialer, acceptor) of a forest whether messages cross it outwards, and inwards."""
    near: dict[str, list[tuple[str, int]]] = {}
    for at, (dialer, acceptor) in enumerate(links):
        near.setdefault(dialer, []).append((acceptor, at))
        near.setdefault(acceptor, []).append((dialer, at))
    senders, hearers = set(topic.senders), set(topic.hearers)
    sends = {node: int(node in senders) for node in near}
    hears = {node: int(node in hearers) for node in near}
    seen: set[str] = set()
    for root in near:
        if root in seen:
            continue
        seen.add(root)
        below: list[tuple[str, str, int]] = []  # a node, the one above it, the link between them
        queue = [root]
        for node in queue:
            for other, at in near[node]:
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
                    below.append((other, node, at))
        for node, above, _ in reversed(below):
            sends[above] += sends[node]
            hears[above] += hears[node]
        for node, _, at in below:
            up = bool(sends[node] and hears[root] - hears[node])
            down = bool(hears[node] and sends[root] - sends[node])
            yield (at, up, down) if links[at][0] == node else (at, down, up)

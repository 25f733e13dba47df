"""Brokers that are touched in the first phase have their files of the second at once, where that is safe.

So they are touched once. A broker then has either its old links or its last ones while the first phase goes
on; what it drops and what it dials instead is one link that turns, as everywhere. Only for kinds without
accounts, without logins and without roles: elsewhere the other end of a link must know of it first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from topicloom.mesh.model.mesh import Mesh, MeshLink

Loops = Callable[[Mesh, Mesh], bool]  # whether states from one mesh to another may hold a loop


def settle_early(old: Mesh, between: Mesh, new: Mesh, loops: Loops) -> Mesh:
    """Return the mesh of the first phase with the last links of those brokers that can have them."""
    if old.accounts or any(node.user for node in old.nodes) or _has_roles(old) or _has_roles(new):
        return between
    stay = {node.name for node in old.nodes} & {node.name for node in new.nodes}
    topics = {topic.topic for topic in old.topics}
    for node in sorted(stay):
        own, last = _dialled(between, node), _dialled(new, node)
        if own == last or own == _dialled(old, node):
            continue
        known = all(
            {link.acceptor, *link.backups} <= stay and topics.issuperset(link.topics) for link in last
        )
        others = tuple(link for link in between.links if link.dialer != node)
        settled = replace(between, links=(*others, *last))
        if known and not loops(old, settled):
            between = _wanting(settled, last)
    return between


def _dialled(mesh: Mesh, node: str) -> list[MeshLink]:
    return [link for link in mesh.links if link.dialer == node]


def _has_roles(mesh: Mesh) -> bool:
    return any(topic.publishers is not None or topic.receivers is not None for topic in mesh.topics)


def _wanting(mesh: Mesh, links: list[MeshLink]) -> Mesh:
    """Return the mesh with those to whom links lead a topic among its subscribers."""
    ends: dict[str, dict[str, None]] = {}
    for link in links:
        for topic in link.topics:
            ends.setdefault(topic, {}).update(dict.fromkeys((link.dialer, link.acceptor, *link.backups)))
    return replace(
        mesh,
        topics=tuple(
            replace(topic, subscribers=tuple(dict.fromkeys((*topic.subscribers, *ends.get(topic.topic, ())))))
            for topic in mesh.topics
        ),
    )

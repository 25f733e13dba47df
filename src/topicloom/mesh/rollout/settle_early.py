"""Brokers that are touched in the first phase have their files of the second at once, where that is safe.

So they are touched once. A broker then has either its old links or its last ones while the first phase goes
on; what it drops and what it dials instead is one link that turns, as everywhere. Only without logins and
without roles, else the other end of a link must know of it first; and where both ends have had the account of
the link before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from topicloom.mesh.model.mesh import Mesh, MeshLink

Loops = Callable[[Mesh, Mesh], bool]  # whether states from one mesh to another may hold a loop


def settle_early(old: Mesh, between: Mesh, new: Mesh, loops: Loops) -> Mesh:
    """Return the mesh of the first phase with the last links of those brokers that can have them."""
    if any(node.user for node in old.nodes) or _has_roles(old) or _has_roles(new):
        return between
    stay = {node.name for node in old.nodes} & {node.name for node in new.nodes}
    account_of = {topic.topic: topic.account for topic in old.topics}
    before, after = _served(old), _served(new)
    for node in sorted(stay):
        own, last = _dialled(between, node), _dialled(new, node)
        if own == last or own == _dialled(old, node):
            continue
        known = before[node] == after[node] and all(
            {link.acceptor, *link.backups} <= stay
            and all(account_of.get(topic, "") == link.account for topic in link.topics)
            and all(link.account in before[end] for end in (node, link.acceptor, *link.backups))
            for link in last
        )
        others = tuple(link for link in between.links if link.dialer != node)
        settled = replace(between, links=(*others, *last))
        if known and not loops(old, settled):
            between = _wanting(settled, last)
    return between


def _served(mesh: Mesh) -> dict[str, set[str | None]]:
    """Return the accounts of each node; None is that of links without one."""
    found: dict[str, set[str | None]] = {node.name: {None} for node in mesh.nodes}
    for topic in mesh.topics:
        for node in topic.subscribers:
            found[node].add(topic.account)
    return found


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

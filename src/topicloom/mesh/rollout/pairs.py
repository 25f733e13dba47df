"""Which pairs of nodes may have a link in the new mesh, and which of the old links may go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.rollout.change import Groups, Pair, pair
from topicloom.overlay.model.overlay import Overlay


def may_link(old: Mesh, overlay: Overlay, nodes: Sequence[str]) -> dict[str, set[str]]:
    """Return who may have a link with whom: by the new overlay, and who has one."""
    near: dict[str, set[str]] = {node: set() for node in nodes}
    edges = [(nodes[u], nodes[v]) for u, v in zip(overlay.u.tolist(), overlay.v.tolist(), strict=True)]
    for one, other in [*edges, *((link.dialer, link.acceptor) for link in old.links)]:
        if one in near and other in near:
            near[one].add(other)
            near[other].add(one)
    return near


def let_go(
    old: Mesh,
    members: Mapping[str, Sequence[str]],
    near: Mapping[str, set[str]],
    overlay: Overlay,
    most: int,
) -> frozenset[Pair]:
    """Choose up to so many linked pairs that topics can do without: those the overlay has not, then those
    that carry least."""
    if not most:
        return frozenset()
    names: list[str] = overlay.node_ids.to_pylist()
    wanted = {pair(names[u], names[v]) for u, v in zip(overlay.u.tolist(), overlay.v.tolist(), strict=True)}
    carried: dict[Pair, set[str]] = {}
    for link in old.links:
        carried.setdefault(pair(link.dialer, link.acceptor), set()).update(link.topics)
    gone: set[Pair] = set()
    for ends in sorted(carried, key=lambda ends: (ends in wanted, len(carried[ends]), ends)):
        if len(gone) < most and all(
            _joined(set(own), near, gone | {ends}) for own in members.values() if set(ends) <= set(own)
        ):
            gone.add(ends)
    return frozenset(gone)


def _joined(own: set[str], near: Mapping[str, set[str]], without: set[Pair]) -> bool:
    groups = Groups(own)
    for node in own:
        for other in near.get(node, set()) & own:
            if pair(node, other) not in without:
                groups.join(node, other)
    return groups.count <= 1

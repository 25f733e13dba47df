"""From the leaf connections that servers tell of to the links of a mesh: which are up, and what crossed them.

The dialer of a leaf connection names the acceptor by its port; the acceptor sees only a passing port, and no
name (nats-server 2.9). So a link is read at its dialer, and of an acceptor only the number of connections
that it took in an account, and the sums of their counters.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from topicloom.mesh.kinds.nats.crossings import Crossing, LinkCounts, NodeAccount, names_wanted
from topicloom.mesh.kinds.nats.monitor import LeafConnection, read_leafs
from topicloom.mesh.model.mesh import Mesh, MeshLink

Leafs = Mapping[str, Sequence[LeafConnection]]  # node -> its leaf connections


async def read_all_leafs(mesh: Mesh, *, subjects: bool = False) -> Leafs:
    """The leaf connections of every server; servers that do not answer have none."""
    ports = {node.name: node.ports["monitor"] for node in mesh.nodes}
    found = await asyncio.gather(*(read_leafs(port, subjects=subjects) for port in ports.values()))
    return {name: leafs or [] for name, leafs in zip(ports, found, strict=True)}


def live_links(mesh: Mesh, leafs: Leafs) -> list[MeshLink]:
    """The links that both ends have; one that stands at a backup has that as its acceptor."""
    dialled = [link for link, _ in _dialled(mesh, leafs)]
    taken = Counter((node, leaf.account) for node, more in _taken(mesh, leafs).items() for leaf in more)
    needed = Counter((link.acceptor, link.account or "") for link in dialled)
    return [
        link
        for link in dialled
        if taken[link.acceptor, link.account or ""] >= needed[link.acceptor, link.account or ""]
    ]


def count_messages(mesh: Mesh, leafs: Leafs) -> LinkCounts:
    """What the servers have counted since the leaf connections were made."""
    crossed: dict[Crossing, int] = {}
    for link, leaf in _dialled(mesh, leafs):
        crossed[link.name, link.dialer] = leaf.in_msgs
        crossed[link.name, link.acceptor] = leaf.out_msgs
    accepted: dict[NodeAccount, tuple[int, int]] = {}
    for node, more in _taken(mesh, leafs).items():
        for leaf in more:
            inwards, outwards = accepted.get((node, leaf.account), (0, 0))
            accepted[node, leaf.account] = inwards + leaf.in_msgs, outwards + leaf.out_msgs
    return LinkCounts(crossed, accepted)


def missing_interest(mesh: Mesh, leafs: Leafs) -> int:
    """How many subjects have not yet been announced to a server that must forward them.

    Both ends of a link must know of the other's interest in every topic that the link carries. An acceptor
    has no names for its connections, so it is asked how many of them announced the subject.
    """
    missing = 0
    wanted = names_wanted(mesh)
    due: Counter[tuple[str, str, str]] = Counter()
    for link, leaf in _dialled(mesh, leafs):
        ends = [(end, link.account or "") for end in (link.dialer, link.acceptor)]
        names = wanted.get(ends[0], set()) & wanted.get(ends[1], set())
        missing += len(names - leaf.subjects)
        due.update((link.acceptor, link.account or "", name) for name in names)
    announced = Counter(
        (node, leaf.account, name)
        for node, more in _taken(mesh, leafs).items()
        for leaf in more
        for name in leaf.subjects
    )
    return missing + sum(max(count - announced[key], 0) for key, count in due.items())


def _dialled(mesh: Mesh, leafs: Leafs) -> list[tuple[MeshLink, LeafConnection]]:
    """Each link that its dialer has, with where it leads now, and the dialer's leaf connection."""
    leaf_port = {node.name: node.ports["leaf"] for node in mesh.nodes}
    found = []
    for link in mesh.links:
        ends = {leaf_port[end]: end for end in (*reversed(link.backups), link.acceptor)}
        for leaf in leafs.get(link.dialer, ()):
            if leaf.account == link.account and leaf.port in ends:
                found.append((replace(link, acceptor=ends[leaf.port]), leaf))
                break
    return found


def _taken(mesh: Mesh, leafs: Leafs) -> dict[str, list[LeafConnection]]:
    """The leaf connections of each server, in accounts of the mesh, that are none of its own links."""
    own = {(link.dialer, leaf) for link, leaf in _dialled(mesh, leafs)}
    return {
        node: [leaf for leaf in more if leaf.account in mesh.accounts and (node, leaf) not in own]
        for node, more in leafs.items()
    }

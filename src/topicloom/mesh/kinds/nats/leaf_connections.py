"""Leaf connections as NATS servers report them on their monitoring ports: links that are up, their counters.

The dialer of a leaf connection names the acceptor by its port; the acceptor sees only an ephemeral port, and
no name (nats-server 2.9). So a link is read at its dialer, and of an acceptor only the number of connections
that it took in an account, and the sums of their counters. Reading is a few lines of HTTP on the event loop,
so that hundreds of servers can be asked at once.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from topicloom.mesh.kinds.nats.crossings import Crossing, LinkCounts, shared_topics
from topicloom.mesh.model.config_files import LOOPBACK
from topicloom.mesh.model.directions import BOTH, IN, OUT, directions_of
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshTopic, NodeAccount, wanted_topics

ANSWER = 10.0  # seconds a server may take for one answer


class LeafConnection(msgspec.Struct, frozen=True):
    """One leaf connection of a server, as it reports it.

    `port` is the remote end's: the leaf port of the acceptor where this server dialled, else an ephemeral
    one. `subjects` is what the other end has announced interest in, if it was asked for.
    """

    account: str
    port: int
    in_msgs: int
    out_msgs: int
    subjects: frozenset[str] = msgspec.field(default=frozenset(), name="subscriptions_list")


Leafs = Mapping[str, Sequence[LeafConnection]]  # of each node


async def read_all_leafs(mesh: Mesh, *, subjects: bool = False) -> Leafs:
    """Ask every server for its leaf connections; servers that do not answer have none."""
    ports = {node.name: node.ports["monitor"] for node in mesh.nodes}
    found = await asyncio.gather(*(read_leafs(port, subjects=subjects) for port in ports.values()))
    return dict(zip(ports, found, strict=True))


async def read_leafs(port: int, *, subjects: bool = False) -> list[LeafConnection]:
    """Ask the server with this monitoring port for its leaf connections."""
    answer = await _get(port, "/leafz?subs=1" if subjects else "/leafz")
    return msgspec.convert(answer.get("leafs") or [], list[LeafConnection])


async def read_client_subjects(port: int) -> dict[str, set[str]]:
    """Return for each account the subjects that clients of this server have subscribed to."""
    answer = await _get(port, "/connz?subs=1&auth=1&limit=65536")
    found: dict[str, set[str]] = {}
    for client in answer.get("connections") or ():
        found.setdefault(client.get("account", ""), set()).update(client.get("subscriptions_list") or ())
    return found


async def _get(port: int, path: str) -> dict[str, Any]:
    """Get one document; an empty one if nobody answers, or not in full."""
    try:
        async with asyncio.timeout(ANSWER):
            reader, writer = await asyncio.open_connection(LOOPBACK, port)
            try:
                # HTTP/1.0: the server ends the answer by closing, so that nothing else marks its length.
                writer.write(f"GET {path} HTTP/1.0\r\nHost: {LOOPBACK}\r\n\r\n".encode())
                whole = await reader.read()
            finally:
                writer.close()
        head, _, body = whole.partition(b"\r\n\r\n")
        ok = b" 200 " in head.partition(b"\r\n")[0]
        return msgspec.json.decode(body, type=dict[str, Any]) if ok else {}
    except (OSError, TimeoutError, asyncio.IncompleteReadError, msgspec.DecodeError):
        return {}


def live_links(mesh: Mesh, leafs: Leafs) -> list[MeshLink]:
    """Return the links that both ends have; one that stands at a backup has that as its acceptor."""
    dialled = [link for link, _ in _dialled(mesh, leafs)]
    taken = Counter((node, leaf.account) for node, more in _taken(mesh, leafs).items() for leaf in more)
    needed = Counter((link.acceptor, link.account or "") for link in dialled)
    return [
        link
        for link in dialled
        if taken[link.acceptor, link.account or ""] >= needed[link.acceptor, link.account or ""]
    ]


def count_messages(mesh: Mesh, leafs: Leafs) -> LinkCounts:
    """Return what the servers have counted since the leaf connections were made."""
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
    """Count the subjects that have not yet been announced to a server that must forward them.

    Both ends of a link must know of the other's interest in every topic that the link carries, as far as
    somebody sends it here and somebody receives it there: with logins the others may not even announce it.
    An acceptor has no names for its connections, so it is asked how many of them
    announced the subject.
    """
    missing = 0
    wanted = wanted_topics(mesh)
    dialled = [
        (replace(link, topics=_shared(wanted, link), backups=()), leaf)  # it stands here now
        for link, leaf in _dialled(mesh, leafs)
    ]
    topics = {topic.topic: topic for topic in mesh.topics}
    ways = directions_of(replace(mesh, links=tuple(link for link, _ in dialled)))
    due: Counter[tuple[str, str, str]] = Counter()
    for link, leaf in dialled:
        heard = {topic: ways.get((link.name, topic), BOTH) for topic in link.topics}
        missing += len({topics[one].name for one, way in heard.items() if way != IN} - leaf.subjects)
        due.update(
            (link.acceptor, link.account or "", topics[one].name) for one, way in heard.items() if way != OUT
        )
    announced = Counter(
        (node, leaf.account, name)
        for node, more in _taken(mesh, leafs).items()
        for leaf in more
        for name in leaf.subjects
    )
    return missing + sum(max(count - announced[key], 0) for key, count in due.items())


def _shared(wanted: Mapping[NodeAccount, Sequence[MeshTopic]], link: MeshLink) -> tuple[str, ...]:
    return tuple(topic.topic for topic in shared_topics(wanted, link))


def _dialled(mesh: Mesh, leafs: Leafs) -> list[tuple[MeshLink, LeafConnection]]:
    """Return each link that its dialer has, with where it leads now, and the dialer's leaf connection."""
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
    """Return the leaf connections of each server, in accounts of the mesh, that are none of its own links."""
    own = {(link.dialer, leaf) for link, leaf in _dialled(mesh, leafs)}
    return {
        node: [leaf for leaf in more if leaf.account in mesh.accounts and (node, leaf) not in own]
        for node, more in leafs.items()
    }

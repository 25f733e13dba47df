"""A mesh of brokers as it is deployed: who runs where, who dials whom, what each topic is called there.

This is what the manifest of an exported folder holds. Values by name, not by number, so that a mesh can be
read without the interest it came from; and what follows from its links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from topicloom.mesh.model.search import search

NodeAccount = tuple[str, str]  # a node, and one of its accounts: "" where the kind has none
Neighbors = Mapping[str, set[str]]  # of each node

EXAMPLE = "topicloom-example"  # a token for each wildcard, where a proof needs a name to publish on


@dataclass(frozen=True, slots=True)
class MeshNode:
    """One node's broker: its host, its ports by purpose, its files within the folder.

    Ports: mosquitto `mqtt`; nats `client`, `leaf`, `monitor`; zenoh one for each account, by its name.
    """

    name: str
    host: str
    ports: Mapping[str, int]
    configs: tuple[str, ...]
    user: str | None = None


@dataclass(frozen=True, slots=True)
class MeshLink:
    """One connection between two brokers, opened by `dialer`; `name` is unique in the mesh."""

    name: str
    dialer: str
    acceptor: str
    topics: tuple[str, ...]
    account: str | None = None
    backups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MeshTopic:
    """One topic: what the brokers call it, the account its clients log in to, who wants it.

    Of a filter `name` is the filter, and `example` a name that it matches. Where the table has roles,
    `publishers` and `receivers` are those of the subscribers that publish and those that must get all.
    """

    topic: str
    name: str
    subscribers: tuple[str, ...]
    account: str | None = None
    example: str | None = None
    publishers: tuple[str, ...] | None = None
    receivers: tuple[str, ...] | None = None

    @property
    def sent_as(self) -> str:
        """Return a name to publish on: a filter has many."""
        return self.names_sent[0]

    @property
    def names_sent(self) -> tuple[str, ...]:
        """Return the names that a proof publishes on: two that a filter matches."""
        if self.example is None:
            return (self.name,)
        return (self.example, self.example.replace(EXAMPLE, f"{EXAMPLE}-2"))

    @property
    def senders(self) -> tuple[str, ...]:
        """Return the nodes that may publish: all, unless the table says otherwise."""
        return self.subscribers if self.publishers is None else self.publishers

    @property
    def hearers(self) -> tuple[str, ...]:
        """Return the nodes that must receive: all, unless the table says otherwise."""
        return self.subscribers if self.receivers is None else self.receivers


@dataclass(frozen=True, slots=True)
class Mesh:
    """All brokers of one deployment. `start_order`: accepting brokers first, as far as that is possible."""

    kind: str
    nodes: tuple[MeshNode, ...]
    links: tuple[MeshLink, ...]
    topics: tuple[MeshTopic, ...]
    start_order: tuple[str, ...]
    accounts: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)  # such as tls: the folder of certificates


def wanted_topics(mesh: Mesh) -> dict[NodeAccount, list[MeshTopic]]:
    """List the topics of each node in each account, to receive or only to publish."""
    wanted: dict[NodeAccount, list[MeshTopic]] = {}
    for topic in mesh.topics:
        for node in topic.subscribers:
            wanted.setdefault((node, topic.account or ""), []).append(topic)
    return wanted


def connections_per_node(mesh: Mesh) -> dict[str, int]:
    """Count the links that end at each node."""
    counts = Counter(end for link in mesh.links for end in (link.dialer, link.acceptor))
    return {node.name: counts[node.name] for node in mesh.nodes}


def neighbors_by_topic(links: Iterable[tuple[str, str, Sequence[str]]]) -> dict[str, dict[str, set[str]]]:
    """Return for each topic the neighbors of each node, over links (end, other end, topics)."""
    found: dict[str, dict[str, set[str]]] = {}
    for one, other, topics in links:
        for topic in topics:
            near = found.setdefault(topic, {})
            near.setdefault(one, set()).add(other)
            near.setdefault(other, set()).add(one)
    return found


def components_of(nodes: Iterable[str], near: Neighbors) -> list[list[str]]:
    """Return the components of the graph on these nodes alone, in the order given."""
    wanted = dict.fromkeys(nodes)
    components: list[list[str]] = []
    seen: set[str] = set()
    for node in wanted:
        if node not in seen:
            reached = _hops_from(node, near, wanted)
            seen |= reached.keys()
            components.append([other for other in wanted if other in reached])
    return components


def hops_max(mesh: Mesh) -> int:
    """Return the most links that a message crosses between two subscribers of a topic, as configured."""
    return max(hops_by_topic(mesh).values(), default=0)


def hops_by_topic(mesh: Mesh) -> dict[str, int]:
    """Return for each topic the most links that a message crosses between two of its subscribers."""
    near = neighbors_by_topic((link.dialer, link.acceptor, link.topics) for link in mesh.links)
    return {topic.topic: _diameter(topic.subscribers, near.get(topic.topic, {})) for topic in mesh.topics}


def _diameter(subscribers: Sequence[str], near: Neighbors) -> int:
    """Return the largest diameter of a component."""
    widest = 0
    for component in components_of(subscribers, near):
        inside = dict.fromkeys(component)
        edges = sum(len(near.get(node, set()) & inside.keys()) for node in component) // 2
        far = _hops_from(component[0], near, inside)
        # In a tree the farthest node from anywhere is one end of a longest path.
        ends = [max(far, key=far.__getitem__)] if edges == len(component) - 1 else component
        widest = max(widest, *(max(_hops_from(end, near, inside).values()) for end in ends))
    return widest


def _hops_from(start: str, near: Neighbors, inside: Mapping[str, None]) -> dict[str, int]:
    hops = {start: 0}
    for node, before in search(start, lambda node: near.get(node, set()) & inside.keys()).items():
        hops.setdefault(node, hops[before] + 1)
    return hops

"""What is published, who must get it, and the judgement on what arrived. No input or output here.

Every subscriber of a topic must get every message on it exactly once, the publisher's own node too; and no
broker may carry a message of a topic that its node does not want. Whatever arrives beside that is told with
witnesses.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from topicloom.base.seeds import generator
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.run.adapter import Arrival, Publication, Stray

WITNESSES = 20


@dataclass(frozen=True, slots=True)
class MissingDelivery:
    """`node` wants `topic` but did not get message number `message`, which `publisher` published."""

    topic: str
    message: int
    publisher: str
    node: str


@dataclass(frozen=True, slots=True)
class DeliveryVerdict:
    """What was due and what came; witnesses are the first few of each fault."""

    published: int
    expected: int
    delivered: int
    duplicates: int
    strays: int
    missing: tuple[MissingDelivery, ...] = ()
    duplicate_witnesses: tuple[Arrival, ...] = ()
    stray_witnesses: tuple[Stray, ...] = ()

    @property
    def exact(self) -> bool:
        return self.delivered == self.expected and self.duplicates == 0 and self.strays == 0


def plan_publications(mesh: Mesh, messages: int, *, seed: int = 0, first: int = 0) -> list[Publication]:
    """`messages` on every topic, in turn from its subscribers in a seeded order, topics taking turns.

    Numbers begin at `first` and are unique over all topics. A topic without subscribers has no publisher.
    """
    orders: dict[str, list[str]] = {}
    for topic in mesh.topics:
        order = generator(seed, "publishers", topic.topic).permutation(len(topic.subscribers))
        orders[topic.topic] = [topic.subscribers[place] for place in order]
    planned: list[Publication] = []
    for turn in range(messages):
        for name, publishers in orders.items():
            if publishers:
                number = first + len(planned)
                planned.append(Publication(publishers[turn % len(publishers)], name, number))
    return planned


def due_arrivals(mesh: Mesh, publications: Iterable[Publication]) -> set[Arrival]:
    """Who must get what."""
    subscribers = {topic.topic: topic.subscribers for topic in mesh.topics}
    return {
        Arrival(node, publication.topic, publication.message)
        for publication in publications
        for node in subscribers[publication.topic]
    }


def judge(
    mesh: Mesh,
    publications: Sequence[Publication],
    arrivals: Mapping[Arrival, int],
    strays: Sequence[Stray] = (),
) -> DeliveryVerdict:
    """Compare what arrived, and how often, with what was due."""
    due = due_arrivals(mesh, publications)
    publishers = {publication.message: publication.node for publication in publications}
    missing = sorted(due - arrivals.keys(), key=_order)
    repeated = sorted((arrival for arrival, count in arrivals.items() if count > 1), key=_order)
    undue = sorted((arrival for arrival in arrivals if arrival not in due), key=_order)
    carried = [*strays, *(_undue(arrival, arrivals[arrival], publishers) for arrival in undue)]
    return DeliveryVerdict(
        published=len(publications),
        expected=len(due),
        delivered=len(due) - len(missing),
        duplicates=sum(arrivals[arrival] - 1 for arrival in repeated if arrival in due),
        strays=sum(stray.count for stray in carried),
        missing=tuple(
            MissingDelivery(one.topic, one.message, publishers[one.message], one.node)
            for one in missing[:WITNESSES]
        ),
        duplicate_witnesses=tuple(arrival for arrival in repeated if arrival in due)[:WITNESSES],
        stray_witnesses=tuple(carried[:WITNESSES]),
    )


def _order(arrival: Arrival) -> tuple[int, str, str]:
    return arrival.message, arrival.topic, arrival.node


def _undue(arrival: Arrival, count: int, publishers: Mapping[int, str]) -> Stray:
    """A client got what it was not due: on another topic than it was published on, or by nobody."""
    origin = publishers.get(arrival.message)
    by = "that nobody published" if origin is None else f"that {origin} published, but not for it"
    return Stray(arrival.node, count, f"got message {arrival.message} on {arrival.topic}, {by}")


# --- what the links say ----------------------------------------------------------------------------


def connections_per_node(mesh: Mesh) -> dict[str, int]:
    """How many links end at each node."""
    counts = Counter(end for link in mesh.links for end in (link.dialer, link.acceptor))
    return {node.name: counts[node.name] for node in mesh.nodes}


def neighbors_by_topic(
    links: Iterable[tuple[str, str, Sequence[str]]],
) -> dict[str, dict[str, set[str]]]:
    """For each topic the neighbors of each node over links (end, other end, topics)."""
    found: dict[str, dict[str, set[str]]] = {}
    for one, other, topics in links:
        for topic in topics:
            near = found.setdefault(topic, {})
            near.setdefault(one, set()).add(other)
            near.setdefault(other, set()).add(one)
    return found


def parts_of(nodes: Iterable[str], near: Mapping[str, set[str]]) -> list[list[str]]:
    """The parts in which these nodes hang together through each other, in the order given."""
    wanted = dict.fromkeys(nodes)
    parts: list[list[str]] = []
    seen: set[str] = set()
    for node in wanted:
        if node not in seen:
            reached = _hops_from(node, near, wanted)
            seen |= reached.keys()
            parts.append([other for other in wanted if other in reached])
    return parts


def hops_max(mesh: Mesh) -> int:
    """The most links a message crosses between two subscribers of a topic, over the links as configured."""
    near = neighbors_by_topic((link.dialer, link.acceptor, link.topics) for link in mesh.links)
    return max((_widest(topic.subscribers, near.get(topic.topic, {})) for topic in mesh.topics), default=0)


def _widest(subscribers: Sequence[str], near: Mapping[str, set[str]]) -> int:
    widest = 0
    for part in parts_of(subscribers, near):
        inside = dict.fromkeys(part)
        edges = sum(len(near.get(node, set()) & inside.keys()) for node in part) // 2
        far = _hops_from(part[0], near, inside)
        # In a tree the farthest node from anywhere is one end of a longest path.
        ends = [max(far, key=far.__getitem__)] if edges == len(part) - 1 else part
        widest = max(widest, *(max(_hops_from(end, near, inside).values()) for end in ends))
    return widest


def _hops_from(start: str, near: Mapping[str, set[str]], inside: Mapping[str, None]) -> dict[str, int]:
    hops = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for other in near.get(node, ()):
            if other in inside and other not in hops:
                hops[other] = hops[node] + 1
                queue.append(other)
    return hops

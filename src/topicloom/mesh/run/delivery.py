"""What is published, who must get it, and the verdict on what arrived. No input or output here.

Every receiver of a topic must get every message on it exactly once, the publisher's own node too; and no
broker may carry a message of a topic that its node does not want. Anything else is reported with witnesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from topicloom.base.seeds import generator
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.run.adapter import Arrival, Publication, Stray

WITNESSES = 20  # of each fault


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
    """Plan `messages` on every topic from its publishers in a seeded order, topics taking turns.

    Numbers begin at `first` and are unique over all topics. A topic without subscribers has no publisher.
    """
    publishers: dict[str, list[str]] = {}
    for topic in mesh.topics:
        order = generator(seed, "publishers", topic.topic).permutation(len(topic.senders))
        publishers[topic.topic] = [topic.senders[place] for place in order]
    turns = [(turn, name, own) for turn in range(messages) for name, own in publishers.items() if own]
    return [
        Publication(own[turn % len(own)], name, number)
        for number, (turn, name, own) in enumerate(turns, first)
    ]


def due_arrivals(mesh: Mesh, publications: Iterable[Publication]) -> set[Arrival]:
    """Return who must get what."""
    hearers = {topic.topic: topic.hearers for topic in mesh.topics}
    return {Arrival(node, one.topic, one.message) for one in publications for node in hearers[one.topic]}


def judge_delivery(
    mesh: Mesh,
    publications: Sequence[Publication],
    arrivals: Mapping[Arrival, int],
    strays: Sequence[Stray] = (),
) -> DeliveryVerdict:
    """Compare what arrived, and how often, with what was due."""
    due = due_arrivals(mesh, publications)
    publishers = {publication.message: publication.node for publication in publications}
    missing = sorted(due - arrivals.keys(), key=_order)
    repeated = sorted((one for one, count in arrivals.items() if count > 1 and one in due), key=_order)
    undue = sorted(arrivals.keys() - due, key=_order)
    carried = [*strays, *(_undue(arrival, arrivals[arrival], publishers) for arrival in undue)]
    return DeliveryVerdict(
        published=len(publications),
        expected=len(due),
        delivered=len(due) - len(missing),
        duplicates=sum(arrivals[arrival] - 1 for arrival in repeated),
        strays=sum(stray.count for stray in carried),
        missing=tuple(
            MissingDelivery(one.topic, one.message, publishers[one.message], one.node)
            for one in missing[:WITNESSES]
        ),
        duplicate_witnesses=tuple(repeated[:WITNESSES]),
        stray_witnesses=tuple(carried[:WITNESSES]),
    )


def _order(arrival: Arrival) -> tuple[int, str, str]:
    return arrival.message, arrival.topic, arrival.node


def _undue(arrival: Arrival, count: int, publishers: Mapping[int, str]) -> Stray:
    """Report a client that got what it was not due: published on another topic, or by nobody."""
    origin = publishers.get(arrival.message)
    by = "that nobody published" if origin is None else f"that {origin} published, but not for it"
    return Stray(arrival.node, count, f"got message {arrival.message} on {arrival.topic}, {by}")

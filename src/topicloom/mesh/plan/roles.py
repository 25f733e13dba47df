"""Who publishes a topic and who receives it, where the table of the build has roles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from topicloom.overlay.model.interest import Interest
from topicloom.tables.records import ROLES

SUB, PUB, _BOTH = range(len(ROLES))


@dataclass(frozen=True, slots=True)
class TopicRoles:
    """The publishers and the receivers of a topic by name; None where all are."""

    publishers: tuple[str, ...] | None = None
    receivers: tuple[str, ...] | None = None


def roles_of(interest: Interest) -> Mapping[str, TopicRoles]:
    """Return the roles of each topic; nothing where the table has none.

    A topic whose publishers nobody named may be published by all; one that nobody receives is carried to all,
    as if nothing had been said.
    """
    if interest.roles is None:
        return {}
    nodes: list[str] = interest.node_ids.to_pylist()
    topics: list[str] = interest.topic_ids.to_pylist()
    publishers: dict[str, list[str]] = {topic: [] for topic in topics}
    receivers: dict[str, list[str]] = {topic: [] for topic in topics}
    places = zip(
        interest.pair_nodes().tolist(), interest.node_topics.tolist(), interest.roles.tolist(), strict=True
    )
    for node, topic, role in places:
        if role != SUB:
            publishers[topics[topic]].append(nodes[node])
        if role != PUB:
            receivers[topics[topic]].append(nodes[node])
    return {
        topic: TopicRoles(tuple(publishers[topic]) or None, tuple(receivers[topic]) or None)
        for topic in topics
    }

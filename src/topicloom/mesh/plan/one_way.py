"""Topics of one publisher must leave it on every link, or what brokers retain may come back to it.

Where links have backups, another link of the topic may have to carry it either way. Then some of these
backups are given up: a value that is old for ever is worse than a topic that waits for a broker.
"""

from __future__ import annotations

from dataclasses import replace

from topicloom.mesh.model.directions import BOTH, directions_of
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshTopic


def keep_one_way(mesh: Mesh) -> Mesh:
    """Return the mesh without the backups that would have a topic of one publisher go both ways."""
    for topic in mesh.topics:
        if topic.publishers is not None and len(topic.publishers) == 1:
            # Without backups nothing can be given up: links of GossipSub close cycles and go both ways.
            while any(_has_backups(link, topic) for link in mesh.links) and _both_ways(mesh, topic):
                mesh = _with_less(mesh, topic)
    return mesh


def _has_backups(link: MeshLink, topic: MeshTopic) -> bool:
    return bool(link.backups) and topic.topic in link.topics


def _both_ways(mesh: Mesh, topic: MeshTopic) -> int:
    """Count the links that carry a topic both ways."""
    links = tuple(link for link in mesh.links if topic.topic in link.topics)
    ways = directions_of(replace(mesh, links=links, topics=(topic,)))
    return sum(way == BOTH for way in ways.values())


def _with_less(mesh: Mesh, topic: MeshTopic) -> Mesh:
    """Take the backups of one link, whichever leaves the fewest links that go both ways."""
    choices = []
    for at, link in enumerate(mesh.links):
        if _has_backups(link, topic):
            links = (*mesh.links[:at], replace(link, backups=()), *mesh.links[at + 1 :])
            less = replace(mesh, links=links)
            choices.append((_both_ways(less, topic), link.name, less))
    return min(choices, key=lambda choice: choice[:2])[2]

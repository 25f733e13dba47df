"""Which links messages cross in a forest, one message and one subscriber at a time.

Written from the definition alone: a message goes from its publisher to each subscriber along the only path
there is, and crosses each link once however many subscribers lie behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.run.adapter import Publication


def crossings_one_by_one(mesh: Mesh, publications: Sequence[Publication]) -> list[tuple[str, str]]:
    """(link, the end at which the message comes out) for every message and link."""
    found = []
    for publication in publications:
        (topic,) = [topic for topic in mesh.topics if topic.topic == publication.topic]
        crossed = set()
        for node in topic.subscribers:
            crossed.update(_path(mesh, publication.node, node) or [])
        found.extend(sorted(crossed))
    return found


def _path(mesh: Mesh, start: str, goal: str, before: str | None = None) -> list[tuple[str, str]] | None:
    if start == goal:
        return []
    for link in mesh.links:
        for here, there in ((link.dialer, link.acceptor), (link.acceptor, link.dialer)):
            if here == start and there != before:
                rest = _path(mesh, there, goal, start)
                if rest is not None:
                    return [(link.name, there), *rest]
    return None

"""The meshes people build by hand, to compare an overlay with.

A star has one broker more, which carries everything. In the full mesh each pair of nodes that share a topic
has a bridge and every message takes one hop: it arrives under the name of the broker it came from
(`from/NODE/TOPIC`), which no bridge takes further, so there is no loop although there are cycles.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from topicloom.mesh.kinds.mosquitto.write import SHAPE, render
from topicloom.mesh.model.manifest import write_mesh
from topicloom.mesh.model.mesh import MeshLink
from topicloom.mesh.model.topic_trees import PlannedLink
from topicloom.mesh.plan.mesh_plan import MeshPlan, plan_mesh
from topicloom.mesh.plan.request import Request
from topicloom.overlay.model.interest import Interest

HUB = "hub"
ORIGIN = "from"


def write_star(request: Request, folder: Path) -> None:
    """Let every node dial one more broker, which wants nothing and carries all."""
    rows = request.interest.to_arrow().to_pylist()
    hub = _unlike(HUB, (row["node"] for row in rows))
    pairs = [(node, row["topic"]) for row in rows for node in (row["node"], hub)]
    interest = Interest.from_pairs(pairs)
    place = interest.node_ids.to_pylist().index(hub)
    others = [node for node in range(interest.n_nodes) if node != place]
    links = [PlannedLink(node, place, tuple(interest.topics_of(node).tolist())) for node in others]
    plan = plan_mesh(replace(request, interest=interest), SHAPE, links, [place, *others])
    topics = (
        replace(topic, subscribers=tuple(node for node in topic.subscribers if node != hub))
        for topic in plan.mesh.topics
    )
    mesh = replace(plan.mesh, topics=tuple(topics))
    write_mesh(folder, mesh, render(MeshPlan(mesh, plan.stems, plan.wanted), request)[0])


def write_full_mesh(request: Request, folder: Path) -> None:
    """Bridge every pair of nodes with a topic in common: one hop for every message."""
    interest = request.interest
    wanted = [set(interest.topics_of(node).tolist()) for node in range(interest.n_nodes)]
    links = [
        PlannedLink(high, low, tuple(sorted(shared)))
        for low, high in combinations(range(interest.n_nodes), 2)
        if (shared := wanted[low] & wanted[high])
    ]
    plan = plan_mesh(request, SHAPE, links, range(interest.n_nodes))
    origin = _unlike(ORIGIN, (topic.name.split("/")[0] for topic in plan.mesh.topics))

    def say(link: MeshLink, name: str, direction: str) -> list[str]:
        return [
            f'topic {name} out 1 "" {origin}/{plan.stems[link.dialer]}/',
            f'topic {name} in 1 {origin}/{plan.stems[link.acceptor]}/ ""',
        ]

    mesh = replace(plan.mesh, options={"origin": origin})
    write_mesh(folder, mesh, render(plan, request, say)[0])


def _unlike(word: str, taken: Iterable[str]) -> str:
    """Make the word longer until it is none of these."""
    others = set(taken)
    while word in others:
        word += "-"
    return word

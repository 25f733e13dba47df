"""Small meshes for tests with real brokers: exported as users export them, run as they run them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from topicloom.mesh.kinds.registry import KINDS, find_running
from topicloom.mesh.model.manifest import read_mesh
from topicloom.mesh.model.mesh import Mesh, MeshTopic
from topicloom.mesh.plan.request import ExportFigures, Request
from topicloom.mesh.run.adapter import BrokerAdapter
from topicloom.mesh.run.lifecycle import RunOutcome, run_mesh
from topicloom.mesh.run.running_mesh import RunSettings
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.merge_pairs import number_small
from topicloom.overlay.model.overlay import Overlay

RING = {"x": "abc", "y": "cde", "w": "efa"}
"""Three paths that together are the ring a b c d e f: a forest holds two of them, the third needs another."""
RING_EDGES = ["ab", "bc", "cd", "de", "ef", "fa"]
QUICK = RunSettings(messages=4, quiet=1.5, settle=0.3)


def export_mesh(
    kind: str,
    folder: Path,
    wanted: Mapping[str, str],
    edges: Iterable[str],
    roles: Mapping[str, str] | None = None,
    **options: Any,
) -> Mesh:
    """Export an overlay; `wanted` has the nodes, one letter each, of every topic."""
    write_files(kind, folder, wanted, edges, roles, **options)
    return read_mesh(folder)


def write_files(
    kind: str,
    folder: Path,
    wanted: Mapping[str, str],
    edges: Iterable[str],
    roles: Mapping[str, str] | None = None,
    **options: Any,
) -> ExportFigures:
    """Do the same, and return what an export tells."""
    interest = interest_of(wanted, roles)
    number = {name: place for place, name in enumerate(interest.node_ids.to_pylist())}
    overlay = Overlay.from_edges(
        interest.node_ids, *zip(*(sorted((number[u], number[v])) for u, v in edges), strict=True)
    )
    folder.mkdir()
    return KINDS[kind].write(Request(interest, overlay, **options), folder)


def interest_of(wanted: Mapping[str, str], roles: Mapping[str, str] | None = None) -> Interest:
    """The nodes of every topic; with `roles` the letters there publish only if large, receive only if small.

    A node whose letter `roles` does not have for the topic does both.
    """
    pairs = [(node, topic) for topic, nodes in wanted.items() for node in nodes]
    if roles is None:
        return Interest.from_pairs(pairs)
    given = {
        (one.lower(), topic): "pub" if one.isupper() else "sub" for topic, own in roles.items() for one in own
    }
    table = pa.table(
        {
            "node": [node for node, _ in pairs],
            "topic": [topic for _, topic in pairs],
            "role": [given.get(one, "both") for one in pairs],
        }
    )
    return number_small(table, ["role"])


def run(target: BrokerAdapter, folder: Path, settings: RunSettings = QUICK) -> RunOutcome:
    """Run an exported mesh with this target."""
    return run_mesh(target, folder, find_running(read_mesh(folder).kind).relocate, settings)


def twice(traffic: Any) -> Any:
    """The same traffic with its first message published twice."""
    once = traffic.publish

    async def publish(publication: Any) -> None:
        await once(publication)
        if publication.message == 0:
            await once(publication)

    traffic.publish = publish
    return traffic


def stranger_in(mesh: Mesh) -> tuple[MeshTopic, str]:
    """A topic, and a node in the topic's account that does not want it, linked to one that does."""
    by_name = {topic.topic: topic for topic in mesh.topics}
    for link in mesh.links:
        for node, other in ((link.dialer, link.acceptor), (link.acceptor, link.dialer)):
            for topic in by_name.values():
                wants = topic.account == link.account and other in topic.subscribers
                if wants and node not in topic.subscribers:
                    return topic, node
    raise AssertionError("no account of this mesh has two topics")

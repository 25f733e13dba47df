"""The same interest on several meshes of real brokers, one after the other: what does each cost?

The meshes: the exported one, a ring per topic, a star around one more broker, a full mesh. Mosquitto only,
whose probes see every message that a broker carries.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from topicloom.builders.registry import run_builder
from topicloom.errors import UsageError
from topicloom.jobs.run import read_kind
from topicloom.mesh.kinds.mosquitto.rivals import full_mesh, star_mesh
from topicloom.mesh.kinds.mosquitto.write import export_mosquitto
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.plan.request import Request
from topicloom.mesh.run.proof import connections_per_node, hops_max
from topicloom.mesh.run.registry import load_target
from topicloom.mesh.run.relocate import move_here
from topicloom.mesh.run.runner import Outcome, Place, run_mesh
from topicloom.mesh.run.running import RunSettings
from topicloom.model.interest import Interest
from topicloom.model.progress import SILENT, Progress

KIND = "mosquitto"
OURS = "this mesh"


@dataclass(frozen=True, slots=True)
class Design:
    """One mesh to run: its files lie in `folder`, or `place` makes them."""

    name: str
    folder: Path
    place: Place


def compare_meshes(
    kind: str, folder: Path, settings: RunSettings, *, progress: Progress = SILENT
) -> dict[str, Any]:
    """Run the exported mesh and the baselines; `rows` of figures, ours first."""
    if kind != KIND:
        raise UsageError(f"--compare runs {KIND} only: no probe sees every message that {kind} carries")
    if settings.kill:
        raise UsageError("--compare and --kill do not go together; run the command twice")
    mesh = read_kind(kind, folder)
    rows = []
    with tempfile.TemporaryDirectory(prefix="topicloom-compare-") as scratch:
        for design in _designs(mesh, folder, Path(scratch)):
            outcome = run_mesh(load_target(kind), design.folder, design.place, settings, progress=progress)
            rows.append(_row(design.name, outcome))
    return {"kind": kind, "rows": rows, "exact": rows[0]["exact"]}


def _designs(mesh: Mesh, folder: Path, scratch: Path) -> list[Design]:
    rings, empty = scratch / "rings", scratch / "empty"
    for made in (rings, empty):
        made.mkdir()
    interest = Interest.from_pairs(
        [(node, topic.topic) for topic in mesh.topics for node in topic.subscribers]
    )
    overlay = run_builder("ring-pt", interest).overlay
    export_mosquitto(Request(interest=interest, overlay=overlay), rings)
    return [
        Design(OURS, folder, move_here),
        Design("ring per topic", rings, move_here),
        Design("star", empty, _rival(mesh, star_mesh)),
        Design("full mesh", empty, _rival(mesh, full_mesh)),
    ]


def _rival(mesh: Mesh, make: Callable[[Mesh, Callable[[], int]], tuple[Mesh, dict[str, str]]]) -> Place:
    def place(folder: Path, free_port: Callable[[], int]) -> tuple[Mesh, Mapping[str, str]]:
        return make(mesh, free_port)

    return place


def _row(name: str, outcome: Outcome) -> dict[str, Any]:
    mesh, proof, verdict = outcome.mesh, outcome.proof, outcome.proof.verdict
    assert proof.carried is not None  # Mosquitto's probes count them
    elsewhere = verdict.delivered - verdict.published  # the publisher's own broker needs no link
    return {
        "design": name,
        "nodes": len(mesh.nodes),
        "links": len(mesh.links),
        "connections_per_node_max": max(connections_per_node(mesh).values(), default=0),
        "connections_per_node_avg": 2 * len(mesh.links) / max(len(mesh.nodes), 1),
        "hops_max": hops_max(with_carriers(mesh)),
        "published": verdict.published,
        "expected": verdict.expected,
        "delivered": verdict.delivered,
        "duplicates": verdict.duplicates,
        "strays": verdict.strays,
        "messages_between_brokers": proof.carried - verdict.published,
        "messages_per_delivery": (proof.carried - verdict.published) / elsewhere if elsewhere > 0 else None,
        "cpu_seconds_deliver": proof.cpu_seconds,
        "cpu_seconds_deliver_max": proof.cpu_seconds_max,
        "cpu_seconds_ready": outcome.usage.cpu_total - proof.cpu_seconds,
        "memory_bytes": outcome.usage.memory_total,
        "seconds_ready": outcome.seconds_ready,
        "exact": outcome.exact,
    }


def with_carriers(mesh: Mesh) -> Mesh:
    """As if every broker wanted what its links carry: so ways over those that do not count too."""
    ends: dict[str, dict[str, None]] = {
        topic.topic: dict.fromkeys(topic.subscribers) for topic in mesh.topics
    }
    for link in mesh.links:
        for topic in link.topics:
            ends[topic] |= {link.dialer: None, link.acceptor: None}
    return replace(
        mesh, topics=tuple(replace(topic, subscribers=tuple(ends[topic.topic])) for topic in mesh.topics)
    )

"""A small mesh by hand: four nodes in a ring, three topics whose trees together hold the ring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from brokers_present import free_ports
from topicloom.mesh.model.topic_trees import PlannedLink
from topicloom.mesh.plan.mesh_plan import MeshPlan
from topicloom.mesh.plan.request import Request
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

PAIRS = [
    (node, topic) for topic, nodes in {"t/x": "abc", "t/y": "acd", "t z": "ab"}.items() for node in nodes
]
A, B, C, D = range(4)
T_Z, T_X, T_Y = range(3)  # topics in the order of their bytes
RING = [(A, B), (B, C), (C, D), (A, D)]
TREES = (
    PlannedLink(B, A, (T_Z, T_X)),
    PlannedLink(C, B, (T_X,), backups=(A,)),
    PlannedLink(D, A, (T_Y,)),
    PlannedLink(D, C, (T_Y,)),
)
CLASS_OF = (0, 0, 1)
FORESTS = (
    PlannedLink(B, A, (T_Z, T_X), 0),
    PlannedLink(C, B, (T_X,), 0, backups=(A,)),
    PlannedLink(D, A, (T_Y,), 1),
    PlannedLink(D, C, (T_Y,), 1),
)
ORDER = (A, B, C, D)


def small_request(**options: Any) -> Request:
    """A request of the small mesh."""
    interest = Interest.from_pairs(PAIRS)
    overlay = Overlay.from_edges(interest.node_ids, *zip(*RING, strict=True))
    return Request(interest, overlay, **options)


def on_free_ports(plan: MeshPlan) -> MeshPlan:
    """The same mesh with a free port for every purpose of every broker."""
    ports = iter(free_ports(sum(len(node.ports) for node in plan.mesh.nodes)))
    nodes = tuple(replace(node, ports={key: next(ports) for key in node.ports}) for node in plan.mesh.nodes)
    return MeshPlan(replace(plan.mesh, nodes=nodes), plan.stems, plan.wanted)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """The rendered files, as an export would write them."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")

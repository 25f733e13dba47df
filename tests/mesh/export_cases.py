"""Small exported folders for tests that read them back."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

from topicloom.mesh.kinds.registry import KINDS as ALL_KINDS
from topicloom.mesh.plan.hosts import Place
from topicloom.mesh.plan.request import Request
from topicloom.overlay.builders.registry import run_builder
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.tables.folder import write_json, write_table

KINDS = ("mosquitto", "nats", "zenoh")
WANTS = {"a": "xyz", "b": "xyv", "c": "xzv", "d": "yzv", "e": "z"}


def exported(kind: str, folder: Path, wants: dict[str, str] = WANTS) -> Path:
    """A folder as `topicloom export` writes it, every node on its own host, the overlay with all edges."""
    interest = Interest.from_pairs([(node, topic) for node, topics in wants.items() for topic in topics])
    nodes = interest.node_ids.to_pylist()
    edges = [
        (i, j) for i, j in combinations(range(len(nodes)), 2) if set(wants[nodes[i]]) & set(wants[nodes[j]])
    ]
    overlay = Overlay.from_edges(interest.node_ids, *zip(*edges, strict=True))
    places = {node: Place(f"site-{node}") for node in nodes}
    ALL_KINDS[kind].write(Request(interest, overlay, places, backups=int(kind != "zenoh")), folder)
    return folder


def make_build(folder: Path, interest: Interest, overlay: Overlay | None = None) -> Path:
    """A build folder without Spark."""
    graph = overlay if overlay is not None else run_builder("gm", interest).overlay
    folder.mkdir()
    write_table(interest.to_arrow(), folder / "interest.parquet")
    write_table(graph.to_arrow(), folder / "edges.parquet")
    head = {"format": 1, "kind": "build", "algorithm": "gm", "parameters": {}, "seed": 0}
    write_json({**head, "seconds": {"total": 0.0}, "interest_digest": "0"}, folder / "summary.json")
    return folder

"""Exported meshes, with the coordinates of hosts and the outcome of a run where they are given."""

from __future__ import annotations

from pathlib import Path

import msgspec

from topicloom.errors import InputError
from topicloom.mesh.jobs.run import RunSummary
from topicloom.mesh.model.manifest import MANIFEST, read_mesh
from topicloom.mesh.model.mesh import Mesh, components_of, neighbors_by_topic
from topicloom.mesh.plan.hosts import read_hosts
from topicloom.report.sources.subject import MeshSubject


def is_export(folder: Path) -> bool:
    """Return whether a folder was written by `topicloom export`."""
    return (folder / MANIFEST).is_file()


def read_exported(folder: Path, *, hosts: Path | None = None, run: RunSummary | None = None) -> MeshSubject:
    """Read a mesh; `hosts` is a table of hosts with columns x and y, `run` what a run of it has shown."""
    mesh = read_mesh(folder)
    names = {node.name for node in mesh.nodes}
    if run is not None:
        strangers = sorted({one.node for one in run.failover} - names)
        if run.kind != mesh.kind or run.nodes != len(names) or strangers:
            raise InputError(
                f"the run is not one of {folder}: it had {run.nodes:,} brokers of kind {run.kind}, the mesh "
                f"has {len(names):,} of kind {mesh.kind}"
            )
    places = {} if hosts is None else _read_places(hosts, [node.name for node in mesh.nodes])
    return MeshSubject(str(folder), mesh, places, run)


def find_split(mesh: Mesh) -> dict[str, list[int]]:
    """Return the topics whose links do not connect all subscribers, with the sizes of their components."""
    near = neighbors_by_topic((link.dialer, link.acceptor, link.topics) for link in mesh.links)
    found = {}
    for topic in mesh.topics:
        parts = components_of(topic.subscribers, near.get(topic.topic, {}))
        if len(parts) > 1:
            found[topic.topic] = sorted(map(len, parts), reverse=True)
    return found


def read_run(path: Path) -> RunSummary:
    """Read what `topicloom run --json` printed."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=RunSummary)
    except OSError as error:
        raise InputError(f"cannot read `run={path}` ({error.strerror})") from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InputError(
            f"`run={path}` is not the JSON that topicloom run prints; save its output again"
        ) from None


def _read_places(path: Path, nodes: list[str]) -> dict[str, tuple[float, float]]:
    found = {}
    for node, place in read_hosts(path, nodes, what="a node of the mesh", more=("x", "y")).items():
        if "x" not in place.more or "y" not in place.more:
            raise InputError(f"{place.where}: node {node!r} has no coordinates; give columns x and y")
        try:
            found[node] = (float(place.more["x"]), float(place.more["y"]))
        except ValueError:
            raise InputError(f"{place.where}: the coordinates of {node!r} are not numbers") from None
    return found

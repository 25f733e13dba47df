"""The same interest on several meshes of real brokers, one after the other: what does each cost?

The meshes: the exported one, a ring per topic, and those that people build by hand, which the kind of broker
knows. Only for kinds whose probes see every message that a broker carries.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import Summary
from topicloom.errors import UsageError
from topicloom.mesh.jobs.run import read_kind
from topicloom.mesh.kinds.kind import Unable, Write
from topicloom.mesh.kinds.registry import KINDS, find_running, load_adapter, runnable
from topicloom.mesh.model.mesh import Mesh, connections_per_node, hops_max
from topicloom.mesh.plan.request import Request
from topicloom.mesh.run.lifecycle import RunOutcome, run_mesh
from topicloom.mesh.run.running_mesh import RunSettings
from topicloom.overlay.builders.registry import run_builder
from topicloom.overlay.model.interest import Interest

OURS = "this mesh"


class DesignSummary(Summary, frozen=True, kw_only=True):
    """What one mesh costs."""

    design: str
    nodes: int
    links: int
    connections_per_node_max: int
    connections_per_node_avg: float
    hops_max: int
    published: int
    expected: int
    delivered: int
    duplicates: int
    strays: int
    messages_between_brokers: int
    messages_per_delivery: float | None
    cpu_seconds_deliver: float
    cpu_seconds_deliver_max: float
    cpu_seconds_ready: float
    memory_bytes: int
    seconds_ready: float
    exact: bool


class MeshComparison(Summary, frozen=True):
    """What `run --compare --json` prints; exact: the exported mesh is."""

    kind: str
    rows: list[DesignSummary]
    exact: bool


def compare_meshes(
    kind: str, folder: Path, settings: RunSettings, *, progress: Progress = SILENT
) -> MeshComparison:
    """Run the exported mesh and the baselines; return rows of figures, ours first."""
    running = find_running(kind)
    if isinstance(running.baselines, Unable):
        able = [name for name, other in runnable().items() if not isinstance(other.baselines, Unable)]
        raise UsageError(f"`compare` runs {' and '.join(able)} only: {running.baselines.why}")
    for option in ("kill", "freeze", "attack"):
        if getattr(settings, option):
            raise UsageError(f"`compare` and `{option}` do not go together; run the command twice")
    mesh = read_kind(kind, folder)
    rows = []
    with tempfile.TemporaryDirectory(prefix="topicloom-compare-") as scratch:
        rivals = {"ring per topic": KINDS[kind].write, **running.baselines}
        for name, made in {OURS: folder, **_write(mesh, rivals, Path(scratch))}.items():
            outcome = run_mesh(load_adapter(kind), made, running.relocate, settings, progress=progress)
            rows.append(_row(name, outcome))
    return MeshComparison(kind, rows, rows[0].exact)


def _write(mesh: Mesh, rivals: Mapping[str, Write], scratch: Path) -> dict[str, Path]:
    """Write the rivals for the interest of this mesh; return their folders by name."""
    interest = Interest.from_pairs(
        [(node, topic.topic) for topic in mesh.topics for node in topic.subscribers]
    )
    request = Request(interest=interest, overlay=run_builder("ring-pt", interest).overlay)
    folders = {name: scratch / str(number) for number, name in enumerate(rivals)}
    for name, write in rivals.items():
        folders[name].mkdir()
        write(request, folders[name])
    return folders


def _row(name: str, outcome: RunOutcome) -> DesignSummary:
    mesh, proof, verdict = outcome.mesh, outcome.proof, outcome.proof.verdict
    assert proof.carried is not None  # probes of kinds that compare count them
    elsewhere = verdict.delivered - verdict.published  # the publisher's own broker needs no link
    return DesignSummary(
        design=name,
        nodes=len(mesh.nodes),
        links=len(mesh.links),
        connections_per_node_max=max(connections_per_node(mesh).values(), default=0),
        connections_per_node_avg=2 * len(mesh.links) / max(len(mesh.nodes), 1),
        hops_max=hops_max(with_carriers(mesh)),
        published=verdict.published,
        expected=verdict.expected,
        delivered=verdict.delivered,
        duplicates=verdict.duplicates,
        strays=verdict.strays,
        messages_between_brokers=proof.carried - verdict.published,
        messages_per_delivery=(proof.carried - verdict.published) / elsewhere if elsewhere > 0 else None,
        cpu_seconds_deliver=proof.cpu_seconds,
        cpu_seconds_deliver_max=proof.cpu_seconds_max,
        cpu_seconds_ready=outcome.cpu_seconds - proof.cpu_seconds,
        memory_bytes=outcome.memory_bytes,
        seconds_ready=outcome.seconds_ready,
        exact=outcome.exact,
    )


def with_carriers(mesh: Mesh) -> Mesh:
    """Return the mesh as if every broker wanted what its links carry: paths over the others count too."""
    ends: dict[str, dict[str, None]] = {
        topic.topic: dict.fromkeys(topic.subscribers) for topic in mesh.topics
    }
    for link in mesh.links:
        for topic in link.topics:
            ends[topic] |= {link.dialer: None, link.acceptor: None}
    return replace(
        mesh, topics=tuple(replace(topic, subscribers=tuple(ends[topic.topic])) for topic in mesh.topics)
    )

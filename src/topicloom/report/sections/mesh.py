"""The headline of a mesh of brokers."""

from __future__ import annotations

from topicloom.mesh.model.mesh import connections_per_node, hops_max
from topicloom.report.figures import (
    Figure,
    Section,
)
from topicloom.report.sections.words import counted
from topicloom.report.sources.subject import MeshSubject, Subject


def make_mesh(subject: Subject) -> Section | None:
    """Return the headline of a mesh."""
    if not isinstance(subject, MeshSubject):
        return None
    mesh = subject.mesh
    connections = connections_per_node(mesh)
    backups = sum(bool(link.backups) for link in mesh.links)
    figures = [
        Figure("brokers", f"{len(mesh.nodes):,}", f"of kind {mesh.kind}, one for each node."),
        Figure(
            "links",
            f"{len(mesh.links):,}",
            f"{backups:,} of them have a backup that takes over when their broker dies.",
        ),
        Figure(
            "connections of a broker",
            f"{max(connections.values(), default=0):,}",
            "No broker keeps more links to others than this.",
        ),
        Figure("hops", f"{hops_max(mesh):,}", "A message crosses at most so many links to a subscriber."),
    ]
    return Section(
        title="At a glance",
        lead=f"{counted(len(mesh.topics), 'topic')} on {counted(len(mesh.nodes), 'broker')}.",
        figures=figures,
    )

"""What the links of a mesh, as they are configured, prove."""

from __future__ import annotations

from topicloom.report.figures import Column, Figure, Row, Section, Table
from topicloom.report.sections.words import counted
from topicloom.report.sources.meshes import find_split
from topicloom.report.sources.subject import MeshSubject, Subject

SHOWN = 20  # sizes of components, and split topics


def make_mesh_proof(subject: Subject) -> Section | None:
    """Return whether the links that carry a topic connect its subscribers, for every topic."""
    if not isinstance(subject, MeshSubject):
        return None
    mesh, split = subject.mesh, find_split(subject.mesh)
    whole = len(mesh.topics) - len(split)
    wanted = sum(len(topic.subscribers) for topic in mesh.topics)
    lead = (
        "As configured, every topic is connected: its links lead from each subscriber to all others."
        if not split
        else f"As configured, {counted(len(split), 'topic is', 'topics are')} split."
    )
    rows = [
        Row(
            [topic, f"{len(sizes):,}", ", ".join(f"{size:,}" for size in sizes[:SHOWN])],
            [None, float(len(sizes)), None],
            key=topic,
        )
        for topic, sizes in list(split.items())[:SHOWN]
    ]
    columns = [Column("topic"), Column("components", number=True), Column("brokers in each")]
    return Section(
        title="The proof",
        lead=lead,
        figures=[
            Figure(
                "topics connected",
                f"{whole:,} / {len(mesh.topics):,}",
                "Found by following the links that carry a topic from broker to broker.",
                "bad" if split else "good",
            )
        ],
        notes=[
            f"It covers {counted(wanted, 'subscription')} of {counted(len(mesh.nodes), 'broker')} as the "
            "manifest has them. What real brokers deliver only a run can prove."
        ],
        tables=[Table(key="mesh-split", title="Split topics", columns=columns, rows=rows, link="topic")]
        if rows
        else [],
    )

"""What was proved, over what, and where it fails."""

from __future__ import annotations

from topicloom.report.figures import Column, Figure, Row, Section, Table
from topicloom.report.sections.words import counted, overlay_of
from topicloom.report.sources.subject import OverlaySubject, SimulationSubject, Subject

SHOWN = 20  # nodes and sizes of a witness


def make_proof(subject: Subject) -> Section | None:
    """Return the verdict on each build, and witnesses of split topics."""
    found = overlay_of(subject)
    if found is None:
        return None
    failed = [view for view in found.builds if not view.verdict.topic_connected]
    topics = counted(found.interest.n_topics, "topic")
    builds = "the overlay" if len(found.builds) == 1 else f"each of the {len(found.builds)} overlays"
    if isinstance(subject, SimulationSubject):
        builds = "the overlay of the last moment"
    if failed:
        names = ", ".join(view.name for view in failed)
        lead = f"Not every topic is connected: {names}."
    else:
        lead = (
            f"Proved: in {builds}, each of the {topics} is connected. Messages reach every subscriber and "
            "cross no node that does not want them."
        )
    covers = (
        f"The proof covers {counted(found.interest.n_subscriptions, 'subscription')} of "
        f"{counted(found.interest.n_nodes, 'node')} to {topics}: for every topic, the subgraph of its "
        "subscribers alone is one component. It was made again for this page, from the tables in the "
        "folders, by code that shares nothing with the builders."
    )
    return Section(
        title="The proof",
        lead=lead,
        notes=[covers],
        figures=_figures(found) if failed else [_figure("topics connected", 0, found)],
        tables=_witnesses(found),
    )


def _figures(subject: OverlaySubject) -> list[Figure]:
    return [_figure(view.name, view.verdict.topics_partitioned, subject) for view in subject.builds]


def _figure(name: str, split: int, subject: OverlaySubject) -> Figure:
    whole = subject.interest.n_topics - split
    several = len(subject.builds) > 1 and all(view.verdict.topic_connected for view in subject.builds)
    text = "Every topic's subscribers form one connected subgraph" + (" in every build." if several else ".")
    if split:
        text = f"{counted(split, 'topic is', 'topics are')} split: some subscribers do not reach each other."
    return Figure(name, f"{whole:,} / {subject.interest.n_topics:,}", text, "bad" if split else "good")


def _witnesses(subject: OverlaySubject) -> list[Table]:
    rows = [
        Row(
            [
                view.name,
                witness.topic,
                f"{len(witness.component_sizes):,}",
                ", ".join(f"{size:,}" for size in witness.component_sizes[:SHOWN]),
                " and ".join(witness.nodes),
            ],
            [None, None, float(len(witness.component_sizes)), None, None],
            key=witness.topic,
        )
        for view in subject.builds
        for witness in view.verdict.witnesses
    ]
    if not rows:
        return []
    columns = [
        Column("build"), Column("topic"), Column("components", number=True), Column("their sizes"),
        Column("two nodes that do not reach each other"),
    ]  # fmt: skip
    return [
        Table(
            key="witnesses",
            title="Split topics",
            columns=columns,
            rows=rows,
            note="The worst topics of each build.",
            link="topic",
        )
    ]

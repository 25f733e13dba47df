"""The overlay itself; its data is made by `drawing`, this is what is said around it."""

from __future__ import annotations

from topicloom.report.figures import Section
from topicloom.report.sections.words import overlay_of
from topicloom.report.sources.subject import MeshSubject, PlanSubject, Subject


def make_drawn(subject: Subject) -> Section | None:
    """Return the section that holds the drawing."""
    if isinstance(subject, PlanSubject):
        where = "on the plane" if subject.users else "near those they are linked with"
        lead = (
            f"Users and brokers {where}: a thin line from each user to its broker, thick lines between "
            "brokers that pass messages to each other. Larger brokers have more load."
        )
        return Section(title="The plan", lead=lead, drawing=True)
    if isinstance(subject, MeshSubject):
        lead = (
            "Pick a topic: the links that carry it light up. Click a broker to see what its death would "
            "split before backups take over, a link to see what it carries."
        )
        return Section(title="The mesh", lead=lead, drawing=True)
    if overlay_of(subject) is None:
        return None
    lead = (
        "Pick a topic: its subscribers and the edges among them light up, with a spanning tree. Click a node "
        "to see what its death would split, an edge to see the topics it carries."
    )
    return Section(title="The overlay", lead=lead, drawing=True)

"""The overlay itself; its data is made by `drawing`, this is what is said around it."""

from __future__ import annotations

from topicloom.report.figures import Section
from topicloom.report.sections.words import overlay_of
from topicloom.report.sources.subject import Subject


def make_drawn(subject: Subject) -> Section | None:
    """Return the section that holds the drawing of overlays."""
    if overlay_of(subject) is None:
        return None
    lead = (
        "Pick a topic: its subscribers and the edges among them light up, with a spanning tree. Click a node "
        "to see what its death would split, an edge to see the topics it carries."
    )
    return Section(title="The overlay", lead=lead, drawing=True)

"""Which drawing belongs to which subject."""

from __future__ import annotations

from topicloom.base.progress import SILENT, Progress
from topicloom.report.drawing.brokers import draw_mesh, draw_plan
from topicloom.report.drawing.graph import Drawing, draw_overlays
from topicloom.report.drawing.replay import draw_simulation
from topicloom.report.sections.words import best_of
from topicloom.report.sources.subject import (
    MeshSubject,
    OverlaySubject,
    PlanSubject,
    SimulationSubject,
    Subject,
)


def make_drawing(subject: Subject, *, progress: Progress = SILENT) -> Drawing | None:
    """Return the drawing of a subject; None where there is nothing to draw."""
    found: Drawing | None = None
    if isinstance(subject, OverlaySubject):
        found = _draw_builds(subject, progress)
    elif isinstance(subject, SimulationSubject):
        found = draw_simulation(subject, progress=progress)
    elif isinstance(subject, MeshSubject):
        found = draw_mesh(subject, progress=progress)
    elif isinstance(subject, PlanSubject):
        found = draw_plan(subject, progress=progress)
    return found if found is not None and found.graphs and found.nodes else None


def _draw_builds(subject: OverlaySubject, progress: Progress) -> Drawing:
    overlays = [(view.name, view.overlay) for view in subject.builds]
    best = best_of(subject.builds).name
    return draw_overlays(subject.interest, overlays, first=best, progress=progress)

"""Which drawing belongs to which subject."""

from __future__ import annotations

from topicloom.base.progress import SILENT, Progress
from topicloom.report.drawing.graph import Drawing, draw_overlays
from topicloom.report.sources.subject import OverlaySubject, Subject


def make_drawing(subject: Subject, *, progress: Progress = SILENT) -> Drawing | None:
    """Return the drawing of a subject; None where there is nothing to draw."""
    found: Drawing | None = None
    if isinstance(subject, OverlaySubject):
        overlays = [(view.name, view.overlay) for view in subject.builds]
        found = (
            draw_overlays(subject.interest, overlays, progress=progress) if subject.interest.n_nodes else None
        )
    return found if found is not None and found.graphs else None

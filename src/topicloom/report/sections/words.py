"""How numbers and counts are written in sections, and which overlay or run a subject is about."""

from __future__ import annotations

from topicloom.base.counts import counted as counted  # sections take their words from here
from topicloom.base.counts import part_of as part_of
from topicloom.mesh.jobs.run import RunSummary
from topicloom.report.sources.subject import (
    BuildView,
    MeshSubject,
    OverlaySubject,
    SimulationSubject,
    Subject,
)


def overlay_of(subject: Subject) -> OverlaySubject | None:
    """Return the overlays of a subject: builds, or the last moment of a simulation."""
    if isinstance(subject, SimulationSubject):
        return subject.last
    return subject if isinstance(subject, OverlaySubject) else None


def run_of(subject: Subject) -> RunSummary | None:
    """Return the last run of a mesh, if that is known."""
    return subject.run if isinstance(subject, MeshSubject) else None


def best_of(builds: tuple[BuildView, ...]) -> BuildView:
    """Return the build that a headline is about: of the connected ones that with the fewest edges."""
    return min(builds, key=lambda view: (view.verdict.topics_partitioned, view.overlay.n_edges))


def decimal(value: float, digits: int = 2) -> str:
    """Write a number with so many digits, fewer where they are zeros.

    >>> decimal(2.5), decimal(1234.0), decimal(0.126)
    ('2.5', '1,234', '0.13')
    """
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float) -> str:
    """Write a share in percent."""
    return f"{100 * share:.1f}%" if share < 0.1 else f"{100 * share:.0f}%"


def seconds(value: float) -> str:
    """Write a time.

    >>> seconds(0.0002), seconds(0.02), seconds(2.0), seconds(120.0)
    ('below 1 ms', '20 ms', '2.0 s', '2.0 min')
    """
    if 0 < value < 0.0005:
        return "below 1 ms"
    if value < 0.1:
        return f"{1000 * value:.0f} ms"
    return f"{value:.1f} s" if value < 100 else f"{value / 60:.1f} min"

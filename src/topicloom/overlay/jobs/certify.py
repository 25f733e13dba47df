"""How far an overlay is from the best possible one: lower bounds beside its own figures."""

from __future__ import annotations

from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import UNSET, Figures, Report, UnsetType
from topicloom.overlay.measures.bounds import bound_overlays, gap
from topicloom.overlay.model.build import Certificate
from topicloom.overlay.model.interest import Interest

KNOWN = ("edges_bound", "degree_max_bound")


def certify(
    interest: Interest,
    *,
    edges: int,
    degree_max: int,
    connected: bool,
    known: Report | None = None,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Certificate:
    """Bounds that hold for every topic-connected overlay of `interest`, and the gaps of this one.

    `known` are bounds that its builder has proved itself.
    """
    found = bound_overlays(interest, threads=threads, progress=progress)
    edges_bound, degree_bound = (
        max(int(getattr(found, key)), int((known or {}).get(key) or 0)) for key in KNOWN
    )
    return Certificate(
        edges_bound=edges_bound,
        degree_max_bound=degree_bound,
        gap=gap(edges, edges_bound) if connected else None,
        degree_max_gap=gap(degree_max, degree_bound) if connected else None,
        bound_method=found.method,
    )


def certify_measured(
    interest: Interest,
    measures: Figures,
    *,
    known: Report | None = None,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Certificate:
    """The same for an overlay with these measures."""
    return certify(
        interest,
        edges=measures["edges"],
        degree_max=measures["degree_max"],
        connected=measures["topic_connected"],
        known=known,
        threads=threads,
        progress=progress,
    )


def certificate_told(
    found: Certificate | UnsetType, *, edges: int, degree_max: int, connected: bool
) -> list[str]:
    """The certificate in sentences; none if there is no certificate."""
    if found is UNSET:
        return []
    if not connected:
        return [
            f"no gap can be told of an overlay with split topics; one that is topic-connected has at least "
            f"{found.edges_bound:,} edges and a maximum degree of at least {found.degree_max_bound:,}"
        ]
    return [
        f"{_within(found.gap)}: {edges:,} edges, no topic-connected overlay has fewer than "
        f"{found.edges_bound:,}",
        f"maximum degree {_within(found.degree_max_gap)}: {degree_max:,}, and {found.degree_max_bound:,} is "
        "needed",
    ]


def _within(share: float | None) -> str:
    if share is None:
        return "nothing is needed"
    return "optimal" if share == 0 else f"within {100 * share:.1f}% of optimal"

"""How far an overlay is from the best possible one: lower bounds beside its own figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from topicloom.base.counts import counted
from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import UNSET, Report, UnsetType
from topicloom.overlay.measures.bounds import bound_overlays, gap
from topicloom.overlay.measures.survival_bound import bound_survival
from topicloom.overlay.model.build import Certificate
from topicloom.overlay.model.interest import Interest


def certify(
    interest: Interest,
    figures: Mapping[str, Any],
    *,
    known: Report | None = None,
    survive: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Certificate:
    """Bound every topic-connected overlay of `interest`, and tell the gaps of the one with these figures.

    With `survive` only those count in which every topic survives so many deaths.

    Needed are `edges`, `degree_max` and `topic_connected`; `known` are bounds that its builder has proved.
    """
    found = bound_overlays(interest, threads=threads, progress=progress)
    known, connected = known or {}, figures["topic_connected"]
    edges_bound = max(found.edges_bound, int(known.get("edges_bound") or 0))
    degree_bound = max(found.degree_max_bound, int(known.get("degree_max_bound") or 0))
    if survive:
        own = bound_survival(interest, survive, progress=progress)
        edges_bound = max(edges_bound, own.edges_bound)
        degree_bound = max(degree_bound, own.degree_max_bound)
    return Certificate(
        edges_bound=edges_bound,
        degree_max_bound=degree_bound,
        gap=gap(figures["edges"], edges_bound) if connected else None,
        degree_max_gap=gap(figures["degree_max"], degree_bound) if connected else None,
        bound_method=found.method,
        bound_survive=survive or UNSET,
    )


def certificate_told(found: Certificate | UnsetType, figures: Mapping[str, Any]) -> list[str]:
    """Say the certificate of an overlay with these figures in sentences; none if there is no certificate."""
    if found is UNSET:
        return []
    if not figures["topic_connected"]:
        return [
            f"no gap can be told of an overlay with split topics; one that is topic-connected has at least "
            f"{found.edges_bound:,} edges and a maximum degree of at least {found.degree_max_bound:,}"
        ]
    return [
        f"{_within(found.gap)}: {figures['edges']:,} edges, no {_kind(found)} has fewer than "
        f"{found.edges_bound:,}",
        f"maximum degree {_within(found.degree_max_gap)}: {figures['degree_max']:,}, and "
        f"{found.degree_max_bound:,} is needed",
    ]


def _kind(found: Certificate) -> str:
    if found.bound_survive is UNSET:
        return "topic-connected overlay"
    return f"overlay that survives {counted(found.bound_survive, 'death')}"


def _within(share: float | None) -> str:
    if share is None:
        return "nothing is needed"
    return "optimal" if share == 0 else f"within {100 * share:.1f}% of optimal"

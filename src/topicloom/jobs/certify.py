"""How far an overlay is from the best possible one: lower bounds beside its own figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from topicloom.measures.bounds import bound_overlays, gap
from topicloom.model.interest import Interest
from topicloom.model.progress import SILENT, Progress

KNOWN = ("edges_bound", "degree_max_bound")


def certify(
    interest: Interest,
    figures: Mapping[str, Any],
    *,
    known: Mapping[str, Any] | None = None,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """Bounds that hold for every topic-connected overlay of `interest`, and the gaps of this one.

    `figures` are those of the overlay (`edges`, `degree_max`, `topic_connected`), `known` bounds that its
    builder has proved itself. An overlay that is not topic-connected has no gap: it might need more edges.
    """
    found = bound_overlays(interest, threads=threads, progress=progress)
    bounds = {key: max(int(getattr(found, key)), int((known or {}).get(key) or 0)) for key in KNOWN}
    connected = figures["topic_connected"]
    return {
        **bounds,
        "gap": gap(figures["edges"], bounds["edges_bound"]) if connected else None,
        "degree_max_gap": gap(figures["degree_max"], bounds["degree_max_bound"]) if connected else None,
        "bound_method": found.method,
    }


def certificate_told(figures: Mapping[str, Any]) -> list[str]:
    """The certificate in sentences; none if there is no certificate."""
    if "edges_bound" not in figures:
        return []
    edges, degree = figures["edges_bound"], figures["degree_max_bound"]
    if not figures["topic_connected"]:
        return [
            f"no gap can be told of an overlay with split topics; one that is topic-connected has at least "
            f"{edges:,} edges and a maximum degree of at least {degree:,}"
        ]
    return [
        f"{_within(figures['gap'])}: {figures['edges']:,} edges, no topic-connected overlay has fewer than "
        f"{edges:,}",
        f"maximum degree {_within(figures['degree_max_gap'])}: {figures['degree_max']:,}, and {degree:,} is "
        "needed",
    ]


def _within(share: float | None) -> str:
    if share is None:
        return "nothing is needed"
    return "optimal" if share == 0 else f"within {100 * share:.1f}% of optimal"

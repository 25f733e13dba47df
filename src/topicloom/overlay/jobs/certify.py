"""How far an overlay is from the best possible one: lower bounds beside its own figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from topicloom.base.counts import counted
from topicloom.base.progress import SILENT, Progress
from topicloom.base.summaries import UNSET, Report, UnsetType
from topicloom.overlay.measures.bounds import bound_overlays, gap
from topicloom.overlay.measures.cost_bound import bound_cost
from topicloom.overlay.measures.survival_bound import bound_survival
from topicloom.overlay.model.build import Certificate
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints
from topicloom.overlay.model.interest import Interest


def certify(
    interest: Interest,
    figures: Mapping[str, Any],
    *,
    known: Report | None = None,
    survive: int = 0,
    survives: bool = True,
    constraints: Constraints = UNCONSTRAINED,
    kinds: Iterable[str] = (),
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Certificate:
    """Bound every topic-connected overlay of `interest`, and tell the gaps of the one with these figures.

    With `survive` only those count in which every topic survives so many deaths; there are no gaps then
    unless this one `survives` too. No other constraint is
    considered, which `bound_constraints` tells (`kinds` are those in use besides `constraints`): the bounds
    hold all the same, but an overlay under constraints may not come near them. With costs they are bounded
    too, under the forbidden pairs.

    Needed are `edges`, `degree_max` and `topic_connected`; `known` are bounds that its builder has proved.
    """
    found = bound_overlays(interest, threads=threads, progress=progress)
    known, connected = known or {}, figures["topic_connected"] and (survives or not survive)
    edges_bound = max(found.edges_bound, int(known.get("edges_bound") or 0))
    degree_bound = max(found.degree_max_bound, int(known.get("degree_max_bound") or 0))
    if survive:
        own = bound_survival(interest, survive, progress=progress)
        edges_bound = max(edges_bound, own.edges_bound)
        degree_bound = max(degree_bound, own.degree_max_bound)
    cost_bound: float | UnsetType = UNSET
    cost_gap: float | UnsetType | None = UNSET
    if len(constraints.priced):
        cost_bound = bound_cost(interest, constraints, progress=progress)
        cost = figures["cost_total"]
        cost_gap = cost / cost_bound - 1 if connected and cost_bound > 0 else None
    return Certificate(
        edges_bound=edges_bound,
        degree_max_bound=degree_bound,
        gap=gap(figures["edges"], edges_bound) if connected else None,
        degree_max_gap=gap(figures["degree_max"], degree_bound) if connected else None,
        bound_method=found.method,
        bound_survive=survive or UNSET,
        bound_constraints=_demanding([*constraints.kinds(), *kinds]) or UNSET,
        cost_bound=cost_bound,
        cost_gap=cost_gap,
    )


def _demanding(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds of constraints that may demand more; what is only weighed demands nothing."""
    return tuple(dict.fromkeys(kind for kind in kinds if kind not in ("rates", "rtt")))


def certificate_told(found: Certificate | UnsetType, figures: Mapping[str, Any]) -> list[str]:
    """Say the certificate of an overlay with these figures in sentences; none if there is no certificate."""
    if found is UNSET:
        return []
    split = not figures["topic_connected"]
    if split or (found.gap is None and found.edges_bound):
        lacking = "with split topics" if split else "in which topics do not survive"
        return [
            f"no gap can be told of an overlay {lacking}: any {_kind(found)} has at least "
            f"{found.edges_bound:,} edges and a maximum degree of at least {found.degree_max_bound:,}"
        ]
    costs = found.cost_bound is not UNSET
    return [
        *_not_considered(found),
        f"{'edges ' if costs else ''}{_within(found.gap, costs=costs)}: {figures['edges']:,} edges, "
        f"no {_kind(found)} has fewer than {found.edges_bound:,}",
        f"maximum degree {_within(found.degree_max_gap, costs=costs)}: {figures['degree_max']:,}, and "
        f"{found.degree_max_bound:,} is needed",
        *_cost_told(found, figures),
    ]


def _not_considered(found: Certificate) -> list[str]:
    """Say for which overlays the bounds are, where that are not only those asked for."""
    if found.bound_constraints is UNSET:
        return []
    kinds = ", ".join(found.bound_constraints)
    return [f"bounds are those of overlays without constraints ({kinds}), which may demand more"]


def _cost_told(found: Certificate, figures: Mapping[str, Any]) -> list[str]:
    if found.cost_bound is UNSET:
        return []
    told = f"cost {figures['cost_total']:,.6g}, and no overlay costs less than {found.cost_bound:,.6g}"
    gap = found.cost_gap
    if gap is UNSET or gap is None:
        return [told]
    return [f"{told}: at most {100 * max(gap, 0.0):.1f}% above the least there can be"]


def _kind(found: Certificate) -> str:
    if found.bound_survive is UNSET:
        return "topic-connected overlay"
    return f"overlay that survives {counted(found.bound_survive, 'death')}"


def _within(share: float | None, *, costs: bool = False) -> str:
    if share is None:
        return "nothing is needed"
    if costs:  # the fewest edges are not the goal then
        return f"{100 * share:.1f}% above the bound"
    return "optimal" if share == 0 else f"within {100 * share:.1f}% of optimal"

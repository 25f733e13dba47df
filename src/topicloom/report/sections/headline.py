"""The first thing people see: the numbers that matter, each with its meaning in a sentence."""

from __future__ import annotations

from topicloom.report.figures import Figure, Section
from topicloom.report.sections.words import best_of, counted, decimal, overlay_of, percent
from topicloom.report.sources.subject import BuildView, OverlaySubject, SimulationSubject, Subject


def make_headline(subject: Subject) -> Section | None:
    """Return the headline of overlays; other subjects have their own."""
    found = overlay_of(subject)
    if found is None or isinstance(subject, SimulationSubject):
        return None
    view = best_of(found.builds)
    several = len(found.builds) > 1
    lead = (
        f"Of {len(found.builds)} builds, {view.name} needs the fewest connections. Its numbers:"
        if several
        else f"What {view.name} made of {counted(found.interest.n_nodes, 'node')} and their interests."
    )
    return Section(title="At a glance", lead=lead, figures=overlay_figures(found, view))


def overlay_figures(subject: OverlaySubject, view: BuildView) -> list[Figure]:
    """Return what matters of one overlay."""
    interest, overlay, figures = subject.interest, view.overlay, view.figures
    average = 2 * overlay.n_edges / max(overlay.n_nodes, 1)
    busiest = int(figures.degrees.max(initial=0))
    pairs = interest.n_nodes * (interest.n_nodes - 1) / 2
    found = [
        Figure(
            "edges",
            f"{overlay.n_edges:,}",
            f"Connections in all, {percent(overlay.n_edges / pairs) if pairs else '0%'} of all pairs of nodes"
            + _beside(overlay.n_edges, subject.bounds.edges if subject.bounds else None),
        ),
        Figure(
            "average degree",
            decimal(average),
            f"A node keeps {decimal(average)} connections on average and wants "
            f"{decimal(interest.n_subscriptions / max(interest.n_nodes, 1))} topics.",
        ),
        Figure(
            "maximum degree",
            f"{busiest:,}",
            "No node keeps more connections than this"
            + _beside(busiest, subject.bounds.degree_max if subject.bounds else None),
        ),
    ]
    if figures.hops_avg is not None:
        longest = int(figures.topic_diameters.max(initial=0))
        found.append(
            Figure(
                "hops within a topic",
                decimal(figures.hops_avg),
                f"A message takes {decimal(figures.hops_avg)} hops on average to another subscriber, at most "
                f"{longest:,}.",
            )
        )
    return found


def _beside(found: int, bound: int | None) -> str:
    if not bound:
        return "."
    if found == bound:
        return "; no overlay that connects every topic can do with fewer."
    return f"; every overlay that connects all topics needs at least {bound:,}."

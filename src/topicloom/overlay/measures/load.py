"""What edges and nodes carry: the topics that both ends of an edge want, and their sum over a node's edges.

Without rates the load of a node is counted in (neighbor, topic) pairs. With rates, a topic weighs what its
publishers send together, and the load is an upper bound of the messages per unit of time on the node's
edges: a flood in which every message crosses every edge that carries its topic.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs, sealed
from topicloom.base.kernels.parallel import for_slices
from topicloom.base.summaries import Figures
from topicloom.overlay.kernels.shared_topics import shared_slots
from topicloom.overlay.measures.degree import percentiles
from topicloom.overlay.measures.measure import Figure, Measure, OverlayView
from topicloom.overlay.model.interest import Interest
from topicloom.tables.records import ROLES

SLICE = 50_000


def measure_topics_per_edge(view: OverlayView) -> Figures:
    """Measure the topics that edges carry; an edge that no topic can use counts 0."""
    counts, _ = topics_along_edges(view)
    return {
        "topics_per_edge_avg": float(counts.mean()) if len(counts) else 0.0,
        "topics_per_edge_max": int(counts.max(initial=0)),
        "topics_per_edge_percentiles": {name: int(value) for name, value in percentiles(counts).items()},
        "edges_unused": int(np.count_nonzero(counts == 0)),
    }


def topics_along_edges(view: OverlayView, weights: Floats | None = None) -> tuple[Longs, Floats]:
    """Return for each edge how many topics its ends share, and the sum of those topics' weights (None: 1)."""
    u, v = sealed(view.overlay.u), sealed(view.overlay.v)
    counts, carried = np.zeros(len(u), dtype=np.int64), np.zeros(len(u))

    def work(start: int, stop: int) -> None:
        ptr, slots, _ = shared_slots(u[start:stop], v[start:stop], *view.node_lists)
        counts[start:stop] = carried[start:stop] = np.diff(ptr)
        if weights is not None:
            edges = np.repeat(np.arange(stop - start), counts[start:stop])
            carried[start:stop] = np.bincount(edges, weights[view.node_lists[1][slots]], stop - start)

    view.progress.phase("topics per edge", len(u))
    for_slices(work, len(u), slice_size=SLICE, threads=view.threads, progress=view.progress)
    return counts, carried


def measure_load(view: OverlayView) -> Figures:
    """Measure what the edges of each node carry together."""
    rates = topic_rates(view.interest)
    loads = node_loads(view, rates)
    return {
        "load_max": float(loads.max(initial=0.0)),
        "load_avg": float(loads.mean()) if len(loads) else 0.0,
        "load_percentiles": percentiles(loads),
        "load_unit": "topics" if rates is None else "messages",
    }


def topic_rates(interest: Interest) -> Floats | None:
    """Return what the publishers of each topic send together; None when the input had no rates.

    Without roles every node with a rate is a publisher. A missing rate (NaN) counts as 0.
    """
    if interest.rates is None:
        return None
    sent = np.nan_to_num(interest.rates, nan=0.0)
    if interest.roles is not None:
        sent = np.where(interest.roles == ROLES.index("sub"), 0.0, sent)
    return _weighed_counts(interest.node_topics, sent, interest.n_topics)


def node_loads(view: OverlayView, rates: Floats | None) -> Floats:
    """Return for each node the weight of the topics on its edges, summed."""
    _, carried = topics_along_edges(view, rates)
    n = view.overlay.n_nodes
    return _weighed_counts(view.overlay.u, carried, n) + _weighed_counts(view.overlay.v, carried, n)


def _weighed_counts(owners: Ints, weights: Floats, n: int) -> Floats:
    return np.bincount(owners, weights=weights, minlength=n).astype(np.float64)


TOPICS_PER_EDGE = Measure(
    function=measure_topics_per_edge,
    figures=(
        Figure("topics_per_edge_avg", "topics per edge, average", ".2f"),
        Figure("topics_per_edge_max"),
        Figure("topics_per_edge_percentiles"),
        Figure("edges_unused"),
    ),
    aim="how many topics both ends of an edge want",
    complexity="linear in the topic lists along edges",
)

LOAD = Measure(
    function=measure_load,
    figures=(
        Figure("load_avg", "load per node, average", ".1f", unit="load_unit"),
        Figure("load_percentiles", "load of 50% / 90% / 99% up to", "percentiles"),
        Figure("load_max", "load, maximum", ",.0f"),
        Figure("load_unit"),
    ),
    aim="topics (or messages, when rates are known) that a node's edges carry",
    complexity="linear in the topic lists along edges",
)

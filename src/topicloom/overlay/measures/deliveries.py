"""What deliveries take: hops, or milliseconds, from a publisher to a subscriber, weighed by rates.

A topic t of n subscribers and rate r has r (n - 1) deliveries per unit of time: each message goes to all
other subscribers, and any of them may have published it. With h(u, v) the hops, or the shortest time, from u
to v inside the topic, the mean over all deliveries is

    sum over t of r(t) / n(t) x sum over ordered pairs of h(u, v)  /  sum over t of r(t) / n(t) x their number

Only pairs that reach each other count. Large topics are counted from the sample that `hops` takes.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Floats, Ints, sealed
from topicloom.base.summaries import Figures
from topicloom.errors import InputError
from topicloom.overlay.kernels.path_times import sum_times
from topicloom.overlay.measures.hops import hop_counts, path_sources
from topicloom.overlay.measures.load import topic_rates
from topicloom.overlay.measures.measure import Figure, OverlayView, for_topics
from topicloom.overlay.model.constraints import Constraints
from topicloom.overlay.model.interest import Interest

FIGURES = (
    Figure("delivery_hops", "hops of a delivery, mean", ".2f"),
    Figure("delivery_ms", "milliseconds of a delivery, mean", ",.2f"),
    Figure("cost_total", "cost of all edges", ",.6g"),
)


def rates_of(interest: Interest, constraints: Constraints) -> Floats | None:
    """Return the rate of each topic: as given beside the table, or else by its own column."""
    return topic_rates(interest) if constraints.rates is None else constraints.rates


def measure_deliveries(view: OverlayView, constraints: Constraints) -> Figures:
    """Measure what is known: hops where there are rates, milliseconds where there are times, and costs."""
    rates, found = rates_of(view.interest, constraints), {}
    if rates is not None:
        found["delivery_hops"] = delivery_hops(view, rates)
        if len(constraints.timed):
            found["delivery_ms"] = delivery_ms(view, rates, constraints)
    if len(constraints.priced):
        found["cost_total"] = constraints.cost_of(view.overlay)
    return found


def pair_weights(interest: Interest, rates: Floats) -> Floats:
    """Return for each topic the messages per unit of time from one subscriber to another."""
    if len(rates) != interest.n_topics:
        raise InputError(f"{len(rates)} rates are given for {interest.n_topics} topics")
    weights: Floats = rates / np.maximum(interest.topic_sizes(), 1)
    return weights


def delivery_hops(view: OverlayView, rates: Floats) -> float:
    """Return the mean hops of a delivery; 0 where there are none."""
    counts = hop_counts(view)
    sums = (counts * np.arange(counts.shape[1])).sum(axis=1)
    return _mean(pair_weights(view.interest, rates), sums, counts.sum(axis=1))


def delivery_ms(view: OverlayView, rates: Floats, constraints: Constraints) -> float:
    """Return the mean milliseconds of a delivery by shortest paths; 0 where there are none."""
    ptr, sources, share = path_sources(view.interest)
    sizes = view.interest.topic_sizes()
    counts: Floats = np.zeros((len(sizes), 2))
    times = edge_times(view, constraints)

    def work(topics: Ints) -> None:
        lists = (*view.topic_lists, *view.adjacency)
        sum_times(topics, *lists, times, sealed(ptr), sealed(sources), counts)

    for_topics(view, "times inside topics", work, (np.diff(ptr) * sizes + 1).astype(np.float64))
    return _mean(pair_weights(view.interest, rates), counts[:, 0] * share, counts[:, 1] * share)


def edge_times(view: OverlayView, constraints: Constraints) -> Floats:
    """Return the time of each entry of the adjacency."""
    ptr, near = view.adjacency
    n = view.overlay.n_nodes
    here = np.repeat(np.arange(n), np.diff(ptr))
    keys = np.minimum(here, near) * max(n, 1) + np.maximum(here, near)
    known = constraints.timed.keys(n)
    place = np.minimum(np.searchsorted(known, keys), max(len(known) - 1, 0))
    found = known[place] == keys if len(known) else np.zeros(len(keys), np.bool_)
    times: Floats = np.where(found, constraints.times[place] if len(known) else 0.0, constraints.usual_time)
    return times


def _mean(weights: Floats, sums: Floats, pairs: Floats) -> float:
    total = float((weights * pairs).sum())
    return float((weights * sums).sum() / total) if total else 0.0

"""Hops inside topics: their mean, what 95% of the pairs keep, and what no overlay of this degree beats.

Counted over all ordered pairs of subscribers of a topic that reach each other, each topic by its own
subgraph. A topic of more than `EXACT_SUBSCRIBERS` is counted from so many of its subscribers, drawn with a
fixed seed, each standing for its share of all; the result never depends on the machine.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs, sealed
from topicloom.base.seeds import generator
from topicloom.base.summaries import Figures
from topicloom.overlay.kernels.hop_counts import count_hops
from topicloom.overlay.measures.measure import Figure, Measure, OverlayView, for_topics
from topicloom.overlay.model.interest import Interest

EXACT_SUBSCRIBERS = 256
FARTHEST = 4096  # longer paths count as so many hops
SEED = 20  # of the sample


def measure_hops(view: OverlayView) -> Figures:
    """Measure mean and 95th percentile of the hops between subscribers of a topic, and bound their number."""
    weights = hop_weights(view)
    total = weights.sum()
    degree = int(view.overlay.degrees().max(initial=0))
    sizes = view.interest.topic_sizes()
    return {
        "hops_mean": mean_hops(weights) or 0.0,
        "hops_p95": int(np.searchsorted(np.cumsum(weights), 0.95 * total - 1e-9)) if total else 0,
        "hops_bound": moore_bound(int(sizes.max(initial=0)), degree),
        "hops_sampled_topics": int((sizes > EXACT_SUBSCRIBERS).sum()),
    }


def mean_hops(weights: Floats) -> float | None:
    """Return the mean hops of pairs, counted by hops; None if there are none.

    >>> mean_hops(np.array([0.0, 4.0, 2.0]))
    1.3333333333333333
    """
    total = weights.sum()
    return float((weights * np.arange(len(weights))).sum() / total) if total else None


def hop_weights(view: OverlayView) -> Floats:
    """Return how many ordered pairs of subscribers of a topic are 0, 1, 2, ... hops apart."""
    weights: Floats = hop_counts(view).sum(axis=0)
    return weights


def hop_counts(view: OverlayView) -> Floats:
    """Return the same for each topic: a row of pairs by hops."""
    sizes = view.interest.topic_sizes()
    ptr, sources, share = path_sources(view.interest)
    farthest = int(min(sizes.max(initial=1), FARTHEST))
    counts: Longs = np.zeros((len(sizes), farthest + 1), np.int64)

    def work(topics: Ints) -> None:
        lists = (*view.topic_lists, *view.adjacency)
        count_hops(topics, *lists, sealed(ptr), sealed(sources), farthest, counts)

    for_topics(view, "hops inside topics", work, (np.diff(ptr) * sizes + 1).astype(np.float64))
    weights: Floats = counts * share[:, None]
    return weights


def path_sources(interest: Interest) -> tuple[Longs, Longs, Floats]:
    """Return from where paths are counted: pointers by topic, places in it, for how many each stands."""
    sizes = interest.topic_sizes()
    chosen = [_sources(int(size)) for size in sizes.tolist()]
    ptr = np.concatenate(([0], np.cumsum([len(some) for some in chosen]))).astype(np.int64)
    share: Floats = sizes / np.maximum(np.diff(ptr), 1)
    return ptr, np.concatenate([np.zeros(0, np.int64), *chosen]), share


def _sources(size: int) -> Longs:
    """Return the subscribers of a topic, by place, from which hops are counted: all, or a fixed sample."""
    if size <= EXACT_SUBSCRIBERS:
        return np.arange(size, dtype=np.int64)
    drawn = generator(SEED, f"hops-{size}").choice(size, EXACT_SUBSCRIBERS, replace=False)
    return np.sort(drawn).astype(np.int64)


def moore_bound(nodes: int, degree: int) -> int:
    """Return the fewest hops by which a node can reach all of so many with degrees at most `degree`.

    With k hops a node of degree d reaches at most d + d (d - 1) + ... + d (d - 1)^(k - 1) others: the bound
    of Moore (Hoffman and Singleton 1960).

    >>> moore_bound(10, 3), moore_bound(11, 3), moore_bound(7, 2), moore_bound(1, 0)
    (2, 3, 3, 0)
    """
    hops, reached, ring = 0, 1, degree
    while reached < nodes and ring > 0 and hops < nodes:
        reached += ring
        ring *= degree - 1
        hops += 1
    return hops


HOPS = Measure(
    function=measure_hops,
    figures=(
        Figure("hops_mean", "hops within topics, mean", ".2f"),
        Figure("hops_p95", "hops of 95% of the pairs up to"),
        Figure("hops_bound", "fewest hops at this maximum degree"),
        Figure("hops_sampled_topics"),
    ),
    aim="hops between two subscribers of a topic, inside it; large topics by a fixed sample",
    complexity="at most 256 searches per topic",
)

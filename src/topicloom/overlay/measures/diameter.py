"""How far messages may travel: the diameter inside each topic, and that of the whole overlay.

The topic diameter here is that of the subgraph of the topic's subscribers alone, because messages travel
only through nodes that want them; that is what a deployment sees. [Chockler2007a, 9] measures distances
between the same nodes in the whole overlay, where a path may leave the topic: never more than ours.

A split topic has no diameter: it counts in neither maximum nor average, `topics_partitioned` says how
many there are. A disconnected overlay reports its largest component, `overlay_components` says so.

Exact wherever subscribers x edge ends <= EXACT_WORK, and beyond that as long as the edge visits allowed
(constants below, so the result never depends on the machine) bring both bounds together. Where they do
not, the value given is the upper bound; the bounds stand beside it.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, Longs, component_labels, sealed
from topicloom.base.kernels.parallel import for_slices
from topicloom.base.progress import QuietProgress
from topicloom.base.summaries import Figures
from topicloom.overlay.kernels.distance import BATCH, longest_from_each, sweep, topic_diameters
from topicloom.overlay.kernels.topic_subgraphs import induced_subgraph
from topicloom.overlay.measures.measure import Figure, Measure, OverlayView, for_topics
from topicloom.overlay.model.interest import Interest

# A topic with at most so many subscribers x edge ends is always measured exactly.
EXACT_WORK = 4_000_000
# Edge visits shared out over all topics by their number of subscribers, on top of EXACT_WORK each.
TOPICS_WORK = 6_000_000_000
OVERLAY_WORK = 3_000_000_000  # edge visits spent on the diameter of the whole overlay
NAMED = 100  # topics whose hops are told one by one
WAVE = 8  # batches of sources between two looks at the bounds; fixed, whatever the number of threads


def measure_topic_diameter(view: OverlayView) -> Figures:
    """Measure the largest and the average diameter within topics, and count the topics known exactly.

    Topics are named with their hops, the longest paths first, at most `NAMED` of them.
    """
    lower, upper = topic_diameter_bounds(view)
    named = _longest(view.interest, upper)
    counted = lower >= 0
    lower, upper = lower[counted], upper[counted]
    maximum_bounds: list[int | None] = [None, None]
    average_bounds: list[float | None] = [None, None]
    if len(lower):
        maximum_bounds = [int(lower.max()), int(upper.max())]
        average_bounds = [float(lower.mean()), float(upper.mean())]
    return {
        "diameter_topic_max": maximum_bounds[1],
        "diameter_topic_avg": average_bounds[1],
        "diameter_topic_max_bounds": maximum_bounds,
        "diameter_topic_avg_bounds": average_bounds,
        "diameter_topics_counted": len(lower),
        "diameter_topics_exact": int(np.count_nonzero(lower == upper)),
        "hops_by_topic": named,
    }


def _longest(interest: Interest, hops: Longs) -> list[dict[str, str | int]]:
    """Return name, subscribers and hops of the topics with the longest paths; split ones have none."""
    sizes = interest.topic_sizes()
    order = np.argsort(-hops, kind="stable")[:NAMED]
    return [
        {
            "topic": interest.topic_ids[topic].as_py(),
            "subscribers": int(sizes[topic]),
            "hops": int(hops[topic]),
        }
        for topic in order[hops[order] >= 0].tolist()
    ]


def topic_diameter_bounds(view: OverlayView, n_subscriptions: int = 0) -> tuple[Longs, Longs]:
    """Return (lower, upper) for each topic, equal where exact; -1 for a split or empty topic.

    Where these are some topics of a larger interest, `n_subscriptions` are all that the work is shared by.
    """
    sizes = view.interest.topic_sizes()
    lower = np.full(len(sizes), -1, dtype=np.int64)
    upper = np.full(len(sizes), -1, dtype=np.int64)
    budgets = EXACT_WORK + (TOPICS_WORK * (sizes / max(sizes.sum(), n_subscriptions, 1))).astype(np.int64)

    def work(topics: Ints) -> None:
        topic_diameters(topics, *view.topic_lists, *view.adjacency, budgets, lower, upper)

    # Between linear (trees) and quadratic (every subscriber a source).
    for_topics(view, "topic diameters", work, sizes.astype(np.float64) ** 1.5 + 1.0)
    return lower, upper


def measure_overlay_diameter(view: OverlayView) -> Figures:
    """Measure the diameter of the overlay's largest component, and count the components."""
    component = component_labels(view.overlay.n_nodes, view.overlay.u, view.overlay.v)
    sizes = np.bincount(component)
    lower, upper = 0, 0
    if len(sizes):
        members = sealed(np.flatnonzero(component == sizes.argmax()).astype(np.int32))
        lower, upper = _connected_diameter(view, members)
    return {
        "diameter_overlay": upper,
        "diameter_overlay_bounds": [lower, upper],
        "overlay_components": len(sizes),
    }


def _connected_diameter(view: OverlayView, members: Ints) -> tuple[int, int]:
    """Bound the diameter among `members`, a whole component; `kernels/distance.py` says how."""
    n = len(members)
    view.progress.phase("overlay diameter", 1.0)
    place = np.full(view.overlay.n_nodes, -1, dtype=np.int32)
    pointers, neighbors = induced_subgraph(members, *view.adjacency, place)
    level, queue = np.full(n, -1, dtype=np.int32), np.empty(n, dtype=np.int32)
    longest = int(sweep(pointers, neighbors, level, queue)[0])
    if len(neighbors) == 2 * (n - 1):
        return longest, longest  # a tree: sweeps are exact
    stop, work, told = n, 0, 0.0
    while stop > 0:
        depth = int(level[queue[stop - 1]])
        if longest >= 2 * depth:
            break
        if work > OVERLAY_WORK:
            return longest, 2 * depth
        start = max(stop - WAVE * BATCH, int(np.searchsorted(level[queue[:stop]], depth)))
        sources = queue[start:stop]

        def batch(first: int, last: int, sources: Ints = sources) -> tuple[int, int]:
            return longest_from_each(pointers, neighbors, sources[first:last])

        quiet = QuietProgress(view.progress)  # what is done is reported below
        found = for_slices(batch, len(sources), slice_size=BATCH, threads=view.threads, progress=quiet)
        longest = max(longest, *(far for far, _ in found))
        work += sum(visits for _, visits in found)
        stop = start
        done = max(min(work / OVERLAY_WORK, 1.0), 1 - stop / n)
        view.progress.advance(done - told)
        told = done
    return longest, longest


TOPIC_DIAMETER = Measure(
    function=measure_topic_diameter,
    figures=(
        Figure("diameter_topic_max"),
        Figure("diameter_topic_avg"),
        Figure("diameter_topic_max_bounds", "diameter within topics, largest", "bounds"),
        Figure("diameter_topic_avg_bounds", "diameter within topics, average", "bounds"),
        Figure("diameter_topics_counted"),
        Figure("diameter_topics_exact"),
        Figure("hops_by_topic"),
    ),
    aim="longest shortest path among each topic's subscribers alone: exact or bounds",
    complexity="up to subscribers x edges / 64 per topic, at most a stated number of edge visits",
)

OVERLAY_DIAMETER = Measure(
    function=measure_overlay_diameter,
    figures=(
        Figure("diameter_overlay"),
        Figure("diameter_overlay_bounds", "diameter of the overlay", "bounds"),
        Figure("overlay_components"),
    ),
    aim="longest shortest path of the overlay (its largest component): exact or bounds",
    complexity="up to nodes x edges / 64, at most a stated number of edge visits",
)

"""All measures of an overlay, and the call that takes them all.

To add one, write its file and add its line here: Python, JSON and the printed table follow.
"""

from __future__ import annotations

from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.base.summaries import Figures
from topicloom.overlay.measures.components import COMPONENTS, FILTERING
from topicloom.overlay.measures.degree import DEGREE
from topicloom.overlay.measures.diameter import OVERLAY_DIAMETER, TOPIC_DIAMETER
from topicloom.overlay.measures.hops import HOPS
from topicloom.overlay.measures.load import LOAD, TOPICS_PER_EDGE
from topicloom.overlay.measures.measure import Figure, Measure, OverlayView, view_of
from topicloom.overlay.measures.splits import SPLITS
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def measure_size(view: OverlayView) -> Figures:
    """Count the interest and the overlay."""
    return {
        "nodes": view.interest.n_nodes,
        "topics": view.interest.n_topics,
        "subscriptions": view.interest.n_subscriptions,
        "edges": view.overlay.n_edges,
    }


SIZE = Measure(
    function=measure_size,
    figures=tuple(Figure(name, name) for name in ("nodes", "topics", "subscriptions", "edges")),
    aim="how large the interest and the overlay are",
    complexity="none",
)

MEASURES: dict[str, Measure] = {
    "size": SIZE,
    "topics-per-edge": TOPICS_PER_EDGE,
    "degree": DEGREE,
    "components": COMPONENTS,
    "overlay-diameter": OVERLAY_DIAMETER,
    "topic-diameter": TOPIC_DIAMETER,
    "hops": HOPS,
    "splits": SPLITS,
    "filtering": FILTERING,
    "load": LOAD,
}


def measure_overlay(
    interest: Interest, overlay: Overlay, *, threads: int | None = None, progress: Progress = SILENT
) -> Figures:
    """Take all measures of `overlay`: plain Python values by key.

    A diameter key holds the exact value, or the upper bound where only bounds are known; the `_bounds` key
    beside it always holds [lower, upper].

    >>> interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")])
    >>> found = measure_overlay(interest, Overlay.from_edges(interest.node_ids, [0, 1], [1, 2]))
    >>> found["topic_connected"], found["diameter_overlay"], found["diameter_topic_max"]
    (True, 2, 1)
    """
    view = view_of(interest, overlay, threads=threads, progress=progress)
    found: Figures = {}
    for measure in MEASURES.values():
        check_stop(progress)
        found |= measure.function(view)
    return found

"""Every measure of one overlay as one dictionary: what `topicloom measure` prints.

A diameter key holds the exact value, or the upper bound where only bounds are known; the `_bounds` key
beside it always holds [lower, upper].
"""

from __future__ import annotations

from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.base.summaries import Figures
from topicloom.overlay.measures.registry import MEASURES
from topicloom.overlay.measures.view import view_of
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def measure_overlay(
    interest: Interest, overlay: Overlay, *, threads: int | None = None, progress: Progress = SILENT
) -> Figures:
    """All measures of `overlay`, plain Python values under the names of the registry.

    >>> interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")])
    >>> found = measure_overlay(interest, Overlay.from_edges(interest.node_ids, [0, 1], [1, 2]))
    >>> found["topic_connected"], found["diameter_overlay"], found["diameter_topic_max"]
    (True, 2, 1)
    """
    view = view_of(interest, overlay, threads=threads, progress=progress)
    found: Figures = {
        "nodes": interest.n_nodes,
        "topics": interest.n_topics,
        "subscriptions": interest.n_subscriptions,
    }
    for measure in MEASURES.values():
        check_stop(progress)
        found |= measure.function(view)
    return found

"""The overlay of one moment, judged by the same measures as any other overlay.

A link counts when both ends have it. Nodes that joined a moment ago may be left out [Chockler2007b, 3.8].
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.measures.degree import degree_histogram, percentiles
from topicloom.overlay.measures.diameter import measure_overlay_diameter, measure_topic_diameter
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.spidercast.simulator.world import World


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """Who was there, what they wanted, who was linked."""

    time: float
    present: np.ndarray[Any, np.dtype[np.int64]]
    interest: Interest
    overlay: Overlay


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A link that a snapshot has and the one before it has not, or the other way round; ends by number."""

    time: float
    u: int
    v: int
    made: bool


def link_changes(
    moment: Moment, before: set[tuple[int, int]]
) -> tuple[set[tuple[int, int]], list[LinkChange]]:
    """Return the links of a moment, and what changed since the snapshot that had the links `before`."""
    now = set(zip(moment.overlay.u.tolist(), moment.overlay.v.tolist(), strict=True))
    changed = [(*link, False) for link in sorted(before - now)] + [
        (*link, True) for link in sorted(now - before)
    ]
    return now, [LinkChange(moment.time, u, v, made) for u, v, made in changed]


def take_moment(world: World, names: Interest, excluded: Collection[int] = ()) -> Moment:
    """Return the overlay of the present nodes except `excluded`; numbers stay those of `names`."""
    present = sorted(int(number) for number, _ in world.here() if number not in excluded)
    counted = set(present)
    low, high, sizes, wanted = [], [], [], []
    for number in present:
        node = world.present(number)
        topics = sorted(node.interest)
        sizes.append(len(topics))
        wanted.extend(topics)
        for peer in node.neighbors:
            if peer > number and peer in counted and world.present(peer).has_link(number):  # type: ignore[operator]
                low.append(number)
                high.append(peer)
    nodes = np.repeat(np.asarray(present, dtype=np.int64), sizes)
    interest = Interest.from_codes(names.node_ids, names.topic_ids, nodes, np.asarray(wanted, dtype=np.int64))
    overlay = Overlay.from_edges(names.node_ids, low, high)
    return Moment(world.now, np.asarray(present, dtype=np.int64), interest, overlay)


def measure_moment(
    moment: Moment, *, diameters: bool, threads: int | None = None, progress: Progress = SILENT
) -> tuple[dict[str, Any], dict[str, int]]:
    """Return its figures, and the split topics with their number of components."""
    verdict = check_overlay(moment.interest, moment.overlay, n_witnesses=None)
    degrees = moment.overlay.degrees()[moment.present]
    figures: dict[str, Any] = {
        "time": moment.time,
        "nodes": len(moment.present),
        "topics": verdict.topics,
        "links": moment.overlay.n_edges,
        "degree_avg": float(degrees.mean()) if len(degrees) else 0.0,
        "degree_max": int(degrees.max()) if len(degrees) else 0,
        "degree_percentiles": percentiles(degrees) if len(degrees) else {},
        "degree_histogram": degree_histogram(degrees),
        "topic_components": verdict.topic_components,
        "topics_partitioned": verdict.topics_partitioned,
        "diameter_overlay": None,
        "diameter_topic_max": None,
    }
    if diameters:
        view = view_of(moment.interest, moment.overlay, threads=threads, progress=progress)
        figures["diameter_overlay"] = measure_overlay_diameter(view)["diameter_overlay"]
        figures["diameter_topic_max"] = measure_topic_diameter(view)["diameter_topic_max"]
    return figures, {witness.topic: len(witness.component_sizes) for witness in verdict.witnesses}

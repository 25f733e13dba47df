"""Improve an overlay that exists region by region, whatever made it; all edges between regions stay.

Inside a region a topic may lie in several parts, which other regions join. Every part stays connected by
edges of the region: so nothing has to be known of the others but degrees, regions are improved at the same
time, and what was connected is connected afterwards. For the search each part is a topic of its own.
A region never gets more edges, and the largest degree of the overlay does not rise (polish.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from topicloom.base.progress import SILENT
from topicloom.overlay.builders.constrained import Edges
from topicloom.overlay.builders.divide.polish import polish_group
from topicloom.overlay.kernels.judge_union_find import settle
from topicloom.overlay.measures.connectivity import join_topics
from topicloom.overlay.model.interest import Interest


def improve_region(
    region: Interest, edges: Edges, degree: NDArray[Any], cap: int, moves: int, seed: int
) -> Edges:
    """Return better edges for a region, as pairs u < v in order; `degree` counts edges to others too."""
    return polish_group(topic_parts(region, edges), edges, degree, cap, moves, seed)


def topic_parts(region: Interest, edges: Edges) -> Interest:
    """Return the interest in the parts of topics that the edges connect; parts have numbers for names.

    >>> region = Interest.from_pairs([(node, "x") for node in "abcd"])
    >>> topic_parts(region, (np.array([0], np.int32), np.array([2], np.int32))).to_arrow().to_pylist()[:2]
    [{'node': 'a', 'topic': '0'}, {'node': 'b', 'topic': '1'}]
    """
    parent = join_topics(*edges, region.node_ptr, region.node_topics, progress=SILENT)
    roots = np.flatnonzero(settle(parent))
    part = np.searchsorted(roots, parent).astype(np.int32)
    names = pa.array(np.arange(len(roots))).cast(pa.string())
    return Interest.from_codes(region.node_ids, names, region.topic_nodes, part)

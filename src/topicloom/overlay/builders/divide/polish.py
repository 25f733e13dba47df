"""Polish an overlay part by part: the local search within every group of light nodes, all else held still.

Each group's own edges connect its topics by themselves, before and after. So whatever joins the groups stays
valid, groups may be polished at the same time, and edges beyond a group count only in the degrees of its
nodes. A group never gets more edges, no node rises above both the cap and what it had, and the cap is never
above the largest degree there is: so that does not rise either.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.builders.constrained import ConstrainedTask, Edges
from topicloom.overlay.builders.divide.capped_gm import ROOM
from topicloom.overlay.builders.local_search import LocalSearch
from topicloom.overlay.model.constraints import Constraints, NodePairs
from topicloom.overlay.model.interest import Interest

FEW = 10  # at most one node in so many is to be relieved
WEAK = 2  # edges that carry so few topics are looked at first: others can carry these
FREE_ROUNDS = 3  # of the rounds of relief those that need no edge more than before


def polish_cap(degrees: NDArray[Any], counts: NDArray[Any], n_nodes: int) -> int:
    """Return the degree that nodes are brought down to: near the average, but not if many are above.

    `counts[i]` of all nodes have `degrees[i]` edges, ascending; nodes without an edge need not be told.

    >>> polish_cap(np.array([3, 4, 9]), np.array([500, 499, 1]), 1000)
    6
    >>> polish_cap(np.array([1, 2, 30]), np.array([500, 399, 101]), 1000)
    30
    """
    average = math.ceil(int((degrees * counts).sum()) / max(n_nodes, 1))
    above = counts.sum() - np.cumsum(counts)
    common = degrees[FEW * above <= n_nodes]
    return max(average + ROOM, int(common[0]) if len(common) else 0)


def polish_group(
    group: Interest,
    edges: Edges,
    degree: NDArray[Any],
    cap: int,
    moves: int,
    seed: int,
    progress: Progress = SILENT,
) -> Edges:
    """Return better edges for a group, as pairs u < v in order.

    `degree` counts all edges of its nodes, those that leave the group too. Edges that no topic needs go;
    nodes above `cap` give edges to others; then come `moves` moves per edge.
    """
    n_nodes = group.n_nodes
    before = NodePairs.of(*edges, n_nodes)
    outside = degree - before.degrees(n_nodes)
    # A topic of one node asks for nothing; without those both engines give the topics the same numbers.
    caps = np.maximum(cap - outside, 1).astype(np.int32)
    task = ConstrainedTask.of(_shared_topics(group), Constraints(caps=caps), threads=1)
    search = LocalSearch(task, (before.u, before.v), cap=cap, seed=seed, progress=progress)
    search.prune(most_load=WEAK)
    ends = _relieve(search, cap, len(before))
    if moves:
        search = LocalSearch(task, ends, cap=cap, seed=seed, progress=progress)
        search.improve(cap, moves * search.n_edges)
        search.prune()
        ends = search.edges()
    after = NodePairs.of(*ends, n_nodes)
    return after.u, after.v


def _relieve(search: LocalSearch, cap: int, most_edges: int) -> Edges:
    """Bring nodes down to `cap`, and the largest degree as far as that goes; at most `most_edges` edges."""
    done = search.relieve(cap, rounds=FREE_ROUNDS)
    found = search.edges()
    if done:
        return found
    highest = cap + int((search.degree - search.caps(cap)).max())
    for limit in range(highest - 1, cap - 1, -1):  # from here on relief may spend what pruning has saved
        reached = search.relieve(limit)
        if search.n_edges > most_edges:
            break
        found = search.edges()
        if not reached:
            break
    return found


def _shared_topics(group: Interest) -> Interest:
    """Return the interest in the topics of at least two nodes, numbered without gaps."""
    wanted = group.topic_sizes() > 1
    number = (np.cumsum(wanted) - 1).astype(np.int32)
    kept = wanted[group.node_topics]
    names = group.topic_ids.filter(pa.array(wanted))
    return Interest.from_codes(
        group.node_ids, names, group.pair_nodes()[kept], number[group.node_topics[kept]]
    )

"""The graph as the page wants it: names, packed numbers, places. Large ones are sampled, and say so.

Numbers are packed as little-endian bytes in base64: a page of 2,000 nodes must stay small. What lights up
when a topic is picked, what an edge carries and what a death would split is computed in the browser from
these, so that it needs no more data than the overlay itself.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Longs
from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.graphs.layout import Points, place_nodes
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

MOST_NODES = 5_000
MOST_EDGES = 60_000  # of one graph: more would be a black square, and slow
ALL_EDGES = 150_000  # of all graphs of a page together
GRID = 65_535  # coordinates are numbers from 0 to this


class Packed(msgspec.Struct, frozen=True):
    """Numbers of so many bits each."""

    bits: int
    data: str


class Graph(msgspec.Struct, frozen=True, kw_only=True):
    """One overlay over the nodes of a drawing: edges by node number, and where nodes are."""

    name: str
    u: Packed
    v: Packed
    x: Packed
    y: Packed
    groups: Packed
    note: str = ""
    carry_starts: Packed | None = None  # the topics of edge i are carried[carry_starts[i]:carry_starts[i+1]]
    carried: Packed | None = None  # without them an edge carries what both ends want


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """What changed since the moment before: links by pairs of node numbers, nodes that came and went."""

    time: float
    added: Packed
    removed: Packed
    split: list[str] = []


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is drawn. `topics` of node i are `wants[starts[i]:starts[i+1]]`.

    `note` says what is left out. In a `sampled` drawing nothing is said of splits: paths may lead through
    nodes that are not drawn.
    """

    nodes: list[str]
    topics: list[str]
    starts: Packed
    wants: Packed
    graphs: list[Graph]
    group_title: str
    first: int = 0  # the graph that is shown first
    node_word: str = "node"
    edge_word: str = "edge"
    topic_word: str = "topic"
    note: str = ""
    sampled: bool = False
    moments: list[Moment] = []
    sizes: Packed | None = None
    kinds: list[str] = []
    notes: list[str] = []


def pack(values: NDArray[Any] | Sequence[int]) -> Packed:
    """Pack whole numbers of at least 0 into as few bits as hold the largest.

    >>> pack([1, 2, 3])
    Packed(bits=8, data='AQID')
    """
    array = np.asarray(values, dtype=np.int64)
    largest = int(array.max(initial=0))
    bits = 8 if largest < 1 << 8 else 16 if largest < 1 << 16 else 32
    return Packed(bits, b64encode(array.astype(f"<u{bits // 8}").tobytes()).decode())


def pack_places(points: Points) -> tuple[Packed, Packed]:
    """Pack coordinates from 0 to 1."""
    whole = np.rint(np.clip(points, 0, 1) * GRID).astype(np.int64)
    return pack(whole[:, 0]), pack(whole[:, 1])


def draw_overlays(
    interest: Interest,
    overlays: Sequence[tuple[str, Overlay]],
    *,
    first: str = "",
    progress: Progress = SILENT,
) -> Drawing:
    """Return the drawing of one or several overlays of the same interest."""
    shown = choose_nodes(dict(overlays).get(first, overlays[0][1]))
    sampled = len(shown) < interest.n_nodes
    note = ""
    if sampled:
        note = (
            f"{len(shown):,} of {interest.n_nodes:,} nodes are drawn: those nearest to the busiest one. "
            "Paths may lead through nodes that are not drawn, so nothing is said of splits."
        )
    part = interest.restrict(shown) if sampled else interest
    graphs, left = [], ALL_EDGES
    for name, overlay in overlays:
        graph, used = _graph(name, overlay, shown, min(MOST_EDGES, left), progress)
        graphs.append(graph)
        left -= used
    kept = [graph for graph in graphs if graph is not None]
    return Drawing(
        nodes=part.node_ids.to_pylist(),
        topics=part.topic_ids.to_pylist(),
        starts=pack(part.node_ptr),
        wants=pack(part.node_topics),
        graphs=kept,
        first=next((place for place, graph in enumerate(kept) if graph.name == first), 0),
        group_title="densely linked nodes",
        note=" ".join(filter(None, (note, _left_out(graphs, overlays)))),
        sampled=sampled,
    )


def choose_nodes(overlay: Overlay) -> Longs:
    """Return all nodes or, of too many or too densely linked ones, those nearest to the busiest one."""
    if overlay.n_nodes <= MOST_NODES and overlay.n_edges <= MOST_EDGES:
        return np.arange(overlay.n_nodes)
    order = _nearest_first(overlay)
    rank = np.full(overlay.n_nodes, len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    # An edge is drawn once its later end is: take nodes as long as their edges are not too many.
    added = np.bincount(np.maximum(rank[overlay.u], rank[overlay.v]), minlength=len(order))[: len(order)]
    return np.sort(order[np.cumsum(added) <= MOST_EDGES])


def _nearest_first(overlay: Overlay) -> Longs:
    """Return nodes by their distance from the busiest one, then from the busiest of the rest, and so on."""
    starts, neighbors = overlay.adjacency()
    degrees = np.diff(starts)
    seen = np.zeros(overlay.n_nodes, dtype=bool)
    chosen: list[int] = []
    for begin in np.argsort(-degrees, kind="stable").tolist():
        queue = [] if seen[begin] else [begin]
        seen[begin] = True
        while queue and len(chosen) < MOST_NODES:
            chosen += queue[: MOST_NODES - len(chosen)]
            found = np.unique(np.concatenate([neighbors[starts[one] : starts[one + 1]] for one in queue]))
            queue = found[~seen[found]].tolist()
            seen[queue] = True
        if len(chosen) >= MOST_NODES:
            break
    return np.array(chosen, dtype=np.int64)


def _graph(
    name: str, overlay: Overlay, shown: Longs, most: int, progress: Progress
) -> tuple[Graph | None, int]:
    place = np.full(overlay.n_nodes, -1, dtype=np.int64)
    place[shown] = np.arange(len(shown))
    u, v = place[overlay.u], place[overlay.v]
    both = (u >= 0) & (v >= 0)
    u, v = u[both], v[both]
    if len(u) > most:
        return None, 0
    x, y = pack_places(place_nodes(len(shown), u.astype(np.int32), v.astype(np.int32), progress=progress))
    groups = find_groups(len(shown), u, v)
    return Graph(name=name, u=pack(u), v=pack(v), x=x, y=y, groups=pack(groups)), len(u)


def find_groups(n: int, u: NDArray[Any], v: NDArray[Any]) -> Longs:
    """Return a group for each node, the largest first: nodes with more edges among them than to others."""
    import random

    import igraph

    if not len(u):
        return np.zeros(n, dtype=np.int64)
    igraph.set_random_number_generator(random.Random(0))
    try:
        graph = igraph.Graph(n=n, edges=np.column_stack((u, v)).tolist())
        found = np.array(graph.community_leiden("modularity", n_iterations=3).membership)
    finally:
        igraph.set_random_number_generator(random)
    sizes = np.bincount(found)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return np.asarray(rank[found], dtype=np.int64)


def _left_out(graphs: Sequence[Graph | None], overlays: Sequence[tuple[str, Overlay]]) -> str:
    missing = [name for (name, _), graph in zip(overlays, graphs, strict=True) if graph is None]
    if not missing:
        return ""
    return f"Not drawn, because they have too many edges: {', '.join(missing)}."

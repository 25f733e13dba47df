"""An interest out of a sparse matrix, or of a bipartite graph: names and numbers of two sides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import Longs
from topicloom.base.ids import numbered_ids
from topicloom.errors import InputError
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.python_tables import comes_from, is_graph, name_of, refuse

if TYPE_CHECKING:
    import networkx
    import scipy.sparse


def interest_from_scipy(
    matrix: scipy.sparse.sparray | scipy.sparse.spmatrix,
    node_ids: Iterable[str | int] | None,
    topic_ids: Iterable[str | int] | None,
) -> Interest:
    """Make it from a sparse nodes x topics matrix; see `Interest.from_scipy`."""
    if not hasattr(matrix, "nonzero") or len(getattr(matrix, "shape", ())) != 2:
        raise refuse("matrix", "a sparse matrix, nodes by topics", matrix)
    nodes, topics = matrix.nonzero()
    sorted_nodes, node_rank = _sorted_names(node_ids, matrix.shape[0], "n")
    sorted_topics, topic_rank = _sorted_names(topic_ids, matrix.shape[1], "t")
    return Interest.from_repeated(sorted_nodes, sorted_topics, node_rank[nodes], topic_rank[topics])


def interest_from_networkx(graph: networkx.Graph) -> Interest:
    """Make it from a bipartite graph; see `Interest.from_networkx`."""
    if not is_graph(graph) or not comes_from(graph, "networkx"):
        raise refuse("graph", "a bipartite graph of networkx", graph)
    sides = {name: data.get("bipartite") for name, data in graph.nodes(data=True)}
    wrong = next((name for name, side in sides.items() if side not in (0, 1)), None)
    if wrong is not None:
        raise InputError(f"graph node {wrong!r} has no bipartite=0 (node) or bipartite=1 (topic)")
    same = next(((a, b) for a, b in graph.edges() if sides[a] == sides[b]), None)
    if same is not None:
        raise InputError(f"graph edge {same!r} joins two of the same side: the graph is not bipartite")
    names = [[name for name, side in sides.items() if side == wanted] for wanted in (0, 1)]
    place = {name: number for side in names for number, name in enumerate(side)}
    ends = [(place[a], place[b]) if sides[a] == 0 else (place[b], place[a]) for a, b in graph.edges()]
    nodes, topics = np.array(ends, np.int64).reshape(-1, 2).T
    node_ids, node_rank = _sorted_names(map(str, names[0]), len(names[0]), "n")
    topic_ids, topic_rank = _sorted_names(map(str, names[1]), len(names[1]), "t")
    return Interest.from_repeated(node_ids, topic_ids, node_rank[nodes], topic_rank[topics])


def _sorted_names(names: Iterable[str | int] | None, count: int, prefix: str) -> tuple[pa.StringArray, Longs]:
    """Return names in byte order and, for each original position, its place in that order."""
    given = None if names is None else [name if isinstance(name, str) else name_of(name) for name in names]
    listed = numbered_ids(prefix, count) if given is None else pa.array(given, pa.string())
    if len(listed) != count or len(pc.unique(listed)) != count or listed.null_count:
        raise InputError(f"{count} distinct identifiers are needed, {len(listed)} were given")
    order = pc.sort_indices(listed).to_numpy()
    rank = np.empty(count, dtype=np.int64)
    rank[order] = np.arange(count)
    return listed.take(pa.array(order)), rank

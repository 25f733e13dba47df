"""The designed graph: canonical undirected edges over the nodes of an interest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import Ints, Longs, freeze_fields, pointers, sorted_distinct, take_chunks
from topicloom.errors import InputError

if TYPE_CHECKING:
    import igraph
    import networkx
    import pandas
    import scipy.sparse


@dataclass(frozen=True, slots=True, eq=False)
class Overlay:
    """Edges (u[i], v[i]) with u < v, sorted, distinct; numbers are those of the interest's nodes.

    >>> overlay = Overlay.from_edges(pa.array(["a", "b", "c"]), [2, 0, 1], [0, 2, 2])
    >>> overlay.n_edges, overlay.degrees().tolist()
    (2, [1, 1, 2])
    """

    node_ids: pa.StringArray
    u: Ints
    v: Ints

    def __post_init__(self) -> None:
        freeze_fields(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Overlay, (self.node_ids, self.u, self.v)

    @classmethod
    def from_edges(cls, node_ids: pa.StringArray, u: Iterable[int], v: Iterable[int]) -> Overlay:
        """Make canonical edges of node numbers in any order; repeats count once, self-loops are refused."""
        low, high = ordered_ends(u, v)
        loops = low == high
        if loops.any():
            raise InputError(f"node {node_ids[int(low[loops][0])].as_py()!r} has an edge to itself")
        if len(low) and (low.min() < 0 or high.max() >= len(node_ids)):
            raise InputError(f"an edge names a node number outside 0..{len(node_ids) - 1}")
        keys = sorted_distinct(low * max(len(node_ids), 1) + high)
        low, high = np.divmod(keys, max(len(node_ids), 1))
        return cls(node_ids, low.astype(np.int32), high.astype(np.int32))

    @classmethod
    def from_arrow(cls, node_ids: pa.StringArray, edges: pa.Table) -> Overlay:
        """Make it from a table with columns `u` and `v` of identifiers, all of them in `node_ids`."""
        ends = []
        for name in ("u", "v"):
            column = edges.column(name)
            codes = pc.index_in(column, value_set=node_ids)
            if codes.null_count:
                unknown = column.filter(pc.is_null(codes))[0].as_py()
                raise InputError(f"edge end {unknown!r} (column {name}) is not a node of the interest")
            ends.append(codes.combine_chunks().to_numpy(zero_copy_only=False))
        return cls.from_edges(node_ids, ends[0], ends[1])

    @property
    def n_nodes(self) -> int:
        return len(self.node_ids)

    @property
    def n_edges(self) -> int:
        return len(self.u)

    def degrees(self) -> Longs:
        """Return the number of neighbors of each node."""
        ends = np.concatenate((self.u, self.v))
        return np.bincount(ends, minlength=self.n_nodes).astype(np.int64)

    def adjacency(self) -> tuple[Longs, Ints]:
        """Return neighbors as (pointers, ascending neighbor numbers)."""
        owners = np.concatenate((self.u, self.v))
        others = np.concatenate((self.v, self.u))
        order = np.lexsort((others, owners))
        return pointers(owners, self.n_nodes), others[order].astype(np.int32)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Overlay):
            return NotImplemented
        return (
            self.node_ids.equals(other.node_ids)
            and np.array_equal(self.u, other.u)
            and np.array_equal(self.v, other.v)
        )

    __hash__ = None  # type: ignore[assignment]  # large arrays: not a dictionary key

    def __repr__(self) -> str:
        return f"Overlay({self.n_nodes:,} nodes, {self.n_edges:,} edges)"

    # --- to other forms ----------------------------------------------------------------------------

    def to_arrow(self) -> pa.Table:
        """Return columns `u`, `v` of identifiers, u < v by UTF-8 bytes, sorted."""
        return pa.table({"u": take_chunks(self.node_ids, self.u), "v": take_chunks(self.node_ids, self.v)})

    def to_pandas(self) -> pandas.DataFrame:
        """Return the edge table as a pandas frame."""
        return self.to_arrow().to_pandas()

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the symmetric adjacency matrix, row i being node number i."""
        from scipy.sparse import csr_array

        starts, neighbors = self.adjacency()
        data = np.ones(len(neighbors), dtype=np.int8)
        return csr_array((data, neighbors, starts), shape=(self.n_nodes, self.n_nodes))

    def to_networkx(self) -> networkx.Graph:
        """Return a networkx graph over the original identifiers, nodes without edges included."""
        import networkx

        graph = networkx.Graph()
        graph.add_nodes_from(self.node_ids.to_pylist())
        table = self.to_arrow()
        graph.add_edges_from(zip(table["u"].to_pylist(), table["v"].to_pylist(), strict=True))
        return graph

    def to_igraph(self) -> igraph.Graph:
        """Return an igraph graph; vertex attribute `name` holds the original identifiers."""
        import igraph

        graph = igraph.Graph(n=self.n_nodes, edges=np.column_stack((self.u, self.v)).tolist())
        graph.vs["name"] = self.node_ids.to_pylist()
        return graph


def ordered_ends(u: Iterable[int], v: Iterable[int]) -> tuple[Longs, Longs]:
    """Return the smaller and the larger node number of each pair."""
    a, b = (np.asarray(end if isinstance(end, np.ndarray) else list(end)).astype(np.int64) for end in (u, v))
    return np.minimum(a, b), np.maximum(a, b)

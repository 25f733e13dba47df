"""The designed graph: canonical undirected edges over the nodes of an interest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import Ints, Longs, freeze_fields, pointers, sorted_distinct, take_chunks
from topicloom.base.counts import counted
from topicloom.base.notebook import html_table
from topicloom.errors import InputError, UsageError
from topicloom.overlay.model.frames import interest_of
from topicloom.overlay.model.interest import Interest, number_identifiers
from topicloom.overlay.model.python_tables import (
    column_rows,
    comes_from,
    find_name,
    graph_nodes,
    graph_rows,
    identifiers,
    is_graph,
    is_table,
    name_array,
    pair_rows,
    refuse,
)
from topicloom.overlay.model.shared_topics import edge_topics, shared_topics, topic_lists

if TYPE_CHECKING:
    import igraph
    import networkx
    import pandas
    import scipy.sparse
    from pyspark.sql import DataFrame, SparkSession

NodeNames: TypeAlias = pa.StringArray | Sequence[str | int] | Interest


@dataclass(frozen=True, slots=True, eq=False)
class Overlay:
    """Edges (u[i], v[i]) with u < v, sorted, distinct; numbers are those of the interest's nodes.

    Where the `interest` is known, edges and nodes say which topics they carry and want.

    >>> overlay = Overlay.from_edges(pa.array(["a", "b", "c"]), [2, 0, 1], [0, 2, 2])
    >>> overlay.n_edges, overlay.degrees().tolist()
    (2, [1, 1, 2])
    """

    node_ids: pa.StringArray
    u: Ints
    v: Ints
    interest: Interest | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        freeze_fields(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Overlay, (self.node_ids, self.u, self.v, self.interest)

    @classmethod
    def from_edges(cls, node_ids: NodeNames, u: Iterable[int], v: Iterable[int]) -> Overlay:
        """Make canonical edges of node numbers in any order; repeats count once, self-loops are refused."""
        node_ids = name_array(node_ids)
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
    def from_arrow(cls, node_ids: NodeNames, edges: pa.Table) -> Overlay:
        """Make it from a table with columns `u` and `v` of identifiers, all of them in `node_ids`."""
        if not isinstance(edges, pa.Table | pa.RecordBatch):
            raise refuse("edges", "a table of Arrow with columns u and v", edges)
        node_ids = name_array(node_ids)
        ends = []
        for name in ("u", "v"):
            if name not in edges.column_names:
                raise InputError(
                    f"the edge table has no column {name!r}; its columns are {edges.column_names}"
                )
            column = identifiers(edges.column(name), name)
            codes = pc.index_in(column, value_set=node_ids)
            if codes.null_count:
                unknown = column.filter(pc.is_null(codes))[0].as_py()
                raise InputError(f"edge end {unknown!r} (column {name}) is not a node of the interest")
            ends.append(codes.combine_chunks().to_numpy(zero_copy_only=False))
        return cls.from_edges(node_ids, ends[0], ends[1])

    @classmethod
    def from_pairs(cls, pairs: Iterable[Sequence[str | int]], interest: Interest | None = None) -> Overlay:
        """Make it from pairs of node names; whole numbers are names in digits.

        Its nodes are those of the `interest`; without one those that the pairs name.

        >>> Overlay.from_pairs([("b", "a"), ("b", "c")])
        Overlay(3 nodes, 2 edges)
        """
        return cls._from_rows(pair_rows(pairs, ("u", "v"), "pairs"), interest)

    @classmethod
    def from_pandas(
        cls, frame: pandas.DataFrame, u: str = "u", v: str = "v", interest: Interest | None = None
    ) -> Overlay:
        """Make it from two columns of a pandas frame."""
        if not is_table(frame):
            raise refuse("frame", "a frame of pandas", frame)
        return cls._from_rows(column_rows(frame, u, v).rename_columns(["u", "v"]), interest)

    @classmethod
    def from_networkx(cls, graph: networkx.Graph, interest: Interest | None = None) -> Overlay:
        """Make it from a graph of networkx (or igraph), nodes without edges included."""
        if not is_graph(graph):
            raise refuse("graph", "a graph of networkx", graph)
        return cls._from_rows(graph_rows(graph), interest, graph_nodes(graph))

    @classmethod
    def _from_rows(
        cls, rows: pa.Table, interest: Interest | None, nodes: Sequence[str] | None = None
    ) -> Overlay:
        if interest is not None:
            known = interest_of(interest)
            return replace(cls.from_arrow(known.node_ids, rows), interest=known)
        ends = pa.chunked_array([*rows["u"].chunks, *rows["v"].chunks], pa.string())
        named = ends.drop_null() if nodes is None else pa.chunked_array([pa.array(nodes, pa.string())])
        return cls.from_arrow(number_identifiers(named)[0], rows)

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

    def topics_of_edge(self, u: str | int, v: str | int) -> list[str]:
        """Return the names of the topics that the edge between the nodes called `u` and `v` carries.

        >>> interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")])
        >>> Overlay.from_pairs([("a", "b"), ("b", "c")], interest).topics_of_edge("c", "b")
        ['y']
        """
        known = self._known_interest("topics_of_edge")
        low, high = sorted(find_name(self.node_ids, name, "node") for name in (u, v))
        if not ((self.u == low) & (self.v == high)).any():
            raise InputError(f"the overlay has no edge between {u!r} and {v!r}")
        _, shared = shared_topics(known, np.array([low], np.int32), np.array([high], np.int32))
        names: list[str] = known.topic_ids.take(pa.array(shared)).to_pylist()
        return names

    def with_interest(self, interest: Interest) -> Overlay:
        """Return the same edges, which know what they carry; the nodes must be those of the interest."""
        interest = interest_of(interest)
        if not self.node_ids.equals(interest.node_ids):
            raise InputError(
                f"the overlay's {self.n_nodes:,} nodes are not the interest's {interest.n_nodes:,} nodes"
            )
        return replace(self, interest=interest)

    def _known_interest(self, asked: str) -> Interest:
        if self.interest is None:
            raise UsageError(
                f"`{asked}`: this overlay does not know who wants what; call with_interest first"
            )
        return self.interest

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Overlay):
            return NotImplemented
        return (
            self.node_ids.equals(other.node_ids)
            and np.array_equal(self.u, other.u)
            and np.array_equal(self.v, other.v)
        )

    __hash__ = None  # type: ignore[assignment]  # large arrays: not a dictionary key

    def _repr_html_(self) -> str:
        degrees = self.degrees()
        figures: dict[str, Any] = {"nodes": self.n_nodes, "edges": self.n_edges}
        if self.n_nodes:
            figures |= {"average degree": float(degrees.mean()), "maximum degree": int(degrees.max())}
        return html_table("Overlay", figures)

    def __repr__(self) -> str:
        return f"Overlay({counted(self.n_nodes, 'node')}, {counted(self.n_edges, 'edge')})"

    # --- to other forms ----------------------------------------------------------------------------

    def to_arrow(self) -> pa.Table:
        """Return columns `u`, `v` of identifiers, u < v by UTF-8 bytes, sorted."""
        return pa.table({"u": take_chunks(self.node_ids, self.u), "v": take_chunks(self.node_ids, self.v)})

    def to_pandas(self, topics: bool = False) -> pandas.DataFrame:
        """Return the edge table as a pandas frame; with `topics` also what edges carry, and how much."""
        frame = self.to_arrow().to_pandas()
        if topics:
            lists = edge_topics(self._known_interest("topics"), self.u, self.v)
            frame["topics"], frame["n_topics"] = lists, [len(own) for own in lists]
        return frame

    def to_spark(self, session: SparkSession, *, topics: bool = False) -> DataFrame:
        """Return the edge table as a DataFrame of this session of Spark, with the columns of `to_pandas`."""
        if not (comes_from(session, "pyspark") and hasattr(session, "createDataFrame")):
            raise refuse("session", "a SparkSession", session)
        from topicloom.tables.spark.links import check_version
        from topicloom.tables.spark.session import arrow_frame

        check_version(session)
        table = self.to_arrow()
        if topics:
            lists = edge_topics(self._known_interest("topics"), self.u, self.v)
            table = table.append_column("topics", pa.array(lists, pa.list_(pa.string())))
            table = table.append_column("n_topics", pa.array(map(len, lists), pa.int64()))
        return arrow_frame(session, table)

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the symmetric adjacency matrix, row i being node number i."""
        from scipy.sparse import csr_array

        starts, neighbors = self.adjacency()
        data = np.ones(len(neighbors), dtype=np.int8)
        return csr_array((data, neighbors, starts), shape=(self.n_nodes, self.n_nodes))

    def to_networkx(self, topics: bool | None = None) -> networkx.Graph:
        """Return a networkx graph over the original identifiers, nodes without edges included.

        Nodes and edges have `topics`, a list of names, and `n_topics`, where the interest is known; with
        `topics=False` they have not, as programs want it that cannot write lists.
        """
        import networkx

        graph = networkx.Graph()
        names = self.node_ids.to_pylist()
        ends = zip(self.u.tolist(), self.v.tolist(), strict=True)
        wanted, carried = self._attributes(topics)
        graph.add_nodes_from(zip(names, wanted, strict=True))
        graph.add_edges_from((names[u], names[v], own) for (u, v), own in zip(ends, carried, strict=True))
        return graph

    def to_igraph(self, topics: bool | None = None) -> igraph.Graph:
        """Return an igraph graph; vertex attribute `name` holds the original identifiers.

        Vertices and edges have `topics` and `n_topics` as in `to_networkx`.
        """
        import igraph

        graph = igraph.Graph(n=self.n_nodes, edges=np.column_stack((self.u, self.v)).tolist())
        graph.vs["name"] = self.node_ids.to_pylist()
        for sequence, rows in zip((graph.vs, graph.es), self._attributes(topics), strict=True):
            for key in rows[0] if rows else ():
                sequence[key] = [row[key] for row in rows]
        return graph

    def _attributes(self, topics: bool | None) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return what graphs say of nodes and of edges."""
        if topics is False or (topics is None and self.interest is None):
            return [{} for _ in range(self.n_nodes)], [{} for _ in range(self.n_edges)]
        known = self._known_interest("topics")
        lists = (
            topic_lists(known, known.subscription_sizes(), known.node_topics),
            edge_topics(known, self.u, self.v),
        )
        wanted, carried = ([{"topics": own, "n_topics": len(own)} for own in some] for some in lists)
        return wanted, carried


def ordered_ends(u: Iterable[int], v: Iterable[int]) -> tuple[Longs, Longs]:
    """Return the smaller and the larger node number of each pair."""
    a, b = (_numbers(end, name) for name, end in (("u", u), ("v", v)))
    if len(a) != len(b):
        raise InputError(f"`u` has {len(a):,} ends and `v` {len(b):,}: an edge has two")
    return np.minimum(a, b), np.maximum(a, b)


def _numbers(ends: Iterable[int], argument: str) -> Longs:
    if isinstance(ends, str) or not isinstance(ends, Iterable):
        raise refuse(argument, "node numbers", ends)
    found = np.asarray(ends if isinstance(ends, np.ndarray) else list(ends))
    if len(found) and found.dtype.kind not in "iu":
        raise refuse(argument, "node numbers (names: Overlay.from_pairs)", found[0].item())
    return found.astype(np.int64)

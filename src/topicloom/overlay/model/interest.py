"""Who wants what: the (node, topic) relation as two compressed sparse tables.

Inside, nodes and topics are dense numbers; the identifiers they came with stay at the rim. Numbers follow
the binary order of the identifiers' UTF-8 bytes, so the same set of pairs always gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from topicloom.base.arrays import (
    Bools,
    Bytes,
    Floats,
    Ints,
    Longs,
    freeze_fields,
    pointers,
    run_places,
    sealed,
    sorted_distinct,
    take_chunks,
)
from topicloom.base.counts import counted
from topicloom.base.notebook import html_table
from topicloom.errors import InputError
from topicloom.overlay.model.python_tables import column_rows, find_name, list_rows, pair_rows, refuse
from topicloom.tables.records import ROLES

if TYPE_CHECKING:
    import networkx
    import pandas
    import scipy.sparse
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True, eq=False)
class Interest:
    """The whole interest relation, immutable, indexed by node and by topic.

    `node_topics[node_ptr[v]:node_ptr[v+1]]` are the topics of node v in ascending order, and likewise
    `topic_nodes` for topics. `roles` and `rates`, when the input had them, stand beside `node_topics`.

    >>> interest = Interest.from_pairs([("b", "x"), ("a", "x"), ("a", "y")])
    >>> interest.n_nodes, interest.n_topics, interest.topics_of(0).tolist()
    (2, 2, [0, 1])
    """

    node_ids: pa.StringArray
    topic_ids: pa.StringArray
    node_ptr: Longs
    node_topics: Ints
    topic_ptr: Longs
    topic_nodes: Ints
    roles: Bytes | None = None
    rates: Floats | None = None

    @property
    def n_nodes(self) -> int:
        return len(self.node_ids)

    @property
    def n_topics(self) -> int:
        return len(self.topic_ids)

    @property
    def n_subscriptions(self) -> int:
        return len(self.node_topics)

    def topics_of(self, node: int) -> Ints:
        """Return the numbers of the topics of node number `node`; by names: `topic_names`."""
        try:
            return self.node_topics[self.node_ptr[node] : self.node_ptr[node + 1]]
        except (IndexError, TypeError):
            raise refuse("node", f"a node number below {self.n_nodes} (names: topic_names)", node) from None

    def nodes_of(self, topic: int) -> Ints:
        """Return the numbers of the nodes of topic number `topic`; by names: `node_names`."""
        try:
            return self.topic_nodes[self.topic_ptr[topic] : self.topic_ptr[topic + 1]]
        except (IndexError, TypeError):
            takes = f"a topic number below {self.n_topics} (names: node_names)"
            raise refuse("topic", takes, topic) from None

    def subscription_sizes(self) -> Longs:
        """Return how many topics each node wants."""
        return np.diff(self.node_ptr)

    def topic_sizes(self) -> Longs:
        """Return how many nodes want each topic."""
        return np.diff(self.topic_ptr)

    def pair_nodes(self) -> Ints:
        """Return the node of every subscription, in the order of `node_topics`."""
        return np.repeat(np.arange(self.n_nodes, dtype=np.int32), self.subscription_sizes())

    def twin_classes(self) -> Ints:
        """Return for each node the number of its set of topics; sets are numbered by their smallest node."""
        numbers: dict[bytes, int] = {}
        sets = (self.node_topics[start:stop].tobytes() for start, stop in pairwise(self.node_ptr.tolist()))
        return np.array([numbers.setdefault(own, len(numbers)) for own in sets], np.int32)

    def sealed_lists(self) -> tuple[Longs, Ints, Longs, Ints]:
        """Return the four arrays as kernels want them: contiguous and read-only."""
        by_node = sealed(self.node_ptr), sealed(self.node_topics)
        return *by_node, sealed(self.topic_ptr), sealed(self.topic_nodes)

    def __post_init__(self) -> None:
        freeze_fields(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor: what arrives at another process is read-only there too.
        return Interest, tuple(getattr(self, field.name) for field in fields(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Interest):
            return NotImplemented
        return (
            self.node_ids.equals(other.node_ids)
            and self.topic_ids.equals(other.topic_ids)
            and np.array_equal(self.node_ptr, other.node_ptr)
            and np.array_equal(self.node_topics, other.node_topics)
        )

    __hash__ = None  # type: ignore[assignment]  # large arrays: not a dictionary key

    def _repr_html_(self) -> str:
        figures = {"nodes": self.n_nodes, "topics": self.n_topics, "subscriptions": self.n_subscriptions}
        sizes, wanted = self.subscription_sizes(), self.topic_sizes()
        if self.n_subscriptions:
            figures |= {
                "topics of a node, at most": int(sizes.max()),
                "nodes of a topic, at most": int(wanted.max()),
            }
        return html_table("Interest", figures)

    def __repr__(self) -> str:
        return (
            f"Interest({counted(self.n_nodes, 'node')}, {counted(self.n_topics, 'topic')}, "
            f"{counted(self.n_subscriptions, 'subscription')})"
        )

    # --- from other forms --------------------------------------------------------------------------

    @classmethod
    def from_codes(
        cls,
        node_ids: pa.StringArray,
        topic_ids: pa.StringArray,
        nodes: NDArray[Any],
        topics: NDArray[Any],
        roles: Bytes | None = None,
        rates: Floats | None = None,
    ) -> Interest:
        """From sorted distinct identifiers and distinct (node number, topic number) pairs in any order."""
        keys = nodes.astype(np.int64) * max(len(topic_ids), 1) + topics
        if not (keys[1:] > keys[:-1]).all():
            order = np.argsort(keys)
            nodes, topics = nodes[order], topics[order]
            roles = None if roles is None else roles[order]
            rates = None if rates is None else rates[order]
        by_topic = np.argsort(topics, kind="stable")
        return cls(
            node_ids=node_ids,
            topic_ids=topic_ids,
            node_ptr=pointers(nodes, len(node_ids)),
            node_topics=topics.astype(np.int32),
            topic_ptr=pointers(topics, len(topic_ids)),
            topic_nodes=nodes[by_topic].astype(np.int32),
            roles=None if roles is None else roles.copy(),
            rates=None if rates is None else rates.copy(),
        )

    @classmethod
    def from_pairs(cls, pairs: Iterable[Sequence[str | int]]) -> Interest:
        """Make it from (node, topic) pairs of strings; repeated pairs count once, integers become digits.

        >>> Interest.from_pairs([(1, "x"), (20, "x")]).node_ids.to_pylist()
        ['1', '20']
        """
        return cls.from_arrow(pair_rows(pairs, ("node", "topic"), "pairs"))

    @classmethod
    def from_lists(cls, topics: Mapping[Any, Iterable[str | int]]) -> Interest:
        """Make it from the list of topics of each node.

        >>> Interest.from_lists({"a": ["x", "y"], "b": ["x"]})
        Interest(2 nodes, 2 topics, 3 subscriptions)
        """
        if not isinstance(topics, Mapping):
            raise refuse("topics", "a dictionary with the list of topics of each node", topics)
        return cls.from_arrow(list_rows(topics, ("node", "topic"), "topics"))

    @classmethod
    def from_arrow(cls, table: pa.Table, node: str = "node", topic: str = "topic") -> Interest:
        """Make it from two columns of an Arrow table; integers become digits, repeated pairs count once."""
        if not isinstance(table, pa.Table | pa.RecordBatch):
            raise refuse("table", "a table of Arrow", table)
        rows = column_rows(table, node, topic)
        for name in (node, topic):
            if rows[name].null_count:
                row = pc.index(rows[name].is_null(), True).as_py() + 1
                raise InputError(
                    f"column {name!r} row {row} is missing or empty; every row needs an identifier"
                )
        node_ids, nodes = number_identifiers(rows[node])
        topic_ids, topics = number_identifiers(rows[topic])
        return cls.from_repeated(node_ids, topic_ids, nodes, topics)

    @classmethod
    def from_repeated(
        cls, node_ids: pa.StringArray, topic_ids: pa.StringArray, nodes: NDArray[Any], topics: NDArray[Any]
    ) -> Interest:
        """Make it from numbered pairs that may repeat."""
        n_topics = max(len(topic_ids), 1)
        keys = sorted_distinct(nodes.astype(np.int64) * n_topics + topics)
        return cls.from_codes(node_ids, topic_ids, *np.divmod(keys, n_topics))

    @classmethod
    def from_pandas(
        cls, frame: pandas.DataFrame, node: str = "node", topic: str = "topic", *, strict: bool = False
    ) -> Interest:
        """Make it from two columns of a pandas frame, with `role` and `rate` where it has them.

        As on the command line, a row without a node or a topic, or with a wrong role or rate, is refused:
        it is left out, and a `UserWarning` says how many there are; with `strict` it is an error.
        """
        from topicloom.overlay.model.frames import interest_from_frame

        return interest_from_frame(frame, node, topic, strict=strict)

    @classmethod
    def from_spark(
        cls, df: DataFrame, *, node_column: str = "node", topic_column: str = "topic", strict: bool = False
    ) -> Interest:
        """Make it from two columns of a DataFrame of Spark, with `role` and `rate` where it has them.

        Rows are refused as in `from_pandas`. Spark puts equal rows together in one job of the DataFrame's own
        session, which stays as it is; the distinct rows then come into the memory of this process.
        """
        from topicloom.overlay.model.frames import interest_from_spark

        return interest_from_spark(df, node_column, topic_column, strict=strict)

    @classmethod
    def from_scipy(
        cls,
        matrix: scipy.sparse.sparray | scipy.sparse.spmatrix,
        node_ids: Iterable[str | int] | None = None,
        topic_ids: Iterable[str | int] | None = None,
    ) -> Interest:
        """Make it from a sparse nodes x topics matrix: every non-zero entry is a subscription.

        Without identifiers, nodes are `n0001..` and topics `t0001..`, zero-padded. A row or column of
        zeros stays as a node or topic that nobody is paired with.
        """
        from topicloom.overlay.model.matrices import interest_from_scipy

        return interest_from_scipy(matrix, node_ids, topic_ids)

    @classmethod
    def from_networkx(cls, graph: networkx.Graph) -> Interest:
        """Make it from a bipartite graph whose nodes carry `bipartite=0` (nodes) or `bipartite=1` (topics).

        Graph nodes without edges stay as nodes without topics and topics without subscribers.
        """
        from topicloom.overlay.model.matrices import interest_from_networkx

        return interest_from_networkx(graph)

    def restrict(self, nodes: NDArray[Any]) -> Interest:
        """Return the subscriptions of `nodes` (ascending, distinct); node i of the result is `nodes[i]`.

        Topics keep their numbers, and the order of the nodes stays that of their identifiers.

        >>> interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")])
        >>> part = interest.restrict(np.array([0, 2]))
        >>> part.node_ids.to_pylist(), part.topics_of(1).tolist(), part.topic_sizes().tolist()
        (['a', 'c'], [1], [1, 1])
        """
        sizes = self.subscription_sizes()[nodes]
        source = run_places(self.node_ptr[nodes], sizes)
        return Interest.from_codes(
            self.node_ids.take(pa.array(nodes)),
            self.topic_ids,
            np.repeat(np.arange(len(nodes), dtype=np.int32), sizes),
            self.node_topics[source],
            None if self.roles is None else self.roles[source],
            None if self.rates is None else self.rates[source],
        )

    def only_topics(self, wanted: Bools) -> Interest:
        """Return the same nodes and topics with only the subscriptions of the wanted topics."""
        kept = wanted[self.node_topics]
        return Interest.from_codes(
            self.node_ids, self.topic_ids, self.pair_nodes()[kept], self.node_topics[kept]
        )

    # --- to other forms ----------------------------------------------------------------------------

    def to_arrow(self) -> pa.Table:
        """Return the pairs as identifiers, sorted by node and then topic (UTF-8 bytes)."""
        columns = {
            "node": take_chunks(self.node_ids, self.pair_nodes()),
            "topic": take_chunks(self.topic_ids, self.node_topics),
        }
        if self.roles is not None:
            columns["role"] = take_chunks(pa.array(ROLES), self.roles)
        if self.rates is not None:
            columns["rate"] = pa.chunked_array([pa.array(self.rates, from_pandas=True)])  # NaN: not known
        return pa.table(columns)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the same rows as a pandas frame."""
        return self.to_arrow().to_pandas()

    def topic_names(self, node: str | int) -> list[str]:
        """Return the names of the topics of the node called `node`.

        >>> Interest.from_pairs([("b", "x"), ("a", "x"), ("a", "y")]).topic_names("a")
        ['x', 'y']
        """
        names: list[str] = self.topic_ids.take(
            pa.array(self.topics_of(find_name(self.node_ids, node, "node")))
        ).to_pylist()
        return names

    def node_names(self, topic: str | int) -> list[str]:
        """Return the names of the nodes that want the topic called `topic`."""
        names: list[str] = self.node_ids.take(
            pa.array(self.nodes_of(find_name(self.topic_ids, topic, "topic")))
        ).to_pylist()
        return names


def number_identifiers(column: pa.ChunkedArray) -> tuple[pa.StringArray, Ints]:
    """Return distinct identifiers in byte order, and the number of each row's identifier."""
    distinct = pc.unique(column)
    ids = distinct.take(pc.sort_indices(distinct))
    codes = pc.index_in(column, value_set=ids)
    if isinstance(codes, pa.ChunkedArray):
        codes = codes.combine_chunks()
    return ids, codes.to_numpy(zero_copy_only=False).astype(np.int32)

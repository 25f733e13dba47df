"""The proof in memory, straight from tables of names: what the judge does without Spark.

The judge numbers by itself: a fault in `Interest`, which the builders use, must not hide from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import Ints, Longs, pointers, sorted_distinct
from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.kernels.judge_union_find import node_slots
from topicloom.overlay.measures.connectivity import (
    N_NAMES,
    N_WITNESSES,
    SplitTopic,
    components_of,
    join_topics,
    node_codes,
    sound_edges,
)
from topicloom.overlay.model.verdict import (
    Verdict,
    Witness,
    check_witness_file,
    witness_rows,
    write_witnesses,
)


@dataclass(frozen=True, slots=True, eq=False)
class NumberedPairs:
    """The distinct pairs by number, by node and by topic."""

    node_ids: pa.StringArray
    topic_ids: pa.StringArray
    node_ptr: Longs
    node_topics: Ints
    topic_ptr: Longs
    topic_nodes: Ints

    @classmethod
    def of(cls, pairs: pa.Table) -> NumberedPairs:
        """Number the rows (node, topic) of a table; repeated ones count once."""
        node_ids, nodes = _dictionary(pairs["node"])
        topic_ids, topics = _dictionary(pairs["topic"])
        keys = sorted_distinct(nodes.astype(np.int64) * max(len(topic_ids), 1) + topics)
        nodes, topics = np.divmod(keys, max(len(topic_ids), 1))
        nodes, topics = nodes.astype(np.int32), topics.astype(np.int32)
        topic_ptr = pointers(topics, len(topic_ids))
        topic_nodes = np.empty_like(nodes)
        topic_nodes[node_slots(topics)] = nodes
        node_ptr = pointers(nodes, len(node_ids))
        return cls(node_ids, topic_ids, node_ptr, topics, topic_ptr, topic_nodes)


def check_tables(
    interest: pa.Table,
    edges: pa.Table,
    *,
    n_witnesses: int = N_WITNESSES,
    witnesses_file: str | Path | None = None,
    progress: Progress = SILENT,
) -> Verdict:
    """Prove or refute that `edges` (u, v) connect the subscribers of every topic of `interest` (node, topic).

    The same verdict as that of `overlay/spark/verify.py`, which also says how rows are counted.
    """
    if witnesses_file is not None:
        check_witness_file(witnesses_file)
    progress.phase("verify")
    pairs = NumberedPairs.of(interest)
    codes = [node_codes(edges[name], pairs.node_ids) for name in ("u", "v")]
    sound = sound_edges(codes[0], codes[1], len(pairs.node_ids))
    parent = join_topics(sound.low, sound.high, pairs.node_ptr, pairs.node_topics, progress=progress)
    found = components_of(pairs.topic_ptr, parent, keep=n_witnesses if witnesses_file is None else None)
    witnesses = [_witness(pairs, topic) for topic in found.worst]
    if witnesses_file is not None:
        write_witnesses(witness_rows(witnesses), Path(witnesses_file))
    return Verdict(
        topics=found.topics,
        topics_partitioned=found.split,
        topic_components=found.components,
        **sound.counts(),
        unknown_names=_unknown(edges, codes),
        witnesses=tuple(witnesses[:n_witnesses]),
        subscriptions=len(pairs.node_topics),
    )


def _unknown(edges: pa.Table, codes: list[Ints]) -> tuple[str, ...]:
    """Return the first identifiers, in byte order, that the interest does not have."""
    names: set[str] = set()
    for column, numbers in zip(("u", "v"), codes, strict=True):
        names.update(pc.unique(edges[column].filter(pa.array(numbers < 0))).drop_null().to_pylist())
    return tuple(sorted(names)[:N_NAMES])


def _witness(pairs: NumberedPairs, topic: SplitTopic) -> Witness:
    first, second = (
        pairs.node_ids[int(pairs.topic_nodes[slot])].as_py() for slot in (topic.first, topic.second)
    )
    return Witness(pairs.topic_ids[topic.topic].as_py(), tuple(topic.sizes.tolist()), (first, second))


def _dictionary(names: pa.ChunkedArray) -> tuple[pa.StringArray, Ints]:
    """Return distinct names in byte order, and the number of each row's name."""
    encoded = pa.concat_arrays(names.cast(pa.large_string()).chunks or [pa.array([], pa.large_string())])
    encoded = encoded.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    ids = encoded.dictionary.take(pa.array(order)).cast(pa.string())
    return ids, rank[encoded.indices.to_numpy(zero_copy_only=False)]

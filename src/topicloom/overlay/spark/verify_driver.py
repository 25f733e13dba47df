"""The judge's first path: both tables fit into the driver, which judges them by itself."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import Ints, Longs, pointers, sorted_distinct
from topicloom.overlay.kernels.judge_union_find import node_slots
from topicloom.overlay.measures.connectivity import (
    N_NAMES,
    components_of,
    join_topics,
    node_codes,
    sound_edges,
)
from topicloom.overlay.model.verdict import Verdict
from topicloom.overlay.spark.verify_findings import Findings, JudgeTask, witness_table


def find_on_driver(task: JudgeTask) -> Findings:
    """Judge the edges in the memory of this process."""
    pairs = task.run(task.interest.toArrow, "verify: read interest")
    (node_ids, nodes), (topic_ids, topics) = (_dictionary(pairs[name]) for name in ("node", "topic"))
    edges = task.run(task.edges.toArrow, "verify: read edges")
    names = pa.chunked_array([*edges["u"].chunks, *edges["v"].chunks], pa.string())
    codes = node_codes(names, node_ids)
    unknown = pc.unique(names.filter(pa.array(codes < 0))).drop_null().to_pylist()
    sound = sound_edges(codes[: len(edges)], codes[len(edges) :], len(node_ids))
    task.progress.phase("verify: join edges")
    node_ptr, node_topics, topic_ptr, topic_nodes = _lists(nodes, topics, len(node_ids), len(topic_ids))
    parent = join_topics(sound.low, sound.high, node_ptr, node_topics, progress=task.progress)
    found = components_of(topic_ptr, parent, keep=task.keep)
    verdict = Verdict(
        topics=found.topics,
        topics_partitioned=found.split,
        topic_components=found.components,
        **sound.counts(),
        unknown_names=tuple(sorted(unknown)[:N_NAMES]),
    )
    worst = witness_table(
        topic_ids.take(pa.array([one.topic for one in found.worst], pa.int64())),
        pa.array([one.sizes for one in found.worst], pa.list_(pa.int64())),
        node_ids.take(pa.array([topic_nodes[one.first] for one in found.worst], pa.int64())),
        node_ids.take(pa.array([topic_nodes[one.second] for one in found.worst], pa.int64())),
    )
    return Findings(verdict, worst)


def _lists(nodes: Ints, topics: Ints, n_nodes: int, n_topics: int) -> tuple[Longs, Ints, Longs, Ints]:
    """Return the distinct pairs by node and by topic; repeated rows count once.

    The judge numbers by itself: a fault in `Interest`, which the builders use, must not hide from it.
    """
    keys = sorted_distinct(nodes.astype(np.int64) * max(n_topics, 1) + topics)
    nodes, topics = (part.astype(np.int32) for part in np.divmod(keys, max(n_topics, 1)))
    topic_ptr = pointers(topics, n_topics)
    topic_nodes = np.empty_like(nodes)
    topic_nodes[node_slots(topics)] = nodes
    return pointers(nodes, n_nodes), topics, topic_ptr, topic_nodes


def _dictionary(names: pa.ChunkedArray) -> tuple[pa.StringArray, Ints]:
    """Return distinct names in byte order, and the number of each row's name."""
    encoded = pa.concat_arrays(names.cast(pa.large_string()).chunks or [pa.array([], pa.large_string())])
    encoded = encoded.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    ids = encoded.dictionary.take(pa.array(order)).cast(pa.string())
    return ids, rank[encoded.indices.to_numpy(zero_copy_only=False)]

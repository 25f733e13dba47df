"""The proof of topic-connectivity in memory, and the parts of it that the Spark version shares.

This is the judge: it shares the model with the builders, nothing else (`kernels/judge_union_find.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.base.arrays import Ints, Longs, sorted_distinct
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.base.summaries import Figures
from topicloom.overlay.kernels.judge_union_find import fresh_slots, join_edges, node_slots, settle
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.verdict import Verdict, Witness

N_WITNESSES = 10  # how many split topics a verdict lists unless told otherwise
N_NAMES = 5  # how many unknown identifiers a verdict names
SLICE_EDGES = 2_000_000  # that are joined before the user may stop us


@dataclass(frozen=True, slots=True, eq=False)
class SoundEdges:
    """Distinct edges between known, different nodes, and how many rows were left out and why."""

    low: Ints
    high: Ints
    unknown: int
    loops: int
    duplicates: int

    def counts(self) -> Figures:
        """Return how many rows were sorted how, under the names of a verdict."""
        left_out = {"self_loops": self.loops, "duplicate_edges": self.duplicates}
        return {"edges": len(self.low), "unknown_nodes": self.unknown, **left_out}


@dataclass(frozen=True, slots=True, eq=False)
class SplitTopic:
    """A topic in more than one component: numbers and slots, names come later."""

    topic: int
    sizes: Longs
    first: int
    second: int


@dataclass(frozen=True, slots=True, eq=False)
class TopicComponents:
    """What a settled union-find says of a range of topics."""

    topics: int
    split: int
    components: int
    worst: list[SplitTopic]


def check_overlay(
    interest: Interest,
    overlay: Overlay,
    *,
    n_witnesses: int | None = N_WITNESSES,
    progress: Progress = SILENT,
) -> Verdict:
    """Prove or refute that every topic's subscribers are connected by the overlay's edges among them.

    `n_witnesses=None` lists every split topic.

    >>> interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("c", "x")])
    >>> verdict = check_overlay(interest, Overlay.from_edges(interest.node_ids, [0], [2]))
    >>> verdict.topic_connected, verdict.witnesses[0].component_sizes, verdict.witnesses[0].nodes
    (False, (2, 1), ('a', 'b'))
    """
    codes = node_codes(overlay.node_ids, interest.node_ids)
    ends = codes[overlay.u], codes[overlay.v]
    return _judge(interest, ends, _unknown_names(overlay, ends), n_witnesses, progress)


def check_edge_rows(
    interest: Interest,
    edges: pa.Table,
    *,
    n_witnesses: int | None = N_WITNESSES,
    progress: Progress = SILENT,
) -> Verdict:
    """Prove or refute it for rows `u`, `v` of node names, which may repeat, loop and name strangers.

    >>> interest = Interest.from_pairs([("a", "x"), ("b", "x")])
    >>> verdict = check_edge_rows(interest, pa.table({"u": ["b", "q"], "v": ["a", "a"]}))
    >>> verdict.topic_connected, verdict.unknown_nodes, verdict.unknown_names
    (True, 1, ('q',))
    """
    u, v = (node_codes(edges[name], interest.node_ids) for name in ("u", "v"))
    strange = [edges[name].filter(pa.array(codes < 0)) for name, codes in (("u", u), ("v", v))]
    names = {name for column in strange for name in pc.unique(column).drop_null().to_pylist()}
    return _judge(interest, (u, v), tuple(sorted(names)[:N_NAMES]), n_witnesses, progress)


def _judge(
    interest: Interest,
    ends: tuple[Ints, Ints],
    unknown_names: tuple[str, ...],
    n_witnesses: int | None,
    progress: Progress,
) -> Verdict:
    progress.phase("verify")
    edges = sound_edges(*ends, interest.n_nodes)
    lists = interest.node_ptr, interest.node_topics
    parent = join_topics(edges.low, edges.high, *lists, progress=progress)
    found = components_of(interest.topic_ptr, parent, keep=n_witnesses)
    return Verdict(
        topics=found.topics,
        topics_partitioned=found.split,
        topic_components=found.components,
        **edges.counts(),
        unknown_names=unknown_names,
        witnesses=tuple(_witness(interest, topic) for topic in found.worst),
        subscriptions=interest.n_subscriptions,
    )


def node_codes(names: pa.StringArray | pa.ChunkedArray, node_ids: pa.StringArray) -> Ints:
    """Return the node number of every name; -1 where the interest has no such node (a null never is one)."""
    codes = pc.fill_null(pc.index_in(names, value_set=node_ids, skip_nulls=True), -1)
    if isinstance(codes, pa.ChunkedArray):
        codes = codes.combine_chunks()
    return np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int32)


def sound_edges(u: Ints, v: Ints, n_nodes: int) -> SoundEdges:
    """Sort the edge rows into unknown (-1 at an end), loops, duplicates of an undirected pair, and edges."""
    known = (u >= 0) & (v >= 0)
    proper = known & (u != v)
    low, high = np.minimum(u, v)[proper].astype(np.int64), np.maximum(u, v)[proper]
    keys = sorted_distinct(low * n_nodes + high)
    low, high = np.divmod(keys, max(n_nodes, 1))
    n_known, n_proper = int(known.sum()), int(proper.sum())
    return SoundEdges(
        low.astype(np.int32),
        high.astype(np.int32),
        unknown=len(u) - n_known,
        loops=n_known - n_proper,
        duplicates=n_proper - len(keys),
    )


def join_topics(u: Ints, v: Ints, node_ptr: Longs, node_topics: Ints, *, progress: Progress) -> Ints:
    """Return the union-find of all slots under sound edges."""
    parent = fresh_slots(len(node_topics))
    slots = node_slots(node_topics)
    for start in range(0, len(u), SLICE_EDGES):
        check_stop(progress)
        part = slice(start, start + SLICE_EDGES)
        join_edges(u[part], v[part], node_ptr, node_topics, slots, parent)
    return parent


def topic_components(interest: Interest, overlay: Overlay, *, progress: Progress = SILENT) -> Longs:
    """Return the number of components of each topic; 0 for a topic without subscribers.

    The overlay's nodes are those of the interest.
    """
    lists = interest.node_ptr, interest.node_topics
    roots = np.flatnonzero(settle(join_topics(overlay.u, overlay.v, *lists, progress=progress)))
    return np.diff(np.searchsorted(roots, interest.topic_ptr))


def components_of(topic_ptr: Longs, parent: Ints, *, keep: int | None) -> TopicComponents:
    """Count and describe the components of topics whose slots are topic_ptr[t]..topic_ptr[t+1]-1.

    Of the split topics the `keep` worst are described (None: all), most components first, then by number.
    A topic that nobody wants cannot be split and counts 1.
    """
    sizes = settle(parent)
    roots = np.flatnonzero(sizes)
    starts = np.searchsorted(roots, topic_ptr)
    counts = np.diff(starts)
    split = np.flatnonzero(counts > 1)
    worst = split[np.argsort(-counts[split], kind="stable")][:keep]
    described = []
    for topic in worst.tolist():
        mine = roots[starts[topic] : starts[topic + 1]]
        order = np.argsort(-sizes[mine], kind="stable")
        first, second = mine[order[:2]].tolist()
        described.append(SplitTopic(topic, sizes[mine[order]].astype(np.int64), first, second))
    return TopicComponents(len(counts), len(split), int(np.maximum(counts, 1).sum()), described)


def _witness(interest: Interest, topic: SplitTopic) -> Witness:
    first, second = (
        interest.node_ids[int(interest.topic_nodes[slot])].as_py() for slot in (topic.first, topic.second)
    )
    return Witness(interest.topic_ids[topic.topic].as_py(), tuple(topic.sizes.tolist()), (first, second))


def _unknown_names(overlay: Overlay, ends: tuple[Ints, Ints]) -> tuple[str, ...]:
    numbers = np.concatenate((overlay.u[ends[0] < 0], overlay.v[ends[1] < 0]))
    return tuple(sorted(set(overlay.node_ids.take(pa.array(numbers)).to_pylist()))[:N_NAMES])

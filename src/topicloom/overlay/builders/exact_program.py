"""The integer program of the exact builder: candidate pairs, and the rows that connected topics demand.

One 0/1 variable per pair of nodes that share a topic. For every topic and every partition of its subscribers
into p blocks, at least p - 1 chosen pairs lie inside the topic and run between blocks (kernels/partition.py).
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs, component_labels, pointers
from topicloom.base.progress import Progress, check_stop
from topicloom.base.solver.linear_program import SumRow
from topicloom.overlay.builders.exact_reduction import Part
from topicloom.overlay.kernels.partition import EPSILON, truncate
from topicloom.overlay.model.interest import Interest

VIOLATED = 1e-3  # by less than this a row is not worth its place
SLICE_WORK = 1e8  # steps of the kernel before the user may stop us


def count_pairs(interest: Interest, most: int) -> int:
    """Count the pairs of nodes that share a topic; counting ends once there are more than `most`."""
    found = np.zeros(0, np.int64)
    waiting: list[Longs] = []
    for topic in range(interest.n_topics):
        nodes = interest.nodes_of(topic).astype(np.int64)
        if len(nodes) * (len(nodes) - 1) // 2 > most:
            return most + 1
        low, high = np.triu_indices(len(nodes), 1)
        waiting.append(nodes[low] * interest.n_nodes + nodes[high])
        if topic == interest.n_topics - 1 or sum(map(len, waiting)) > most:
            found, waiting = np.unique(np.concatenate([found, *waiting])), []
            if len(found) > most:
                break
    return len(found)


class ExactProgram:
    """The candidate pairs (u[i], v[i]) of one part, by their places in it, and the oracle for its rows.

    A slot is one subscription of the part, topic by topic; an entry is one pair inside one topic.
    """

    def __init__(self, part: Part, progress: Progress) -> None:
        place = {node: i for i, node in enumerate(part.nodes)}
        topics = [np.array([place[node] for node in topic]) for topic in part.topics]
        self.progress = progress
        self.n_nodes = len(part.nodes)
        self.slot_ptr = np.concatenate(([0], np.cumsum([len(topic) for topic in topics])))
        corners = [np.triu_indices(len(topic), 1) for topic in topics]
        keys = [t[low] * self.n_nodes + t[high] for t, (low, high) in zip(topics, corners, strict=True)]
        pairs, pair_of = np.unique(np.concatenate(keys), return_inverse=True)
        self.entry_pair = pair_of.astype(np.int32)
        self.u, self.v = np.divmod(pairs, self.n_nodes)
        self.n_pairs = len(pairs)
        lengths = [len(low) for low, _ in corners]
        self.entry_ptr = np.concatenate(([0], np.cumsum(lengths)))
        self.entry_topic = np.repeat(np.arange(len(topics)), lengths)
        first = self.slot_ptr[self.entry_topic]
        self.entry_a = first + np.concatenate([low for low, _ in corners])
        self.entry_b = first + np.concatenate([high for _, high in corners])

    def start_rows(self) -> list[SumRow]:
        """Demand a tree's number of edges of each topic, at least one of each subscriber."""
        rows = []
        for topic, (start, stop) in enumerate(zip(self.slot_ptr, self.slot_ptr[1:], strict=False)):
            inside = slice(self.entry_ptr[topic], self.entry_ptr[topic + 1])
            pairs, a, b = self.entry_pair[inside], self.entry_a[inside], self.entry_b[inside]
            rows.append(SumRow(pairs, least=float(stop - start - 1)))
            if stop - start > 2:
                rows += [SumRow(pairs[(a == slot) | (b == slot)], least=1.0) for slot in range(start, stop)]
        return rows

    def degree_rows(self, most: int) -> list[SumRow]:
        """Allow no node more than `most` edges; one row per node."""
        ends = np.concatenate((self.u, self.v))
        order = np.argsort(ends, kind="stable")
        incident = np.split((order % self.n_pairs).astype(np.int32), pointers(ends, self.n_nodes)[1:-1])
        return [SumRow(pairs, most=float(most)) for pairs in incident]

    def violated(self, x: Floats) -> list[SumRow]:
        """Return for every topic the row of the partition that x falls short of most, if it does."""
        block = self._weakest_partitions(x)
        between = block[self.entry_a] != block[self.entry_b]
        n_topics = len(self.slot_ptr) - 1
        values = np.bincount(
            self.entry_topic[between], weights=x[self.entry_pair[between]], minlength=n_topics
        )
        is_first = np.zeros(len(block), dtype=bool)
        is_first[np.unique(block, return_index=True)[1]] = True  # blocks never span topics
        demands = np.add.reduceat(is_first.astype(np.int64), self.slot_ptr[:-1]) - 1
        rows = []
        for topic in np.flatnonzero(values < demands - VIOLATED):
            inside = slice(self.entry_ptr[topic], self.entry_ptr[topic + 1])
            rows.append(SumRow(self.entry_pair[inside][between[inside]], least=float(demands[topic])))
        return rows

    def _weakest_partitions(self, x: Floats) -> Ints:
        """Return the block of every slot, all topics at once: they are one graph in many components."""
        value = x[self.entry_pair]
        used = np.flatnonzero(value > EPSILON)
        a, b, value = self.entry_a[used], self.entry_b[used], value[used]
        # Two slots joined by an edge of 1 never part: what is left to decide is mostly small.
        whole = value >= 1 - EPSILON
        group = component_labels(int(self.slot_ptr[-1]), a[whole], b[whole])
        a, b = group[a], group[b]
        a, b, value = a[a != b], b[a != b], value[a != b]
        n = int(group.max()) + 1
        component = component_labels(n, a, b)
        order = np.argsort(component, kind="stable")
        rank = np.empty(n, dtype=np.int64)
        rank[order] = np.arange(n)
        first = pointers(component, n)[component[order]]
        parent = self._truncate(n, rank[a], rank[b], value, first)
        while (parent[parent] != parent).any():
            parent = parent[parent]
        return parent[rank[group]]

    def _truncate(self, n: int, a: Longs, b: Longs, value: Floats, first: Longs) -> Ints:
        """Lay the graph out for the kernel and run it, a few components at a time; return the union-find."""
        owner, to = np.concatenate((a, b)), np.concatenate((b, a)).astype(np.int32)
        order = np.argsort(owner, kind="stable")
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        twin = place[(order + len(a)) % max(len(order), 1)]
        ptr = pointers(owner, n).astype(np.int32)
        weight = np.concatenate((value, value))[order]
        parent, y = np.arange(n, dtype=np.int32), np.zeros(n)
        starts = np.flatnonzero(first == np.arange(n))
        sizes = np.diff(np.append(starts, n)).astype(np.float64)
        work = np.cumsum(sizes**3)  # a rough count: a cut per node, some searches per cut
        number = ((work - sizes**3) / SLICE_WORK).astype(np.int64)
        cuts = starts[np.flatnonzero(np.diff(number, prepend=-1))].tolist()
        for begin, end in zip(cuts, [*cuts[1:], n], strict=True):
            check_stop(self.progress)
            truncate(begin, end, first.astype(np.int32), ptr, to[order], twin, weight, y, parent)
        return parent

"""How many neighbors a node cannot do without: the smallest number of others that cover its topics.

Every topic of a node that somebody else wants too needs a neighbor who wants it. So in any topic-connected
overlay the neighbors of a node cover those topics. Smallest set cover is hard in general, but a proof that
few sets are not enough is a shallow search: some neighbor must cover the rarest topic still open, and it
must cover so much that the sets left, each at most as large as the largest, can cover the rest.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, Lists, Longs, Words
from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import kernel, part

DEEPEST = 24  # no more neighbors than this are ever proved: the search is that deep


@kernel
def cover_needs(nodes: Ints, lists: Lists, words: int, room: int, budget: int, needs: Longs) -> None:
    """Set needs[i] to a proved number of neighbors of nodes[i]; the smallest cover if work permits.

    Of the nodes given, the longest topic list takes `words` 64-bit words, and the subscribers of the topics
    of one node are at most `room` in all. `budget` is how many sets may be looked at for one node before
    the number proved so far must do.
    """
    node_ptr, node_topics, topic_ptr, topic_nodes = lists
    n_nodes = len(node_ptr) - 1
    covered = np.zeros((n_nodes, words), np.uint64)  # which topics of the node another one wants
    counts = np.zeros(n_nodes, np.int32)  # and how many
    sets, list_ptr = np.empty(room, np.int32), np.zeros(64 * words + 1, np.int64)
    open_sets, at = np.zeros((DEEPEST + 1, words), np.uint64), np.zeros(DEEPEST + 1, np.int64)
    for i in range(len(nodes)):
        topics = node_topics[node_ptr[nodes[i]] : node_ptr[nodes[i] + 1]]
        open_sets[0, :] = 0
        wanted, largest = 0, 1
        for j in range(len(topics)):
            bit = np.uint64(1) << np.uint64(j & 63)
            if topic_ptr[topics[j] + 1] - topic_ptr[topics[j]] > 1:
                open_sets[0, j >> 6] |= bit
                wanted += 1
            for place in range(topic_ptr[topics[j]], topic_ptr[topics[j] + 1]):
                other = topic_nodes[place]
                if other != nodes[i]:
                    covered[other, j >> 6] |= bit
                    counts[other] += 1
                    largest = max(largest, counts[other])
        needs[i] = (wanted + largest - 1) // largest
        left = budget
        while 1 < needs[i] < DEEPEST and left > 0:
            # Any set of a cover holds what the others, each at most the largest, leave open.
            least = max(wanted - (needs[i] - 1) * largest, 1)
            _list_sets(topics, topic_ptr, topic_nodes, counts, least, largest, list_ptr, sets)
            left = _exhaust(counts, covered, largest, needs[i], left, list_ptr, sets, open_sets, at)
            if left > 0:
                needs[i] += 1
        for j in range(len(topics)):
            for place in range(topic_ptr[topics[j]], topic_ptr[topics[j] + 1]):
                covered[topic_nodes[place], j >> 6] = 0
                counts[topic_nodes[place]] = 0


@part
def _list_sets(
    topics: Ints,
    topic_ptr: Longs,
    topic_nodes: Ints,
    counts: Ints,
    least: int,
    largest: int,
    list_ptr: Longs,
    lists: Ints,
) -> None:
    """List for each topic the nodes that cover it and `least` topics in all, those that cover most first."""
    starts = np.zeros(largest + 2, np.int64)
    for j in range(len(topics)):
        starts[:] = 0
        for place in range(topic_ptr[topics[j]], topic_ptr[topics[j] + 1]):
            count = counts[topic_nodes[place]]
            if count >= least:
                starts[largest - count + 1] += 1
        starts[0] = list_ptr[j]
        for k in range(largest + 1):
            starts[k + 1] += starts[k]
        list_ptr[j + 1] = starts[largest + 1]
        for place in range(topic_ptr[topics[j]], topic_ptr[topics[j] + 1]):
            count = counts[topic_nodes[place]]
            if count >= least:
                lists[starts[largest - count]] = topic_nodes[place]
                starts[largest - count] += 1


@part
def _exhaust(
    counts: Ints,
    covered: Words,
    largest: int,
    sets: int,
    budget: int,
    list_ptr: Longs,
    lists: Ints,
    open_sets: Words,
    at: Longs,
) -> int:
    """Return the budget that is left once no `sets` of the listed nodes are found to cover open_sets[0].

    0 if some do, or if the budget ran out first.
    """
    words = open_sets.shape[1]
    rarest, least = np.zeros(sets, np.int64), np.zeros(sets, np.int64)
    depth = 0
    at[0] = -1
    while depth >= 0:
        if at[depth] < 0:  # a new set of open topics: some node must cover the rarest of them
            wanted = 0
            fewest = len(lists) + 1
            for word in range(words):
                bits = open_sets[depth, word]
                wanted += ones(bits)
                for j in range(64 * word, 64 * word + 64):
                    if bits == np.uint64(0):
                        break
                    if bits & np.uint64(1) and list_ptr[j + 1] - list_ptr[j] < fewest:
                        fewest = list_ptr[j + 1] - list_ptr[j]
                        rarest[depth] = j
                    bits >>= np.uint64(1)
            least[depth] = wanted - (sets - depth - 1) * largest
            at[depth] = list_ptr[rarest[depth]]
        if at[depth] == list_ptr[rarest[depth] + 1] or counts[lists[at[depth]]] < least[depth]:
            depth -= 1
            continue
        node = lists[at[depth]]
        at[depth] += 1
        budget -= 1
        if budget <= 0:
            return 0
        count = 0
        for word in range(words):
            still = open_sets[depth, word] & ~covered[node, word]
            open_sets[depth + 1, word] = still
            count += ones(still)
        if count == 0:
            return 0
        if count <= (sets - depth - 1) * largest:
            depth += 1
            at[depth] = -1
    return budget

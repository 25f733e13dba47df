"""What edges carry: the topics that both ends want."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa

from topicloom.base.arrays import Ints, Longs, run_places
from topicloom.overlay.model.interest import Interest

CHUNK = 200_000  # edges that are looked at together


def shared_topics(interest: Interest, u: Ints, v: Ints) -> tuple[Longs, Ints]:
    """Return how many topics the ends of each edge share, and these topics, edge after edge, ascending.

    Each topic of the end with fewer of them is looked up among the pairs of the other, which are sorted.

    >>> interest = Interest.from_pairs([("a", "x"), ("a", "y"), ("b", "y"), ("c", "y"), ("c", "z")])
    >>> [part.tolist() for part in shared_topics(interest, np.array([0, 1]), np.array([2, 2]))]
    [[1, 1], [1, 1]]
    """
    sizes, width = interest.subscription_sizes(), max(interest.n_topics, 1)
    keys = interest.pair_nodes().astype(np.int64) * width + interest.node_topics
    counts, found = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
    for start in range(0, len(u), CHUNK):
        one, other = u[start : start + CHUNK], v[start : start + CHUNK]
        swap = sizes[one] > sizes[other]
        few, many = np.where(swap, other, one), np.where(swap, one, other)
        topics = interest.node_topics[run_places(interest.node_ptr[few], sizes[few])]
        edges = np.repeat(np.arange(len(few)), sizes[few])
        asked = many[edges].astype(np.int64) * width + topics
        at = np.minimum(np.searchsorted(keys, asked), max(len(keys) - 1, 0))
        both = keys[at] == asked if len(keys) else np.zeros(len(asked), np.bool_)
        counts.append(np.bincount(edges[both], minlength=len(few)).astype(np.int64))
        found.append(topics[both])
    return np.concatenate(counts), np.concatenate(found)


def topic_lists(interest: Interest, counts: Longs, topics: Ints) -> list[list[str]]:
    """Return runs of topic numbers as lists of names; `counts` are their lengths."""
    names = interest.topic_ids.take(pa.array(topics)).to_pylist()
    return [names[start:stop] for start, stop in pairwise([0, *np.cumsum(counts).tolist()])]


def edge_topics(interest: Interest, u: Ints, v: Ints) -> list[list[str]]:
    """Return the names of the topics that each edge carries."""
    return topic_lists(interest, *shared_topics(interest, u, v))

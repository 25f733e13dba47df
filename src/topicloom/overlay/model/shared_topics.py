"""What edges carry: the topics that both ends want."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa

from topicloom.base.arrays import Ints, Longs, run_places
from topicloom.overlay.model.interest import Interest

CHUNK = 50_000  # edges that are looked at together


def shared_topics(interest: Interest, u: Ints, v: Ints) -> tuple[Longs, Ints]:
    """Return how many topics the ends of each edge share, and these topics, edge after edge, ascending.

    Both ends list their topics in ascending order, so the pairs (edge, topic) of all first ends are sorted,
    and those of all second ends too: one is looked up in the other.

    >>> interest = Interest.from_pairs([("a", "x"), ("a", "y"), ("b", "y"), ("c", "y"), ("c", "z")])
    >>> [part.tolist() for part in shared_topics(interest, np.array([0, 1]), np.array([2, 2]))]
    [[1, 1], [1, 1]]
    """
    counts, found = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
    width = max(interest.n_topics, 1)
    for start in range(0, len(u), CHUNK):
        (mine, topics), (theirs, others) = (_wanted(interest, ends[start : start + CHUNK]) for ends in (u, v))
        asked, known = mine * width + topics, theirs * width + others
        both = np.zeros(len(asked), np.bool_)
        if len(known):
            both = known[np.minimum(np.searchsorted(known, asked), len(known) - 1)] == asked
        counts.append(np.bincount(mine[both], minlength=min(CHUNK, len(u) - start)).astype(np.int64))
        found.append(topics[both])
    return np.concatenate(counts), np.concatenate(found)


def _wanted(interest: Interest, ends: Ints) -> tuple[Longs, Ints]:
    """Return the topics of one end of each edge, edge after edge, and the place of each one's edge."""
    sizes = interest.node_ptr[ends + 1] - interest.node_ptr[ends]
    topics: Ints = interest.node_topics[run_places(interest.node_ptr[ends], sizes)]
    return np.repeat(np.arange(len(ends)), sizes), topics


def topic_lists(interest: Interest, counts: Longs, topics: Ints) -> list[list[str]]:
    """Return runs of topic numbers as lists of names; `counts` are their lengths."""
    names = interest.topic_ids.take(pa.array(topics)).to_pylist()
    return [names[start:stop] for start, stop in pairwise([0, *np.cumsum(counts).tolist()])]


def edge_topics(interest: Interest, u: Ints, v: Ints) -> list[list[str]]:
    """Return the names of the topics that each edge carries."""
    return topic_lists(interest, *shared_topics(interest, u, v))

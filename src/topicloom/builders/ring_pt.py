"""Ring per topic (paper 002, section 8): the simple overlay everything else is compared with.

Guarantee: topic-connected with topic degree 2; a node's degree grows to twice its subscription size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topicloom.model.build import Build
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.progress import SILENT, Progress, Stopwatch
from topicloom.model.seeds import generator


def build_ring_pt(
    interest: Interest,
    *,
    order: str = "id",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Build:
    """A ring through the subscribers of every topic, `order="id"` or an independent `"random"` one each.

    Rings by node id share edges between topics; random ones hardly do, which is what the papers' claim
    of twice the subscription size needs.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    >>> build_ring_pt(interest).overlay.degrees().tolist()
    [2, 2, 2, 2]
    """
    watch = Stopwatch(progress)
    with watch.phase("close rings", interest.n_topics):
        ring = interest.topic_nodes if order == "id" else _shuffled(interest, seed)
        overlay = Overlay.from_edges(interest.node_ids, *_ring_edges(ring, interest.topic_ptr))
        progress.advance(interest.n_topics)
    return Build(overlay, "ring-pt", {"order": order}, seed, watch.seconds)


def _shuffled(interest: Interest, seed: int) -> NDArray[np.int32]:
    stream = generator(seed, "ring-pt", "order")
    parts = [stream.permutation(interest.nodes_of(topic)) for topic in range(interest.n_topics)]
    return np.concatenate([np.zeros(0, np.int32), *parts])


def _ring_edges(
    ring: NDArray[np.int32], pointers: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Each member with the next one of its topic, the last with the first."""
    following = np.arange(1, len(ring) + 1)
    sizes = np.diff(pointers)
    filled = sizes > 0
    following[pointers[1:][filled] - 1] = pointers[:-1][filled]
    u, v = ring, ring[following]
    return u[u != v], v[u != v]

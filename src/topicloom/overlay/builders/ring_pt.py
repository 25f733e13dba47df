"""Ring per topic [Chockler2007a, 8]: the simple overlay everything else is compared with.

Guarantee: topic-connected with topic degree 2; a node's degree grows to twice its subscription size.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.kernels.random import scatter
from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def build_ring_pt(
    interest: Interest,
    *,
    order: Annotated[str, Parameter("order of the nodes on each ring", choices=("id", "random"))] = "id",
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
        topics = np.repeat(np.arange(interest.n_topics, dtype=np.int32), interest.topic_sizes())
        overlay = Overlay.from_edges(
            interest.node_ids, *close_rings(topics, interest.topic_nodes, order, seed)
        )
        progress.advance(interest.n_topics)
    return Build(overlay, "ring-pt", {"order": order}, seed, watch.seconds)


def close_rings(topics: Ints, nodes: Ints, order: str, seed: int) -> tuple[Ints, Ints]:
    """The edges of the rings through subscriptions (topics[i], nodes[i]) of whole topics, in any order.

    A ring depends on its own topic only, so any engine may close the rings of any topics by themselves.
    """
    keys = topics.astype(np.int64) << 32 | nodes
    if not (keys[1:] > keys[:-1]).all():
        keys = np.sort(keys)
    topics, nodes = (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)
    if order == "random":
        nodes = nodes[np.lexsort((scatter(keys, seed), topics))]
    ends = np.concatenate((topics[1:] != topics[:-1], [True])) if len(topics) else np.zeros(0, np.bool_)
    last = np.flatnonzero(ends)
    following = np.arange(1, len(nodes) + 1)
    following[last] = np.concatenate(([0], last[:-1] + 1))[: len(last)]
    u, v = nodes, nodes[following]
    return u[u != v], v[u != v]

"""The proof that topics survive deaths: every topic stays connected when any K nodes die, or a witness.

What is left of a topic must be connected whoever dies: with K + 2 subscribers or fewer every two of them are
neighbors then, with more its subgraph is (K + 1)-connected.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.progress import SILENT, Progress
from topicloom.errors import UsageError
from topicloom.overlay.kernels.judge_survival import WHOLE, find_fragile
from topicloom.overlay.measures.cuts import TopicGraph
from topicloom.overlay.measures.measure import for_topics, view_of
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.verdict import Fragile, Survival

MOST_DEATHS = 2
N_WITNESSES = 10


def check_survival(
    interest: Interest,
    overlay: Overlay,
    survive: int,
    *,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Survival:
    """Prove or refute that every topic stays connected when any `survive` (0 to 2) nodes die.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abc"])
    >>> found = check_survival(interest, Overlay.from_edges(interest.node_ids, [0, 1], [1, 2]), 1)
    >>> found.survives, found.fragile[0].dead, found.fragile[0].nodes
    (False, ('b',), ('a', 'c'))
    """
    check_deaths(survive)
    view = view_of(interest, overlay, threads=threads, progress=progress)
    sizes = interest.topic_sizes()
    killers: Longs = np.full(2 * interest.n_topics, WHOLE, np.int64)

    def work(topics: Ints) -> None:
        find_fragile(topics, *view.topic_lists, *view.adjacency, survive, killers)

    rounds = np.where(survive > 1, sizes, 1)
    for_topics(view, "survival", work, ((sizes + 1) * rounds).astype(np.float64))
    pairs = killers.reshape(-1, 2)
    fragile = np.flatnonzero(pairs[:, 0] != WHOLE)
    witnesses = tuple(_witness(interest, overlay, int(t), pairs[t]) for t in fragile[:N_WITNESSES])
    return Survival(survive, len(fragile) == 0, len(fragile), witnesses)


def check_deaths(survive: int) -> None:
    """Refuse a number of deaths that is not judged."""
    if not 0 <= survive <= MOST_DEATHS:
        raise UsageError(f"`survive={survive}`: a whole number from 0 to {MOST_DEATHS} is needed")


def _witness(interest: Interest, overlay: Overlay, topic: int, killers: Longs) -> Fragile:
    """Return who must die to split a topic, and two that are apart then."""
    graph = TopicGraph.of(interest, overlay, topic)
    dead = [int(place) for place in killers if place >= 0]
    kept = ~np.isin(graph.u, dead) & ~np.isin(graph.v, dead)
    left = TopicGraph(topic, graph.members, graph.u[kept], graph.v[kept])
    apart = [part for part in left.components() if int(part[0]) not in dead]
    names = [interest.node_ids[int(node)].as_py() for node in graph.members]
    return Fragile(
        interest.topic_ids[topic].as_py(),
        tuple(sorted(names[place] for place in dead)),
        (names[int(apart[0][0])], names[int(apart[1][0])]),
    )

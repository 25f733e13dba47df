"""MinMax-ODA of Onus and Richa, as [Onus2016] words it (sections 1.1 and 2.1); GM-M is its lean sister.

Guarantee: at most log(nodes x topics) times the optimal maximum degree; the average degree may be V times
the optimal one [Onus2016, Lemma 1].
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from topicloom.base.arrays import Ints, Lists, neighbor_lists, run_sums, sealed
from topicloom.base.kernels.parallel import cut_by_work, for_bounds
from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.overlay.builders.build_progress import GreedyProgress, count_joins
from topicloom.overlay.builders.greedy import SLICE_WORK, Greedy
from topicloom.overlay.kernels.filler_edges import fill_up
from topicloom.overlay.kernels.greedy_state import refresh_units
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

KEEP, DROP = "keep", "drop"


def build_minmax_oda(
    interest: Interest,
    *,
    fillers: Annotated[str, Parameter("edges that join nothing, in the result", (KEEP, DROP))] = KEEP,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Build:
    """Add, of the edges that raise the maximum degree least, the one that joins most, even if it joins none.

    So before the maximum degree may rise every pair of nodes with room is linked. These fillers join no
    topic components; where a pair that shares a topic has room they are such pairs, otherwise they link
    nodes that share nothing. [Onus2016] counts them; [Chen2010, IV-A] says that they are dropped at
    the end: `fillers="drop"`. They use up degrees either way, which sets this builder apart from GM-M.
    `report` says how many there were. The seed is not used: ties are fixed.

    >>> interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("c", "x"), ("d", "y"), ("e", "y")])
    >>> build_minmax_oda(interest).overlay.degrees().tolist()
    [2, 1, 1, 1, 1]
    """
    watch = Stopwatch(progress)
    u, v, contribution = choose_minmax_oda(interest, threads=threads, watch=watch)
    shown = np.ones(len(u), np.bool_) if fillers == KEEP else contribution > 0
    overlay = Overlay.from_edges(interest.node_ids, u[shown], v[shown])
    report = {"fillers": int(np.count_nonzero(contribution == 0))}
    return Build(overlay, "minmax-oda", {"fillers": fillers}, seed, watch.seconds, report)


def choose_minmax_oda(
    interest: Interest, *, threads: int | None = None, watch: Stopwatch
) -> tuple[Ints, Ints, Ints]:
    """Return the edges phase by phase, with the contribution of each at its time: 0 for fillers."""
    with watch.phase("choose edges", 1.0):
        greedy = Greedy(
            interest,
            threads=threads,
            progress=GreedyProgress(watch.progress, count_joins(interest), scan_share=0.1, bend=1.2),
        )
        members = np.diff(greedy.state.member_ptr)[greedy.twin_units]
        limit = 1
        greedy.run(limit)
        parts = [greedy.steps()]
        while greedy.open_joins or (limit == 1 and (members > 2).any()):
            done = len(greedy.steps()[0])
            u, v = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
            parts.append(_fill(interest, greedy, limit, u, v))
            limit += 1
            greedy.run(limit)
            u, v, contribution = greedy.steps()
            parts.append((u[done:], v[done:], contribution[done:]))
    u, v, contribution = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return u, v, contribution


def _fill(interest: Interest, greedy: Greedy, limit: int, u: Ints, v: Ints) -> tuple[Ints, Ints, Ints]:
    """Link what has a degree below `limit`: first pairs that share a topic, then any; smallest nodes first.

    Degrees need no look: after a phase all nodes with fewer edges than its limit are linked to each other,
    so the larger degree of a pair that is free in the next one is always the same.
    """
    room = np.maximum(limit - greedy.state.degree, 0).astype(np.int32)
    open_nodes = room[interest.topic_nodes] > 0
    topic_ptr = np.concatenate(([0], np.cumsum(open_nodes)))[interest.topic_ptr].astype(np.int64)
    by_topic = (sealed(topic_ptr), sealed(interest.topic_nodes[open_nodes]))
    sharing = _fill_lists(greedy, (*interest.sealed_lists()[:2], *by_topic), room, u, v)
    # Whatever has room is now in one list.
    u, v = np.concatenate((u, sharing[:, 0])), np.concatenate((v, sharing[:, 1]))
    nodes = np.flatnonzero(room).astype(np.int32)
    by_node = (sealed(np.arange(interest.n_nodes + 1)), sealed(np.zeros(interest.n_nodes, np.int32)))
    in_one = (*by_node, sealed(np.array([0, len(nodes)])), sealed(nodes))
    others = _fill_lists(greedy, in_one, room, u, v)
    edges = np.concatenate((sharing, others))
    np.add.at(greedy.state.degree, edges, 1)
    refresh_units(greedy.state)
    return edges[:, 0], edges[:, 1], np.zeros(len(edges), np.int32)


def _fill_lists(greedy: Greedy, lists: Lists, room: Ints, u: Ints, v: Ints) -> Ints:
    """Fill up along the lists, beside the edges (u, v); in slices, so that the user may stop us."""
    node_ptr, node_lists, list_ptr, _ = lists
    neighbors = neighbor_lists(u, v, len(room))
    seen = np.full(len(room), -1, np.int32)
    work = run_sums(np.diff(list_ptr)[node_lists], node_ptr) * (room > 0) + 1.0

    def fill(first: int, last: int) -> Ints:
        return fill_up(lists, neighbors, room, seen, first, last)

    bounds = cut_by_work(work, most=SLICE_WORK, slices=1)
    found = for_bounds(fill, bounds, threads=1, progress=greedy.progress)
    return np.concatenate([np.empty((0, 2), np.int32), *found])

"""The combine phase (paper 000, Algorithms 10 and 12): overlays of groups become one overlay.

`build_outer` and `join` are pure, like the phases in divide.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from topicloom.builders.greedy import Greedy
from topicloom.builders.pace import Pace
from topicloom.builders.rep_set import choose_representatives, topics_elsewhere
from topicloom.errors import InputError, UsageError
from topicloom.measures.connectivity import check_overlay
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.progress import SILENT, Progress, Stopwatch, check_stop
from topicloom.model.restrict import restrict_interest

Ints = NDArray[np.int32]

BULK = -1
"""The group of a node that belongs to none."""


@dataclass(frozen=True, slots=True, eq=False)
class Combined:
    """The whole overlay, and how it is made up."""

    overlay: Overlay
    inner_edges: int
    outer_edges: int
    representatives: int  # nodes of groups that the outer edges could choose from


def combine_overlays(
    interest: Interest,
    overlays: Sequence[Overlay],
    *,
    lambda_: int | None = 3,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Overlay:
    """Join topic-connected overlays of disjoint sets of nodes into one that is topic-connected.

    Nodes of `interest` that are in none of them take part like bulk nodes. New edges end at those and at
    representatives that hold each topic `lambda_` times; with None at any node, as in DCB-M.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcde"])
    >>> left, right = (Overlay.from_edges(pa.array(list(pair)), [0], [1]) for pair in ("ab", "cd"))
    >>> combine_overlays(interest, [left, right]).to_pandas().values.tolist()
    [['a', 'b'], ['a', 'c'], ['b', 'e'], ['c', 'd']]
    """
    if lambda_ is not None and lambda_ < 1:
        raise UsageError(f"lambda_ is {lambda_}: without representatives the overlays cannot be joined")
    taken = np.zeros(interest.n_nodes, dtype=np.bool_)
    groups = []
    for place, overlay in enumerate(overlays, start=1):
        nodes = np.sort(_numbers_in(interest.node_ids, overlay.node_ids))
        if len(nodes) and (nodes[0] < 0 or (nodes[1:] == nodes[:-1]).any()):
            raise InputError(f"overlay {place} has a node that is not in the interest, or one twice")
        if taken[nodes].any():
            name = interest.node_ids[int(nodes[taken[nodes]][0])].as_py()
            raise InputError(f"overlay {place} holds node {name!r}, which an earlier one holds too")
        taken[nodes] = True
        groups.append(restrict_interest(interest, nodes))
        verdict = check_overlay(groups[-1], overlay, n_witnesses=1)
        if not verdict.topic_connected:
            topic = verdict.witnesses[0].topic
            raise InputError(f"overlay {place} is not topic-connected: topic {topic!r} is split")
    watch = Stopwatch(progress)
    return combine_groups(interest, groups, overlays, lambda_=lambda_, threads=threads, watch=watch).overlay


def combine_groups(
    interest: Interest,
    groups: Sequence[Interest],
    overlays: Sequence[Overlay],
    *,
    lambda_: int | None,
    threads: int | None,
    watch: Stopwatch,
) -> Combined:
    """The same for parts that are known to be sound: the interests of the groups and their overlays."""
    inner = join(interest.node_ids, overlays)
    group_of_node = np.full(interest.n_nodes, BULK, dtype=np.int32)
    takes_part = np.ones(interest.n_nodes, dtype=np.bool_)
    n_representatives = 0
    with watch.phase("choose representatives", max(len(groups), 1)):
        topic_sizes = interest.topic_sizes()
        for number, group in enumerate(groups):
            check_stop(watch.progress)
            nodes = _numbers_in(interest.node_ids, group.node_ids)
            group_of_node[nodes] = number
            if lambda_ is not None:
                wanted = topics_elsewhere(group, topic_sizes)
                takes_part[nodes] = False
                nodes = nodes[choose_representatives(group, lambda_=lambda_, wanted=wanted)]
                takes_part[nodes] = True
            n_representatives += len(nodes)
            watch.progress.advance(1)
    with watch.phase("join groups", 1.0):
        nodes = np.flatnonzero(takes_part)
        outer = build_outer(
            restrict_interest(interest, nodes),
            group_of_node[nodes],
            inner.degrees()[nodes],
            int(inner.degrees().max(initial=0)),
            threads=threads,
            progress=watch.progress,
        )
        whole = join(interest.node_ids, (inner, outer))
    return Combined(whole, inner.n_edges, outer.n_edges, n_representatives)


def build_outer(
    interest: Interest,
    group: Ints,
    degree: NDArray[np.int64],
    degree_max: int,
    *,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Overlay:
    """The edges that join bulk nodes and groups, by GM-M; `interest` is that of the nodes taking part.

    `group` is the group of each of these nodes (`BULK`: none). Nodes of one group count as joined on the
    topics they share, for the group's overlay joins them. `degree` are their degrees in that overlay and
    `degree_max` the largest of all nodes: the first phase takes every pair that does not raise it (000,
    Algorithm 2, line 5).
    """
    pace = Pace(progress, interest.n_subscriptions, scan_share=0.1, bend=1.2)
    greedy = Greedy(interest, degree=degree.astype(np.int32), threads=threads, pace=pace)
    greedy.join_groups(group)
    limit = max(degree_max, 1)
    greedy.run(limit, ())
    while greedy.open_joins:
        limit += 1
        greedy.run(limit, ())
    u, v, _ = greedy.steps()
    return Overlay.from_edges(interest.node_ids, u, v)


def join(node_ids: pa.StringArray, overlays: Sequence[Overlay]) -> Overlay:
    """All edges of overlays whose nodes are among `node_ids`, as one overlay.

    >>> part = Overlay.from_edges(pa.array(["a", "c"]), [0], [1])
    >>> join(pa.array(["a", "b", "c"]), [part]).v.tolist()
    [2]
    """
    ends: list[list[NDArray[np.int64]]] = [[np.zeros(0, np.int64)], [np.zeros(0, np.int64)]]
    for overlay in overlays:
        numbers = _numbers_in(node_ids, overlay.node_ids)
        ends[0].append(numbers[overlay.u])
        ends[1].append(numbers[overlay.v])
    return Overlay.from_edges(node_ids, *(np.concatenate(side) for side in ends))


def _numbers_in(node_ids: pa.StringArray, some: pa.StringArray) -> NDArray[np.int64]:
    """The number of each of `some` identifiers among `node_ids`; -1 for a stranger."""
    numbers = pc.fill_null(pc.index_in(some, value_set=node_ids), -1)
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.int64)

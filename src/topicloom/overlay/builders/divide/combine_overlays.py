"""Overlays that exist already become one [Chen2010, Algorithms 10 and 12]: a tool of its own.

The builders combine level by level (run.py); here it is one step, for overlays made elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from topicloom.base.arrays import Ints
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.errors import InputError, UsageError
from topicloom.overlay.builders.divide.groups import SINGLE
from topicloom.overlay.builders.divide.phases import build_outer, choose_representatives, topics_elsewhere
from topicloom.overlay.measures.connectivity import check_overlay, node_codes
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


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
    groups = _disjoint_groups(interest, overlays)
    inner = join(interest.node_ids, overlays)
    clump = np.full(interest.n_nodes, SINGLE, dtype=np.int32)
    takes_part = np.ones(interest.n_nodes, dtype=np.bool_)
    for number, nodes in enumerate(groups):
        check_stop(progress)
        clump[nodes] = number
        if lambda_ is not None:
            group = interest.restrict(nodes)
            wanted = topics_elsewhere(group, interest.topic_sizes())
            takes_part[nodes] = False
            takes_part[nodes[choose_representatives(group, lambda_=lambda_, wanted=wanted)]] = True
    part_nodes, degree = np.flatnonzero(takes_part), inner.degrees()
    most = int(degree.max(initial=0))
    progress.phase("join overlays", 1.0)
    part = interest.restrict(part_nodes)
    u, v = build_outer(part, clump[part_nodes], degree[part_nodes], most, threads=threads, progress=progress)
    ends = (np.concatenate((inner.u, part_nodes[u])), np.concatenate((inner.v, part_nodes[v])))
    return Overlay.from_edges(interest.node_ids, *ends)


def _disjoint_groups(interest: Interest, overlays: Sequence[Overlay]) -> list[Ints]:
    """Return the nodes of each overlay; refuse unknown nodes, nodes in two overlays and split topics."""
    taken = np.zeros(interest.n_nodes, dtype=np.bool_)
    groups = []
    for place, overlay in enumerate(overlays, start=1):
        nodes = np.sort(node_codes(overlay.node_ids, interest.node_ids))
        if len(nodes) and (nodes[0] < 0 or (nodes[1:] == nodes[:-1]).any()):
            raise InputError(f"overlay {place} has a node that is not in the interest, or one twice")
        if taken[nodes].any():
            name = interest.node_ids[int(nodes[taken[nodes]][0])].as_py()
            raise InputError(f"overlay {place} holds node {name!r}, which an earlier one holds too")
        taken[nodes] = True
        verdict = check_overlay(interest.restrict(nodes), overlay, n_witnesses=1)
        if not verdict.topic_connected:
            topic = verdict.witnesses[0].topic
            raise InputError(f"overlay {place} is not topic-connected: topic {topic!r} is split")
        groups.append(nodes)
    return groups


def join(node_ids: pa.StringArray, overlays: Sequence[Overlay]) -> Overlay:
    """Return one overlay with all edges of overlays whose nodes are among `node_ids`.

    >>> part = Overlay.from_edges(pa.array(["a", "c"]), [0], [1])
    >>> join(pa.array(["a", "b", "c"]), [part]).v.tolist()
    [2]
    """
    ends: list[list[Ints]] = [[np.zeros(0, np.int32)], [np.zeros(0, np.int32)]]
    for overlay in overlays:
        numbers = node_codes(overlay.node_ids, node_ids)
        ends[0].append(numbers[overlay.u])
        ends[1].append(numbers[overlay.v])
    return Overlay.from_edges(node_ids, *(np.concatenate(side) for side in ends))

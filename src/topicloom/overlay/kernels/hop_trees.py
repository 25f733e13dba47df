"""The state of the hop-aware greedy: per topic component the tree of edges that joined it, and its depth.

Units are those of `greedy_state`: nodes, or sets of twins. A set of twins is a tree already, of some height;
its edges to the outside go to one member after the other, the *port*, from the root of that tree downwards.
Everything is told from the roots: an edge between two ports of depths d and d' is an arc of length 1 + d + d'
between two roots, which no real path exceeds.

In a tree the eccentricity of a node is its distance to the farther end of a longest path. So when two trees
are joined and the longer of their longest paths stays the longest, nothing changes on its side.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs, rounded_log2
from topicloom.base.kernels.jit import inlined, kernel, part
from topicloom.overlay.kernels.greedy_state import GreedyState, merge

CLOSED = 1 << 28  # the eccentricity of a unit that may take no further edge: beyond every limit


class HopTrees(NamedTuple):
    """Everything by place (a unit's share in a topic) but for the last lines."""

    ecc: Ints  # from the root of the unit
    reach: Ints  # from its port, CLOSED if the unit is full: what the next edge would start with
    first_arc: Ints
    span: Ints  # by label: the length of a longest path of the component
    arc_place: Ints  # arc -> the place it leads to
    arc_length: Ints
    arc_next: Ints
    queue: Ints  # scratch
    distance: Ints  # scratch, by place
    came: Ints  # scratch, by position in the queue
    port: Ints  # unit -> the place of its port among the members; they stand in the order of their depth
    room: Ints  # member of a unit -> edges to the outside that it may take
    depth: Ints  # member of a unit -> its depth in the tree of twins
    n_arcs: Longs  # an array of one
    log2: Floats  # number -> its logarithm, for sizes of components
    stretch: Floats  # topic -> allowed length of a path per doubling of the component; 0: `longest` counts
    longest: Ints  # topic -> allowed length of a path


def new_hop_trees(
    state: GreedyState, height: Ints, room: Ints, depth: Ints, stretch: Floats, longest: Ints
) -> HopTrees:
    """Return the state in which every unit is alone; `height` is that of each unit's own tree."""
    n_places = len(state.place_unit)
    ecc = height[state.place_unit].astype(np.int32)
    sizes = np.diff(state.place_ptr)
    own = np.diff(state.member_ptr)[state.place_unit]
    total = (
        int(max(np.add.reduceat(own, state.place_ptr[:-1][sizes > 0]).max(initial=1), 1)) if n_places else 1
    )

    def ints(size: int, value: int = 0) -> Ints:
        return np.full(size, value, np.int32)

    hops = HopTrees(
        ecc=ecc,
        reach=ecc.copy(),
        first_arc=ints(n_places, -1),
        span=2 * ecc,
        arc_place=ints(2 * n_places),
        arc_length=ints(2 * n_places),
        arc_next=ints(2 * n_places),
        queue=ints(int(sizes.max(initial=1))),
        distance=ints(n_places),
        came=ints(int(sizes.max(initial=1))),
        port=ints(len(state.twin_class)),
        room=room.astype(np.int32),
        depth=depth.astype(np.int32),
        n_arcs=np.zeros(1, np.int64),
        log2=rounded_log2(np.maximum(np.arange(total + 1), 1)),
        stretch=stretch.astype(np.float64),
        longest=longest.astype(np.int32),
    )
    state.label_size[:] = own  # nodes count, not units
    open_ports(state, hops, 0)
    return hops


@inlined
def allowed(hops: HopTrees, topic: int, size: int) -> Any:
    """Return how long a path may be in a component of `size` nodes."""
    if hops.stretch[topic] == 0.0:
        return np.int64(hops.longest[topic])
    return min(np.int64(hops.longest[topic]), np.int64(hops.stretch[topic] * hops.log2[size]) + 1)


@part
def _tell_reach(state: GreedyState, hops: HopTrees, unit: int) -> None:
    """Bring `reach` of a unit up to date with its port."""
    at = state.member_ptr[unit] + hops.port[unit]
    full = at == state.member_ptr[unit + 1]
    for slot in range(state.slot_ptr[unit], state.slot_ptr[unit + 1]):
        place = state.slot_place[slot]
        hops.reach[place] = CLOSED if full else hops.ecc[place] + hops.depth[at]


@kernel
def open_ports(state: GreedyState, hops: HopTrees, more: int) -> None:
    """Let every member take `more` edges; the first one with room becomes the port of its unit."""
    for unit in range(len(hops.port)):
        for i in range(state.member_ptr[unit], state.member_ptr[unit + 1]):
            hops.room[i] += more
        hops.port[unit] = 0
        _find_port(state, hops, unit)
        _tell_reach(state, hops, unit)


@part
def _find_port(state: GreedyState, hops: HopTrees, unit: int) -> None:
    at, stop = state.member_ptr[unit] + hops.port[unit], state.member_ptr[unit + 1]
    while at < stop and hops.room[at] <= 0:
        at += 1
    hops.port[unit] = at - state.member_ptr[unit]


@part
def use_port(state: GreedyState, hops: HopTrees, unit: int) -> None:
    """Let the port of a unit take an edge."""
    at = state.member_ptr[unit] + hops.port[unit]
    hops.room[at] -= 1
    if hops.room[at] <= 0:
        _find_port(state, hops, unit)
        _tell_reach(state, hops, unit)


@part
def _walk(state: GreedyState, hops: HopTrees, start: int, before: int, beyond: int, keep: bool) -> Any:
    """Measure from `start` all over its tree: eccentricities become the distance plus `beyond`, if larger.

    With `keep` False they do so in any case. `before` is the place the tree was joined to, not to be walked.
    """
    ecc, reach = hops.ecc, hops.reach
    hops.queue[0] = start
    hops.came[0] = before
    hops.distance[start] = 0
    head, tail = 0, 1
    while head < tail:
        place, source = hops.queue[head], hops.came[head]
        head += 1
        far = hops.distance[place] + beyond
        if not keep or far > ecc[place]:
            if reach[place] < CLOSED:
                reach[place] += far - ecc[place]
            ecc[place] = far
        arc = hops.first_arc[place]
        while arc >= 0:
            other = hops.arc_place[arc]
            if other != source:
                hops.distance[other] = hops.distance[place] + hops.arc_length[arc]
                hops.queue[tail] = other
                hops.came[tail] = place
                tail += 1
            arc = hops.arc_next[arc]


@part
def join_places(state: GreedyState, hops: HopTrees, topic: int, a: int, b: int, length: int) -> None:
    """Join the components of places a and b of a topic by an arc of that length."""
    label_a, label_b = state.place_label[a], state.place_label[b]
    span_a, span_b = hops.span[label_a], hops.span[label_b]
    ecc_a, ecc_b = hops.ecc[a], hops.ecc[b]
    through = ecc_a + length + ecc_b
    if span_a >= through and span_a >= span_b:
        _walk(state, hops, b, a, length + ecc_a, False)
    elif span_b >= through and span_b >= span_a:
        _walk(state, hops, a, b, length + ecc_b, False)
    else:
        _walk(state, hops, a, b, length + ecc_b, True)
        _walk(state, hops, b, a, length + ecc_a, True)
    arc = hops.n_arcs[0]
    hops.arc_place[arc], hops.arc_place[arc + 1] = b, a
    hops.arc_length[arc] = hops.arc_length[arc + 1] = length
    hops.arc_next[arc], hops.first_arc[a] = hops.first_arc[a], arc
    hops.arc_next[arc + 1], hops.first_arc[b] = hops.first_arc[b], arc + 1
    hops.n_arcs[0] += 2
    merge(state, topic, label_a, label_b)
    hops.span[state.place_label[a]] = max(through, span_a, span_b)


@part
def join_within(state: GreedyState, hops: HopTrees, x: int, y: int, depth_x: int, depth_y: int) -> Any:
    """Put an edge between ports of two units: join each topic whose paths stay within what is allowed."""
    joined = 0
    i, j = state.slot_ptr[x], state.slot_ptr[y]
    while i < state.slot_ptr[x + 1] and j < state.slot_ptr[y + 1]:
        s, t = state.slot_topic[i], state.slot_topic[j]
        if s == t:
            a, b = state.slot_place[i], state.slot_place[j]
            label_a, label_b = state.place_label[a], state.place_label[b]
            if label_a != label_b:
                length = 1 + depth_x + depth_y
                size = state.label_size[label_a] + state.label_size[label_b]
                if hops.ecc[a] + length + hops.ecc[b] <= allowed(hops, s, size):
                    join_places(state, hops, s, a, b, length)
                    joined += 1
        i += s <= t
        j += t <= s
    return joined


@kernel
def join_again(state: GreedyState, hops: HopTrees, x: Ints, y: Ints, depth_x: Ints, depth_y: Ints) -> int:
    """Let edges that exist (between units, at ports of these depths) join what limits have come to allow."""
    joined = 0
    for i in range(len(x)):
        joined += join_within(state, hops, x[i], y[i], depth_x[i], depth_y[i])
    return joined

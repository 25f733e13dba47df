"""The state that the greedy kernels share: nodes folded into units, their topic components, their degrees.

Nodes with identical topic sets (twins) become one unit: an edge between two of them joins every topic of
both, which no other edge of theirs can beat. A unit without twins is a single node. Two tables index the
subscriptions of units: *slots* run unit by unit, *places* run topic by topic. Where nodes have caps, banned
pairs or degrees at the start, every unit is a single node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topicloom.base.arrays import Ints, Longs, pointers
from topicloom.base.kernels.jit import kernel, part
from topicloom.overlay.model.interest import Interest

FULL = 2**30  # the degree of a unit that may take no further edge: at or above every degree limit


class GreedyState(NamedTuple):
    """Units (fixed), the component of every subscription, and how many edges nodes have.

    The label of a component is a place. Merging relabels the smaller side at once, so reading a label never
    walks a tree.
    """

    slot_ptr: Longs  # unit -> its slots
    slot_topic: Ints  # slot -> topic, ascending within a unit
    slot_place: Ints  # slot -> place
    place_ptr: Longs  # topic -> its places
    place_unit: Ints  # place -> unit, ascending within a topic
    place_slot: Ints  # place -> slot
    member_ptr: Longs  # unit -> its nodes
    member: Ints  # nodes of units, ascending within a unit
    twin_class: Ints  # unit -> number shared by units with the same topic set
    banned_ptr: Longs  # unit -> its partners that may not be chosen
    banned: Ints
    slot_label: Ints  # slot -> component
    place_label: Ints  # place -> component
    place_next: Ints  # the members of a component as a ring of places
    label_size: Ints  # component -> number of members
    components: Ints  # topic -> number of components
    degree: Ints  # node -> degree
    cap: Ints  # node -> the most edges it may have
    lowest: Ints  # unit -> lowest degree of its members, FULL if that one is at its cap
    first_lowest: Ints  # unit -> its first member of that degree


def new_state(
    interest: Interest,
    *,
    fold: bool = False,
    degree: Ints | None = None,
    cap: Ints | None = None,
    banned: tuple[Longs, Ints] | None = None,
) -> GreedyState:
    """Return the state in which every unit is alone in each topic: one unit per twin class if `fold`."""
    n_nodes, classes = interest.n_nodes, interest.twin_classes()
    if fold:
        member = np.argsort(classes, kind="stable").astype(np.int32)
        member_ptr = pointers(classes, int(classes.max(initial=-1)) + 1)
        interest = interest.restrict(member[member_ptr[:-1]])  # the smallest node of each class
        twin_class = np.arange(interest.n_nodes, dtype=np.int32)
    else:
        member = np.arange(n_nodes, dtype=np.int32)
        member_ptr = np.arange(n_nodes + 1, dtype=np.int64)
        twin_class = classes
    n_units = len(twin_class)
    slot_ptr, slot_topic, place_ptr, place_unit = (
        np.array(part)
        for part in (interest.node_ptr, interest.node_topics, interest.topic_ptr, interest.topic_nodes)
    )
    place_slot = np.argsort(slot_topic, kind="stable").astype(np.int32)
    slot_place = np.empty_like(place_slot)
    places = np.arange(len(place_slot), dtype=np.int32)
    slot_place[place_slot] = places
    subscriptions = (slot_ptr, slot_topic, slot_place, place_ptr, place_unit, place_slot)
    components = np.diff(place_ptr).astype(np.int32)
    alone = (slot_place.copy(), places.copy(), places.copy(), np.ones(len(places), np.int32), components)
    degree = np.zeros(n_nodes, np.int32) if degree is None else degree
    cap = np.full(n_nodes, FULL, np.int32) if cap is None else np.array(cap, np.int32)
    banned = banned or (np.zeros(n_units + 1, np.int64), np.zeros(0, np.int32))
    lowest, first_lowest = np.zeros(n_units, np.int32), np.zeros(n_units, np.int32)
    units = (*subscriptions, member_ptr, member, twin_class)
    state = GreedyState(*units, *banned, *alone, degree, cap, lowest, first_lowest)
    refresh_units(state)
    return state


@kernel
def refresh_units(state: GreedyState) -> None:
    """Bring `lowest` and `first_lowest` of all units up to date with `degree`."""
    for unit in range(len(state.member_ptr) - 1):
        refresh_unit(state, unit)


@part
def refresh_unit(state: GreedyState, unit: int) -> None:
    """Bring `lowest` and `first_lowest` of one unit up to date with `degree`."""
    start = state.member_ptr[unit]
    best = state.member[start]
    for i in range(start + 1, state.member_ptr[unit + 1]):
        if state.degree[state.member[i]] < state.degree[best]:
            best = state.member[i]
    state.first_lowest[unit] = best
    state.lowest[unit] = state.degree[best] if state.degree[best] < state.cap[best] else FULL


@part
def first_within(state: GreedyState, unit: int, most: int) -> int:
    """Return the smallest node of `unit` with a degree of at most `most`; there must be one."""
    for i in range(state.member_ptr[unit], state.member_ptr[unit + 1]):
        if state.degree[state.member[i]] <= most:
            return state.member[i]
    return state.member[state.member_ptr[unit]]


@part
def merge(state: GreedyState, topic: int, a: int, b: int) -> None:
    """Join two different components of `topic`, labels a and b: the smaller takes the other's label."""
    if state.label_size[a] < state.label_size[b]:
        a, b = b, a
    place = b
    while True:
        state.place_label[place] = a
        state.slot_label[state.place_slot[place]] = a
        place = state.place_next[place]
        if place == b:
            break
    # Two rings become one when the successors of one member each are exchanged.
    state.place_next[a], state.place_next[b] = state.place_next[b], state.place_next[a]
    state.label_size[a] += state.label_size[b]
    state.components[topic] -= 1


@part
def largest_component(state: GreedyState, topic: int) -> int:
    """Return the label of the largest component of a topic, the first of several; -1 if nobody wants it."""
    best = -1
    for place in range(state.place_ptr[topic], state.place_ptr[topic + 1]):
        label = state.place_label[place]
        if best < 0 or state.label_size[label] > state.label_size[best]:
            best = label
    return best


@part
def join_units(state: GreedyState, x: int, y: int) -> int:
    """Put an edge between two units; return the number of topics it joins (its contribution)."""
    joined = 0
    i, j = state.slot_ptr[x], state.slot_ptr[y]
    while i < state.slot_ptr[x + 1] and j < state.slot_ptr[y + 1]:
        s, t = state.slot_topic[i], state.slot_topic[j]
        if s == t and state.slot_label[i] != state.slot_label[j]:
            merge(state, s, state.slot_label[i], state.slot_label[j])
            joined += 1
        i += s <= t
        j += t <= s
    return joined


@kernel
def join_edges(state: GreedyState, u: Ints, v: Ints) -> None:
    """Put edges between the units u[i] and v[i], one after another."""
    for i in range(len(u)):
        join_units(state, u[i], v[i])


@kernel
def join_groups(state: GreedyState, group: Ints, first: Ints) -> None:
    """Join the units of one `group` on all topics they share; negative: alone.

    In the combine phase of divide and conquer [Chen2010, Algorithm 12] the nodes of one group count as
    joined: the group's own overlay joins them, perhaps through nodes that do not take part. `first` holds -1
    for every group, and then the first place of the group in the topic at hand.
    """
    for topic in range(len(state.place_ptr) - 1):
        start = state.place_ptr[topic]
        for place in range(start, state.place_ptr[topic + 1]):
            own = group[state.place_unit[place]]
            if own < 0:
                continue
            if first[own] >= start:
                merge(state, topic, state.place_label[first[own]], place)
            else:
                first[own] = place

"""Nodes folded into units, and the topic components of units. The state that the greedy kernels share.

Nodes with identical topic sets (twins) become one unit: an edge between two of them joins every topic of
both, which no other edge of theirs can beat. A unit without twins is a single node. Two tables index the
subscriptions of units: *slots* run unit by unit, *places* run topic by topic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topicloom.base.arrays import Ints, Longs, first_of_runs, pointers
from topicloom.base.kernels.jit import kernel

FULL = 2**30
"""What stands for the degree of a unit that may take no further edge: at or above every degree limit."""


class Units(NamedTuple):
    """The frozen layout."""

    slot_ptr: Longs  # unit -> its slots
    slot_topic: Ints  # slot -> topic, ascending within a unit
    slot_place: Ints  # slot -> place
    place_ptr: Longs  # topic -> its places
    place_unit: Ints  # place -> unit, ascending within a topic
    place_slot: Ints  # place -> slot
    member_ptr: Longs  # unit -> its nodes
    member: Ints  # nodes of units, ascending within a unit
    twin_class: Ints  # unit -> number shared by units with the same topic set


class ComponentLabels(NamedTuple):
    """The topic components: every (unit, topic) subscription carries the label of its component.

    Labels are places; merging relabels the smaller side at once, so reading one never walks a tree.
    """

    slot_label: Ints
    place_label: Ints
    place_next: Ints  # the members of a component as a ring of places
    label_size: Ints
    components: Ints  # topic -> number of components


class Degrees(NamedTuple):
    """How many edges each node has, and for each unit the member that would take the next one.

    Where nodes have caps units are single nodes: a node at its cap is a unit of degree FULL.
    """

    degree: Ints  # node -> degree
    lowest: Ints  # unit -> lowest degree of its members
    first_lowest: Ints  # unit -> its first member of that degree
    cap: Ints  # node -> the most edges it may have


def layout(node_ptr: Longs, node_topics: Ints, n_topics: int, classes: Ints, *, fold: bool) -> Units:
    """The units of an interest: one per twin class if `fold`, else one per node."""
    n_nodes = len(node_ptr) - 1
    if fold:
        member = np.argsort(classes, kind="stable").astype(np.int32)
        member_ptr = pointers(classes, int(classes.max()) + 1 if n_nodes else 0)
        twin_class = np.arange(len(member_ptr) - 1, dtype=np.int32)
    else:
        member = np.arange(n_nodes, dtype=np.int32)
        member_ptr = np.arange(n_nodes + 1, dtype=np.int64)
        twin_class = classes.copy()
    chosen = member[member_ptr[:-1]].astype(np.int64)
    sizes = node_ptr[chosen + 1] - node_ptr[chosen]
    slot_ptr = np.zeros(len(chosen) + 1, dtype=np.int64)
    np.cumsum(sizes, out=slot_ptr[1:])
    source = np.arange(slot_ptr[-1]) - np.repeat(slot_ptr[:-1] - node_ptr[chosen], sizes)
    slot_topic = node_topics[source].astype(np.int32)
    slot_unit = np.repeat(np.arange(len(chosen), dtype=np.int32), sizes)
    place_slot = np.argsort(slot_topic, kind="stable").astype(np.int32)
    slot_place = np.empty_like(place_slot)
    slot_place[place_slot] = np.arange(len(place_slot), dtype=np.int32)
    return Units(
        slot_ptr,
        slot_topic,
        slot_place,
        pointers(slot_topic, n_topics),
        slot_unit[place_slot],
        place_slot,
        member_ptr,
        member,
        twin_class,
    )


def new_labels(units: Units) -> ComponentLabels:
    """Every unit alone in each of its topics."""
    places = np.arange(len(units.place_slot), dtype=np.int32)
    return ComponentLabels(
        slot_label=units.slot_place.copy(),
        place_label=places.copy(),
        place_next=places.copy(),
        label_size=np.ones(len(places), dtype=np.int32),
        components=np.diff(units.place_ptr).astype(np.int32),
    )


def new_degrees(units: Units, degree: Ints, caps: Ints | None = None) -> Degrees:
    """The degrees of nodes, looked at through their units; without `caps` no node is ever full."""
    n_units = len(units.member_ptr) - 1
    cap = np.full(len(degree), FULL, np.int32) if caps is None else np.array(caps, np.int32)
    degrees = Degrees(degree, np.zeros(n_units, np.int32), np.zeros(n_units, np.int32), cap)
    refresh_units(units, degrees)
    return degrees


@kernel
def refresh_units(units: Units, degrees: Degrees) -> None:
    """Bring `lowest` and `first_lowest` of all units up to date with `degree`."""
    for unit in range(len(units.member_ptr) - 1):
        refresh_unit(units, degrees, unit)


@kernel
def refresh_unit(units: Units, degrees: Degrees, unit: int) -> None:
    """Bring `lowest` and `first_lowest` of one unit up to date with `degree`."""
    start = units.member_ptr[unit]
    best = units.member[start]
    for i in range(start + 1, units.member_ptr[unit + 1]):
        if degrees.degree[units.member[i]] < degrees.degree[best]:
            best = units.member[i]
    degrees.first_lowest[unit] = best
    degrees.lowest[unit] = degrees.degree[best] if degrees.degree[best] < degrees.cap[best] else FULL


@kernel
def first_within(member_ptr: Longs, member: Ints, degree: Ints, unit: int, most: int) -> int:
    """The smallest node of `unit` with a degree of at most `most` (there must be one)."""
    for i in range(member_ptr[unit], member_ptr[unit + 1]):
        if degree[member[i]] <= most:
            return member[i]
    return member[member_ptr[unit]]


@kernel
def merge(units: Units, labels: ComponentLabels, topic: int, a: int, b: int) -> None:
    """Join two components of `topic` (labels a and b, different): the smaller takes the other's label."""
    if labels.label_size[a] < labels.label_size[b]:
        a, b = b, a
    place = b
    while True:
        labels.place_label[place] = a
        labels.slot_label[units.place_slot[place]] = a
        place = labels.place_next[place]
        if place == b:
            break
    # Two rings become one when the successors of one member each are exchanged.
    labels.place_next[a], labels.place_next[b] = labels.place_next[b], labels.place_next[a]
    labels.label_size[a] += labels.label_size[b]
    labels.components[topic] -= 1


@kernel
def join_units(units: Units, labels: ComponentLabels, x: int, y: int) -> int:
    """Put an edge between two units; the number of topics it joined (its contribution)."""
    joined = 0
    i, j = units.slot_ptr[x], units.slot_ptr[y]
    while i < units.slot_ptr[x + 1] and j < units.slot_ptr[y + 1]:
        s, t = units.slot_topic[i], units.slot_topic[j]
        if s == t:
            if labels.slot_label[i] != labels.slot_label[j]:
                merge(units, labels, s, labels.slot_label[i], labels.slot_label[j])
                joined += 1
            i += 1
            j += 1
        elif s < t:
            i += 1
        else:
            j += 1
    return joined


@kernel
def join_edges(units: Units, labels: ComponentLabels, u: Ints, v: Ints) -> int:
    """Put edges between units u[i] and v[i], one after another; how many topics they joined in all."""
    joined = 0
    for i in range(len(u)):
        joined += join_units(units, labels, u[i], v[i])
    return joined


def grouped_labels(units: Units, group: Ints) -> ComponentLabels:
    """The components of units whose `group` is the same number are one per topic; negative: alone.

    The same tables that merging would give, written down at once: a component is a run of places sorted by
    topic and group, its label is the first of them, and each points to the next.
    """
    n_topics = len(units.place_ptr) - 1
    places = np.arange(len(units.place_slot), dtype=np.int64)
    topic = np.repeat(np.arange(n_topics, dtype=np.int64), np.diff(units.place_ptr))
    number = group[units.place_unit].astype(np.int64)
    # Places without a group sort behind all groups, each with a number of its own.
    number = np.where(number < 0, group.max(initial=0) + 1 + places, number)
    order = np.lexsort((number, topic))
    starts = first_of_runs(topic[order]) | first_of_runs(number[order])
    begin = np.flatnonzero(starts)
    sizes = np.diff(np.append(begin, len(places)))
    label = np.empty(len(places), dtype=np.int32)
    label[order] = np.repeat(order[begin], sizes)
    following = np.roll(order, -1)
    following[begin + sizes - 1] = order[begin]
    place_next = np.empty(len(places), dtype=np.int32)
    place_next[order] = following
    label_size = np.ones(len(places), dtype=np.int32)
    label_size[order[begin]] = sizes
    return ComponentLabels(
        slot_label=label[units.slot_place],
        place_label=label,
        place_next=place_next,
        label_size=label_size,
        components=np.bincount(topic[order[begin]], minlength=n_topics).astype(np.int32),
    )

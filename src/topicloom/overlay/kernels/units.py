"""Nodes folded into units, and the topic components of units. The state that the greedy kernels share.

Nodes with identical topic sets (twins) become one unit: an edge between two of them joins every topic of
both, which no other edge of theirs can beat. A unit without twins is a single node. Two tables index the
subscriptions of units: *slots* run unit by unit, *places* run topic by topic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topicloom.base.arrays import Bools, Ints, Longs, pointers, sealed
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


class Forest(NamedTuple):
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


@kernel
def same_sets(order: Longs, node_ptr: Longs, node_topics: Ints) -> Bools:
    """For consecutive nodes in `order`: has it exactly the topics of the one before it?"""
    same = np.zeros(len(order), dtype=np.bool_)
    for i in range(1, len(order)):
        a, b = order[i - 1], order[i]
        size = node_ptr[a + 1] - node_ptr[a]
        if node_ptr[b + 1] - node_ptr[b] != size:
            continue
        equal = True
        for j in range(size):
            if node_topics[node_ptr[a] + j] != node_topics[node_ptr[b] + j]:
                equal = False
                break
        same[i] = equal
    return same


def twin_classes(node_ptr: Longs, node_topics: Ints) -> Ints:
    """For each node the number of its set of topics; sets are numbered by their smallest node.

    Sets are brought side by side by two hashes and then compared in full: a hash clash could only part
    twins, never join strangers.
    """
    n_nodes = len(node_ptr) - 1
    n_topics = int(node_topics.max()) + 1 if len(node_topics) else 0
    random = np.random.Generator(np.random.PCG64(0x7457))
    hashes = []
    for _ in range(2):
        keys = random.integers(0, 2**63, n_topics, dtype=np.uint64)
        sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(keys[node_topics], dtype=np.uint64)))
        hashes.append(sums[node_ptr[1:]] - sums[node_ptr[:-1]])
    order = np.lexsort((np.arange(n_nodes), hashes[1], hashes[0], np.diff(node_ptr))).astype(np.int64)
    group = np.cumsum(~same_sets(order, sealed(node_ptr), sealed(node_topics))) - 1
    # The order is stable, so the first node of each group is its smallest one.
    firsts = order[np.unique(group, return_index=True)[1]] if n_nodes else order
    rank = np.empty(len(firsts), dtype=np.int32)
    rank[np.argsort(firsts)] = np.arange(len(firsts), dtype=np.int32)
    classes = np.empty(n_nodes, dtype=np.int32)
    classes[order] = rank[group]
    return classes


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


def new_forest(units: Units) -> Forest:
    """Every unit alone in each of its topics."""
    places = np.arange(len(units.place_slot), dtype=np.int32)
    return Forest(
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
def merge(units: Units, forest: Forest, topic: int, a: int, b: int) -> None:
    """Join two components of `topic` (labels a and b, different): the smaller takes the other's label."""
    if forest.label_size[a] < forest.label_size[b]:
        a, b = b, a
    place = b
    while True:
        forest.place_label[place] = a
        forest.slot_label[units.place_slot[place]] = a
        place = forest.place_next[place]
        if place == b:
            break
    # Two rings become one when the successors of one member each are exchanged.
    forest.place_next[a], forest.place_next[b] = forest.place_next[b], forest.place_next[a]
    forest.label_size[a] += forest.label_size[b]
    forest.components[topic] -= 1


@kernel
def join_units(units: Units, forest: Forest, x: int, y: int) -> int:
    """Put an edge between two units; the number of topics it joined (its contribution)."""
    joined = 0
    i, j = units.slot_ptr[x], units.slot_ptr[y]
    while i < units.slot_ptr[x + 1] and j < units.slot_ptr[y + 1]:
        s, t = units.slot_topic[i], units.slot_topic[j]
        if s == t:
            if forest.slot_label[i] != forest.slot_label[j]:
                merge(units, forest, s, forest.slot_label[i], forest.slot_label[j])
                joined += 1
            i += 1
            j += 1
        elif s < t:
            i += 1
        else:
            j += 1
    return joined


@kernel
def join_edges(units: Units, forest: Forest, u: Ints, v: Ints) -> int:
    """Put edges between units u[i] and v[i], one after another; how many topics they joined in all."""
    joined = 0
    for i in range(len(u)):
        joined += join_units(units, forest, u[i], v[i])
    return joined

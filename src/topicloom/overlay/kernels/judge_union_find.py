"""Union-find for the judge: which subscribers of a topic an edge set joins. Shares nothing with builders.

A slot is one subscription. Slots are numbered topic by topic, and by node inside a topic, so a topic is a
range of slots and the smallest slot of a component is its smallest node. Roots are always smallest slots:
the result depends on the set of edges alone, never on their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.arrays import Ints, Longs, sealed
from topicloom.base.kernels.jit import kernel, part


@part
def _root(parent: Any, slot: Any) -> Any:
    while parent[slot] != slot:
        parent[slot] = parent[parent[slot]]
        slot = parent[slot]
    return slot


@part
def _join(parent: Any, a: Any, b: Any) -> None:
    """Put the components of two slots together."""
    a, b = _root(parent, a), _root(parent, b)
    if a < b:
        parent[b] = a
    else:
        parent[a] = b


@part
def _seek(values: Any, low: Any, stop: Any, target: Any) -> Any:
    """Return the first place from `low` on where values >= target; steps double to skip long lists."""
    step = 1
    high = low
    while high < stop and values[high] < target:
        low = high + 1
        high += step
        step += step
    high = min(high, stop)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < target:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _join_edges(u: Any, v: Any, node_ptr: Any, node_topics: Any, node_slots: Any, parent: Any) -> None:
    """Join the slots of every topic both ends want."""
    for edge in range(len(u)):
        i, i_stop = node_ptr[u[edge]], node_ptr[u[edge] + 1]
        j, j_stop = node_ptr[v[edge]], node_ptr[v[edge] + 1]
        while i < i_stop and j < j_stop:
            if node_topics[i] < node_topics[j]:
                i = _seek(node_topics, i + 1, i_stop, node_topics[j])
            elif node_topics[j] < node_topics[i]:
                j = _seek(node_topics, j + 1, j_stop, node_topics[i])
            else:
                _join(parent, node_slots[i], node_slots[j])
                i += 1
                j += 1


@kernel
def _join_pairs(a: Any, b: Any, parent: Any) -> None:
    for pair in range(len(a)):
        _join(parent, a[pair], b[pair])


@kernel
def _settle(parent: Any, sizes: Any) -> None:
    """Point every slot at its root and count the members of each root."""
    for slot in range(len(parent)):
        parent[slot] = parent[parent[slot]]  # roots are smaller, hence settled before
        sizes[parent[slot]] += 1


def node_slots(node_topics: Ints) -> Ints:
    """Return for every subscription in node order its slot in topic order."""
    out = np.empty(len(node_topics), dtype=np.int32)
    out[np.argsort(node_topics, kind="stable")] = np.arange(len(node_topics), dtype=np.int32)
    return out


def fresh_slots(count: int) -> Ints:
    """Return a union-find in which every slot is alone."""
    return np.arange(count, dtype=np.int32)


def join_edges(u: Ints, v: Ints, node_ptr: Longs, node_topics: Ints, slots: Ints, parent: Ints) -> None:
    """Join all that the edges join."""
    lists = sealed(node_ptr), sealed(node_topics), sealed(slots)
    _join_edges(sealed(u), sealed(v), *lists, parent)


def join_pairs(a: Ints, b: Ints, parent: Ints) -> None:
    """Join the slots a[i] and b[i]."""
    _join_pairs(sealed(a), sealed(b), parent)


def settle(parent: Ints) -> Ints:
    """Point every slot at its root; the number of members of each root (0 for other slots)."""
    sizes = np.zeros(len(parent), dtype=np.int32)
    _settle(parent, sizes)
    return sizes

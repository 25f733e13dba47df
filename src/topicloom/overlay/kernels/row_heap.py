"""A heap of rows by two keys, best on top.

Any named tuple with `row` (the heap), `key_1` and `key_2` (by row, smaller is better) and `size` (an array of
one) is such a heap.
"""

from __future__ import annotations

from typing import Any

from topicloom.base.kernels.jit import inlined, part


@inlined
def _before(heap: Any, a: int, b: int) -> bool:
    if heap.key_1[a] != heap.key_1[b]:
        return heap.key_1[a] < heap.key_1[b]
    return heap.key_2[a] < heap.key_2[b]


@part
def settle(heap: Any, i: int) -> None:
    """Restore the order below position i."""
    size = heap.size[0]
    row = heap.row[i]
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and _before(heap, heap.row[child + 1], heap.row[child]):
            child += 1
        if not _before(heap, heap.row[child], row):
            break
        heap.row[i] = heap.row[child]
        i = child
    heap.row[i] = row

"""Which boxes hold a point: a tree of boxes in the order in which it is searched, and single boxes behind it.

A node stands before all that is below it and bounds it; `skip` says where to go on if it does not hold the
point. A box that is in no tree is skipped to the next row. Ranges are half-open; a removed box is empty.
"""

from __future__ import annotations

from typing import Any

from topicloom.base.kernels.jit import kernel, part


@part
def _holds(low: Any, high: Any, row: int, points: Any, p: int) -> bool:
    for a in range(points.shape[1]):
        x = points[p, a]
        if x < low[row, a] or x >= high[row, a]:
            return False
    return True


@kernel
def match_boxes(
    points: Any, low: Any, high: Any, skip: Any, number: Any, used: int, ptr: Any, found: Any
) -> int:
    """Find the boxes among the rows 0..used-1 that hold each point; return how many there are in all.

    `number` is that of a box, -1 for a node. Those that hold point p become `found[ptr[p]:ptr[p+1]]`; they
    are counted even where `found` has no more room for them.
    """
    count = 0
    for p in range(points.shape[0]):
        row = 0
        while row < used:
            if not _holds(low, high, row, points, p):
                row = skip[row]
                continue
            if number[row] >= 0:
                if count < len(found):
                    found[count] = number[row]
                count += 1
            row += 1
        ptr[p + 1] = count
    return count

"""Which boxes hold a point: a packed tree of boxes, and a tail of boxes that are not in it yet.

Rows `0:packed` are in tile order; node k of level 0 bounds rows k*FAN to (k+1)*FAN, node k of level l+1
bounds nodes k*FAN to (k+1)*FAN of level l. Ranges are half-open; a removed row has an empty range.
"""

from __future__ import annotations

from typing import Any

from topicloom.base.kernels.jit import kernel

FAN = 16
LEVELS = 8  # 16^8 rows are more than any memory holds


@kernel
def _holds(low: Any, high: Any, row: int, points: Any, p: int) -> bool:
    for a in range(points.shape[1]):
        x = points[p, a]
        if x < low[row, a] or x >= high[row, a]:
            return False
    return True


@kernel
def _add_rows(low: Any, high: Any, first: int, last: int, points: Any, p: int, found: Any, count: int) -> int:
    """Append the rows first..last-1 that hold point p; return the new count, -1 when `found` is full."""
    for k in range(first, last):
        if _holds(low, high, k, points, p):
            if count == len(found):
                return -1
            found[count] = k
            count += 1
    return count


@kernel
def match_boxes(
    points: Any,
    first: int,
    low: Any,
    high: Any,
    packed: int,
    used: int,
    node_low: Any,
    node_high: Any,
    starts: Any,
    stack: Any,
    ends: Any,
    found: Any,
) -> tuple[int, int]:
    """Find the rows that hold each point from `first` on; those of point p end at `found[ends[p]]`.

    Returns (points done, rows found by them), early when `found` is full. Level l has the nodes
    `starts[l]:starts[l+1]`; `stack` has room for FAN entries per level.
    """
    top = len(starts) - 2
    count = 0
    for p in range(first, points.shape[0]):
        begin = count
        depth = 0
        if top >= 0:
            stack[0, 0], stack[0, 1] = top, 0
            depth = 1
        while depth > 0:
            depth -= 1
            level, node = stack[depth, 0], stack[depth, 1]
            # The root is searched without a check: at worst one node too many.
            child = node * FAN
            last = min(child + FAN, starts[level] - starts[level - 1] if level > 0 else packed)
            if level > 0:
                base = starts[level - 1]
                for k in range(child, last):
                    if _holds(node_low, node_high, base + k, points, p):
                        stack[depth, 0], stack[depth, 1] = level - 1, k
                        depth += 1
                continue
            count = _add_rows(low, high, child, last, points, p, found, count)
            if count < 0:
                return p, begin
        count = _add_rows(low, high, packed, used, points, p, found, count)
        if count < 0:
            return p, begin
        ends[p] = count
    return points.shape[0], count

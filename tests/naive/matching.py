"""Which boxes hold a point, by looking at every one of them."""

from __future__ import annotations

from collections.abc import Sequence


def matching(boxes: dict[int, Sequence[tuple[float, float]]], point: Sequence[float]) -> list[int]:
    """Numbers of the boxes that hold the point, ascending; ranges are half-open."""
    found = []
    for number, box in boxes.items():
        if all(low <= x and x < high for (low, high), x in zip(box, point, strict=True)):
            found.append(number)
    return sorted(found)

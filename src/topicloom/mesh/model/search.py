"""Breadth-first search over anything that has neighbors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def search(start: T, near: Callable[[T], Iterable[T]]) -> dict[T, T]:
    """Return all that is reached, in the order of hops, each with the one it was reached from.

    >>> search(1, lambda number: (number + 2, 2 * number) if number < 4 else ())
    {1: 1, 3: 1, 2: 1, 5: 3, 6: 3, 4: 2}
    """
    over = {start: start}
    queue = [start]
    for one in queue:
        for other in near(one):
            if other not in over:
                over[other] = one
                queue.append(other)
    return over

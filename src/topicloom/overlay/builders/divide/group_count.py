"""The number of groups of least running time: the p of [Chen2010, V]."""

from __future__ import annotations

from collections.abc import Callable

FINE = 16
"""The search ends when p is known to one part in so many: the cost is flat around its minimum."""


def cheapest_group_count(n_light: int, fewest: int, n_outer: Callable[[int], int]) -> int:
    """The p from `fewest` on of least cost |T| ((|B| + |R|)^2 + |L|^2 / p).

    That is the running time of the two greedy phases by Lemma 7. `n_outer(p)` is |B| + |R|, for which
    representatives have to be chosen but nothing has to be built.

    >>> cheapest_group_count(1000, 1, lambda p: 50 * p)
    6
    """
    costs: dict[int, tuple[float, float]] = {}

    def cost(p: int) -> tuple[float, float]:
        """The whole and the outer phase's part, without the constant factor |T|."""
        if p not in costs:
            outer = float(n_outer(p) ** 2)
            costs[p] = (outer + n_light**2 / p, outer)
        return costs[p]

    best = p = fewest
    while p <= n_light:
        if cost(p)[0] < cost(best)[0]:
            best = p
        if cost(p)[1] > cost(best)[0]:
            break  # more groups have more representatives
        p *= 2
    step = best // 2
    while step > 0 and step * FINE >= best:
        for p in (best - step, best + step):
            if fewest <= p <= n_light and cost(p)[0] < cost(best)[0]:
                best = p
        step //= 2
    return best

"""What fits on a broker: the one rule of capacity that every planner, the evaluator and the bounds share.

A user fits on a broker if load + demand <= limit, where `limits` gives the capacities with a little slack:
loads are sums of many floats, and a broker that is exactly full on paper must not refuse its last user
because of rounding. Kernels get the array of limits, so that there is nothing to remember in them.
"""

from __future__ import annotations

from topicloom.base.arrays import Floats, sealed
from topicloom.base.kernels.jit import kernel

SLACK = 1e-9  # of the capacity


def limits(capacity: Floats) -> Floats:
    """The most that the loads may sum up to.

    >>> import numpy as np
    >>> load = sum([0.1, 0.2])      # more than 0.3 by the last digit
    >>> load > 0.3, load <= float(limits(np.array([0.3]))[0])
    (True, True)
    """
    return sealed(capacity * (1.0 + SLACK))


@kernel
def roomiest(load: Floats, limit: Floats) -> int:
    """The broker with the most free room, the smallest number among equals; for users that fit nowhere."""
    best = 0
    for broker in range(1, len(load)):
        if limit[broker] - load[broker] > limit[best] - load[best]:
            best = broker
    return best

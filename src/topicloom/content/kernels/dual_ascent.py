"""Dual ascent for facility location (Erlenkotter 1978): lower bounds on connecting users to opened brokers.

Numbers v[i] with  sum over i of max(0, v[i] - c[i,b]) <= f[b]  for every broker b add up to no more than any
choice of open brokers costs: f[b] for each open one and c[i,b] for each user on its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.kernels.jit import kernel


@kernel
def raise_values(users: Any, access: Any, tolls: Any, slack: Any, values: Any) -> Any:
    """Raise each user's value to its next c as far as the slack allows; return by how much in all.

    c[i, b] = access[i, b] + tolls[b]; a value of -inf is set to its user's smallest c. `slack` is the rest of
    f.
    """
    total = 0.0
    for k in range(len(users)):
        row, value = access[users[k]], values[k]
        above, room = np.inf, np.inf
        for b in range(len(tolls)):
            c = row[b] + tolls[b]
            if c <= value:
                room = min(room, slack[b])
            else:
                above = min(above, c)
        if value == -np.inf:
            values[k] = above
            continue
        if room <= 0.0:
            continue
        # `above` itself, not value + (above - value), so that the next round sees this broker reached.
        raised = above if above - value <= room else value + room
        for b in range(len(tolls)):
            if row[b] + tolls[b] <= value:
                slack[b] -= raised - value
        total += raised - value
        values[k] = raised
    return total

"""Trees that join the users of a channel through brokers, grown from a start broker [Zhao2011, Algorithm 3].

near[r, v] = min over brokers b of core[r, b] + access[v, b] is the price from broker r to user v, and
last[r, v] the smallest b that attains it: the broker that v would connect to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.kernels.jit import kernel


@kernel
def fill_near(first: int, stop: int, access: Any, core: Any, near: Any, last: Any) -> None:
    """Fill the columns first..stop-1 of `near` and `last`."""
    n = len(core)
    best, via = np.empty(n), np.empty(n, np.int32)
    for v in range(first, stop):
        best[:] = np.inf
        for b in range(n):
            price, row = access[v, b], core[b]
            for r in range(n):  # branch-free, so that it runs on several brokers at once
                better = row[r] + price < best[r]
                best[r] = row[r] + price if better else best[r]
                via[r] = b if better else via[r]
        for r in range(n):
            near[r, v], last[r, v] = best[r], via[r]


@kernel
def find_starts(access: Any, core: Any, members: Any, publishers: Any, starts: Any) -> None:
    """Find where each publisher's tree starts: least access price + path to the nearest other member.

    Only the nearest member can be the publisher itself, so the two nearest of every broker are enough.
    """
    n = len(core)
    price, owner, second = np.full(n, np.inf), np.full(n, -1, np.int32), np.full(n, np.inf)
    for v in members:
        for b in range(n):
            if access[v, b] < price[b]:
                second[b], price[b], owner[b] = price[b], access[v, b], v
            elif access[v, b] < second[b]:
                second[b] = access[v, b]
    path, who, other = np.full(n, np.inf), np.full(n, -1, np.int32), np.full(n, np.inf)
    for r in range(n):
        for b in range(n):
            if core[r, b] + price[b] < path[r]:
                path[r], who[r] = core[r, b] + price[b], owner[b]
        for b in range(n):
            other[r] = min(other[r], core[r, b] + (second[b] if owner[b] == who[r] else price[b]))
    for k in range(len(publishers)):
        u = publishers[k]
        least, best = np.inf, 0
        for r in range(n):
            total = access[u, r] + (other[r] if who[r] == u else path[r])
            if total < least:
                least, best = total, r
        starts[k] = best


@kernel
def grow_trees(roots: Any, near: Any, last: Any, homes: Any) -> None:
    """Set homes[t, m] to the broker that member m connects to in the tree that grows from roots[t].

    `near` and `last` have a column per member. The member with the shortest path from any broker of the tree
    connects next (the smallest among equals), and its broker joins the tree. Members whose broker is in the
    tree already change nothing when they connect, so one pass over all members per new broker is enough: it
    settles those that connect before the next broker joins, takes the paths from the last one into account
    and finds the next one. Settled members have a path of -inf. Branches are avoided: they would be
    mispredicted half of the time.
    """
    n = near.shape[1]
    path = np.empty(n)
    opened = np.empty(len(near), np.int64)
    for t in range(len(roots)):
        home = homes[t]
        opened[:] = len(near) + 1  # the pass in which a broker joined the tree; this: not yet
        path[:] = np.inf
        home[:] = roots[t]
        new, opener, limit, step = roots[t], -1, -np.inf, 0
        while new >= 0:
            opened[new] = step
            paths, ends = near[new], last[new]
            least, first = np.inf, -1
            for m in range(n):
                w, b, x, end = path[m], home[m], paths[m], ends[m]
                settled = (opened[b] < step) & ((w < limit) | ((w == limit) & (m < opener)))
                w = -np.inf if settled else w
                better = (x < w) | ((x == w) & (end < b))
                w = x if better else w
                b = end if better else b
                path[m], home[m] = w, b
                w = w if opened[b] > step else np.inf
                if w < least:
                    least, first = w, m
            new = -1
            if first >= 0:
                new, opener, limit, step = home[first], first, least, step + 1
                path[first] = -np.inf

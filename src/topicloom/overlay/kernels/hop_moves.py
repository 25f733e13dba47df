"""Moves on an overlay under a degree cap and a radius per topic: take edges out, hold on to what came loose.

A move is accepted by annealing on

    edge weight x edges + sum of all depths

The depths matter because a shallow topic survives the loss of an edge more easily than one at its limit.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.kernels.jit import bare, kernel
from topicloom.base.kernels.random import draw, odds
from topicloom.overlay.kernels.hop_edges import list_edge_at, weakest_edge
from topicloom.overlay.kernels.hop_overlay import ADDED, DEPTHS, REMOVED, HopOverlay
from topicloom.overlay.kernels.hop_repair import keep, pair_price, repair, take_out, undo
from topicloom.overlay.kernels.hop_squeeze import squeeze

BESIDE_OF = 3  # a move takes the weakest of so many edges beside the first one along
HARDEST = 6  # attempts at a smaller radius, each takes more edges out than the one before
EXCHANGE, RELIEVE, SQUEEZE = 0, 1, 2


@bare
def _spent(overlay: HopOverlay, number: float, cost: float) -> float:
    """Return what the edges of this move add: their number and their costs, weighed."""
    total = number * (overlay.sizes[ADDED] - overlay.sizes[REMOVED])
    if cost != 0.0:
        for i in range(overlay.sizes[ADDED]):
            edge = overlay.added[i]
            total += cost * pair_price(
                overlay, np.int64(overlay.edge_u[edge]), np.int64(overlay.edge_v[edge])
            )
        for i in range(overlay.sizes[REMOVED]):
            edge = overlay.removed[i]
            total -= cost * pair_price(
                overlay, np.int64(overlay.edge_u[edge]), np.int64(overlay.edge_v[edge])
            )
    return total


@bare
def _exchange(
    overlay: HopOverlay,
    cap: Ints,
    number: float,
    cost: float,
    temperature: float,
    choices: int,
    attempts: int,
    topics: Ints,
) -> bool:
    """Take a weak edge out with one or two beside it and repair with no more; the first may not come back."""
    edge = weakest_edge(overlay, choices)
    if edge < 0:
        return False
    u, v = np.int64(overlay.edge_u[edge]), np.int64(overlay.edge_v[edge])
    for _ in range(attempts):
        overlay.removed[0] = edge
        overlay.sizes[REMOVED] = 1
        for _ in range(1 + draw(overlay.random, 2)):
            beside = overlay.removed[draw(overlay.random, overlay.sizes[REMOVED])]
            node = overlay.edge_u[beside] if draw(overlay.random, 2) == 0 else overlay.edge_v[beside]
            list_edge_at(overlay, np.int64(node), BESIDE_OF)
        before = overlay.sizes[DEPTHS]
        if take_out(overlay) and repair(overlay, cap, overlay.sizes[REMOVED], u, v, topics):
            worse = _spent(overlay, number, cost) + (overlay.sizes[DEPTHS] - before)
            lot = (draw(overlay.random, 1 << 30) + 0.5) / (1 << 30)
            if worse <= 0.0 or (temperature > 0.0 and odds(worse / temperature) > lot):
                keep(overlay)
                return True
        undo(overlay)
    return False


@bare
def _relieve(overlay: HopOverlay, cap: Ints, node: int, slack: int, attempt: int, topics: Ints) -> bool:
    """Take the surplus edges of a node and a few more out, now and then one beside them, and repair."""
    surplus = overlay.degree[node] - cap[node]
    if surplus <= 0:
        return False
    overlay.sizes[REMOVED] = 0
    for _ in range(min(surplus, 3) + draw(overlay.random, 3)):
        list_edge_at(overlay, node, 2)
    if overlay.sizes[REMOVED] == 0:
        return False
    for _ in range(attempt % 3):
        beside = overlay.removed[draw(overlay.random, overlay.sizes[REMOVED])]
        other = overlay.edge_u[beside] if overlay.edge_v[beside] == node else overlay.edge_v[beside]
        list_edge_at(overlay, np.int64(other), 2)
    most = overlay.sizes[REMOVED] + slack
    if take_out(overlay) and repair(overlay, cap, most, np.int64(-1), np.int64(-1), topics):
        keep(overlay)
        return True
    undo(overlay)
    return False


@kernel
def run_hop_moves(
    overlay: HopOverlay,
    cap: Ints,
    kind: int,
    items: Ints,
    number: float,
    cost: float,
    temperature: float,
    slack: int,
    attempts: int,
    topics: Ints,
) -> int:
    """Run moves of one kind; return how many were kept.

    Of exchanges the number of `items` counts, and `slack` is how many random edges a move chooses among; else
    they are the nodes to relieve with up to `slack` edges more, or the topics whose radius falls by `slack`.
    """
    accepted = 0
    for item in items:
        if kind == EXCHANGE:
            accepted += _exchange(overlay, cap, number, cost, temperature, slack, attempts, topics)
            continue
        for attempt in range(attempts):
            if kind == RELIEVE:
                moved = _relieve(overlay, cap, np.int64(item), slack, attempt, topics)
                accepted += moved
                continue
            radius = np.int64(overlay.radius[item]) - slack
            harder = attempt if attempt <= HARDEST else 1 + attempt % HARDEST
            if squeeze(overlay, cap, np.int64(item), radius, harder, topics):
                accepted += 1
                break
    return accepted

"""Which edges a move takes out: those that few topics hang on.

Counting that takes longer than all else of a move, and nine moves of ten change nothing. So each edge
remembers its load until a move that is kept changes a depth or an edge near it (`hop_repair.keep`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import bare
from topicloom.base.kernels.random import draw
from topicloom.overlay.kernels.edge_lists import N_EDGES
from topicloom.overlay.kernels.hop_overlay import REMOVED, STALE, HopOverlay, slot_of


@bare
def count_load(overlay: HopOverlay, edge: int) -> Any:
    """Count the topics that hang on an edge: its lower end has no other neighbor nearer to the root."""
    u, v = np.int64(overlay.edge_u[edge]), np.int64(overlay.edge_v[edge])
    load = 0
    for word in range(overlay.bits.shape[1]):
        rest = overlay.bits[u, word] & overlay.bits[v, word]
        while rest != 0:
            lowest = rest & (~rest + np.uint64(1))
            rest ^= lowest
            topic = 64 * word + ones(lowest - np.uint64(1))
            depth_u = overlay.depth[slot_of(overlay, u, topic)]
            depth_v = overlay.depth[slot_of(overlay, v, topic)]
            if depth_u == depth_v:
                continue
            lower, depth = (u, depth_u) if depth_u > depth_v else (v, depth_v)
            parents = 0
            for place in range(overlay.near_ptr[lower], overlay.near_ptr[lower] + overlay.degree[lower]):
                other = overlay.near[place]
                if (overlay.bits[other, word] & lowest) != 0:
                    parents += overlay.depth[slot_of(overlay, other, topic)] == depth - 1
            load += parents == 1
    return load


@bare
def edge_load(overlay: HopOverlay, edge: int) -> Any:
    """Return how many topics hang on an edge; only between moves."""
    if overlay.load[edge] == STALE:
        overlay.load[edge] = count_load(overlay, edge)
    return np.int64(overlay.load[edge])


@bare
def weakest_edge(overlay: HopOverlay, choices: int) -> Any:
    """Return the edge that fewest topics hang on, of some random ones; -1 if all of them must stay."""
    best, least = np.int64(-1), 0
    if overlay.sizes[N_EDGES] == 0:
        return best
    for _ in range(choices):
        edge = np.int64(overlay.live[draw(overlay.random, overlay.sizes[N_EDGES])])
        if overlay.fixed[edge] or overlay.roots[edge] > 0:
            continue
        load = edge_load(overlay, edge)
        if best < 0 or load < least:
            best, least = edge, load
    return best


@bare
def list_edge_at(overlay: HopOverlay, node: int, choices: int) -> bool:
    """List one more edge of a node, the weakest of some random ones; False if there is none."""
    n = overlay.sizes[REMOVED]
    if n == len(overlay.removed) or overlay.degree[node] == 0:
        return False
    best, least = np.int64(-1), 0
    for _ in range(choices):
        edge = np.int64(
            overlay.near_edge[overlay.near_ptr[node] + draw(overlay.random, overlay.degree[node])]
        )
        listed = overlay.fixed[edge] or overlay.roots[edge] > 0
        for i in range(n):
            listed = listed or overlay.removed[i] == edge
        if listed:
            continue
        load = edge_load(overlay, edge)
        if best < 0 or load < least:
            best, least = edge, load
    if best < 0:
        return False
    overlay.removed[n] = best
    overlay.sizes[REMOVED] += 1
    return True

"""Edges that come and go: the neighbors of each node, and the edges there are, as lists in arrays.

Both mutable overlays (`overlay_trees.py`, `hop_overlay.py`) have these arrays under the same names:
`near_ptr` (node -> room for its neighbors), `near`, `near_edge`, `degree`, `edge_u`, `edge_v`, `live` (the
edges there are, in no order), `live_at` and `sizes`, whose first place is the number of edges. What an
edge means for topics, and which numbers are free, is left to them.
"""

from __future__ import annotations

from typing import Any

from topicloom.base.kernels.jit import bare

N_EDGES = 0  # the place in `sizes`


@bare
def link(overlay: Any, edge: int, u: int, v: int) -> None:
    """Enter an edge into the lists of its ends."""
    overlay.edge_u[edge], overlay.edge_v[edge] = u, v
    for a, b in ((u, v), (v, u)):
        place = overlay.near_ptr[a] + overlay.degree[a]
        overlay.near[place], overlay.near_edge[place] = b, edge
        overlay.degree[a] += 1
    n = overlay.sizes[N_EDGES]
    overlay.live[n], overlay.live_at[edge] = edge, n
    overlay.sizes[N_EDGES] += 1


@bare
def unlink(overlay: Any, edge: int) -> None:
    """Take an edge out of the lists of its ends; its number stays taken."""
    for a in (overlay.edge_u[edge], overlay.edge_v[edge]):
        last = overlay.near_ptr[a] + overlay.degree[a] - 1
        place = last
        while overlay.near_edge[place] != edge:
            place -= 1
        overlay.near[place], overlay.near_edge[place] = overlay.near[last], overlay.near_edge[last]
        overlay.degree[a] -= 1
    overlay.sizes[N_EDGES] -= 1
    other = overlay.live[overlay.sizes[N_EDGES]]
    overlay.live[overlay.live_at[edge]] = other
    overlay.live_at[other] = overlay.live_at[edge]

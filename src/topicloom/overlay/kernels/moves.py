"""The moves of the local search: prune, destroy and repair, relief. Each keeps what was connected so."""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, sealed
from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import inlined, kernel, part
from topicloom.base.kernels.random import draw
from topicloom.overlay.kernels.edge_lists import N_EDGES
from topicloom.overlay.kernels.edge_removal import (
    ADDED,
    MOST_REMOVED,
    REMOVED,
    Removal,
    keep,
    remove_edges,
    remove_if_replaced,
    undo,
)
from topicloom.overlay.kernels.overlay_trees import OverlayTrees
from topicloom.overlay.kernels.repair import pair_price, repair

WEAKEST_OF = 12  # a move starts at the edge that carries the fewest topics of so many random ones
BESIDE_OF = 3  # and takes the weakest of so many adjacent ones along
SURPLUS_OF = 2  # the same for the edges of a node that has too many
COMPANIES = 4  # such choices are tried before the edge is left alone


# What a move must not make worse: the number of edges; that, and the cost among equals; the cost.
BY_NUMBER, THEN_COST, BY_COST = 0, 1, 2


@part
def _cost(trees: OverlayTrees, removal: Removal, edges: Ints, n: int) -> float:
    total = 0.0
    for i in range(n):
        u, v = trees.edge_u[edges[i]], trees.edge_v[edges[i]]
        total += pair_price(removal.price_ptr, removal.price_other, removal.price, u, v)
    return total


@inlined
def _dearer(trees: OverlayTrees, removal: Removal, aim: int) -> bool:
    """Does this move cost more than `aim` allows?"""
    n_removed, n_added = removal.counts[REMOVED], removal.counts[ADDED]
    if aim == BY_NUMBER or (aim == THEN_COST and n_added != n_removed):
        return False
    return _cost(trees, removal, removal.added, n_added) > _cost(trees, removal, removal.removed, n_removed)


@inlined
def try_move(
    trees: OverlayTrees, removal: Removal, cap: Ints, most: int, aim: int, banned_u: int, banned_v: int
) -> bool:
    """Remove the listed edges and repair with at most `most`; all is as before if that fails."""
    if (
        remove_edges(trees, removal)
        and repair(trees, removal, cap, most, banned_u, banned_v)
        and not _dearer(trees, removal, aim)
    ):
        keep(trees, removal)
        return True
    undo(trees, removal)
    return False


@part
def _weakest_edge(trees: OverlayTrees, removal: Removal) -> int:
    """Return the edge that carries the fewest topics of some random ones; -1 if all of them must stay."""
    best = -1
    if trees.sizes[N_EDGES] == 0:
        return best
    for _ in range(WEAKEST_OF):
        edge = trees.live[draw(removal.random, trees.sizes[N_EDGES])]
        if not trees.fixed[edge] and (best < 0 or trees.load[edge] < trees.load[best]):
            best = edge
    return best


@part
def _list_edge_at(trees: OverlayTrees, removal: Removal, node: int, choices: int) -> bool:
    """List one more edge of `node` for removal, the weakest of some random ones; False if there is none."""
    n = removal.counts[REMOVED]
    if n == MOST_REMOVED or trees.degree[node] == 0:
        return False
    best = -1
    for _ in range(choices):
        edge = trees.near_edge[trees.near_ptr[node] + draw(removal.random, trees.degree[node])]
        listed = trees.fixed[edge]
        for i in range(n):
            listed = listed or removal.removed[i] == edge
        if not listed and (best < 0 or trees.load[edge] < trees.load[best]):
            best = edge
    if best < 0:
        return False
    removal.removed[n] = best
    removal.counts[REMOVED] += 1
    return True


@inlined
def _list_company(trees: OverlayTrees, removal: Removal, edge: int) -> None:
    """List `edge` and one or two beside it for removal."""
    removal.removed[0] = edge
    removal.counts[REMOVED] = 1
    for _ in range(1 + draw(removal.random, 2)):
        beside = removal.removed[draw(removal.random, removal.counts[REMOVED])]
        node = trees.edge_u[beside] if draw(removal.random, 2) == 0 else trees.edge_v[beside]
        _list_edge_at(trees, removal, np.int64(node), BESIDE_OF)


@part
def _full_partner(trees: OverlayTrees, removal: Removal, cap: Ints, node: int) -> int:
    """Return a node at its cap that shares topics with `node`, the one sharing most of a few; -1 if none."""
    best, most = -1, 0
    n_slots = trees.node_ptr[node + 1] - trees.node_ptr[node]
    if n_slots == 0:
        return best
    for _ in range(8):
        topic = trees.slot_topic[trees.node_ptr[node] + draw(removal.random, n_slots)]
        size = trees.topic_ptr[topic + 1] - trees.topic_ptr[topic]
        other = trees.topic_nodes[trees.topic_ptr[topic] + draw(removal.random, size)]
        if other == node or trees.degree[other] < cap[other]:
            continue
        shared = 0
        for word in range(trees.bits.shape[1]):
            shared += ones(trees.bits[node, word] & trees.bits[other, word])
        if shared > most:
            best, most = other, shared
    return best


@part
def _list_surplus(trees: OverlayTrees, removal: Removal, cap: Ints, node: int, full_nodes: int) -> None:
    """List the surplus edges of `node` and a few more, and some of full nodes that share topics with it."""
    removal.counts[REMOVED] = 0
    surplus = trees.degree[node] - cap[node]
    if surplus <= 0:
        return
    for _ in range(min(surplus, 3) + draw(removal.random, 3)):
        _list_edge_at(trees, removal, node, SURPLUS_OF)
    if removal.counts[REMOVED] == 0:
        return
    for _ in range(full_nodes):
        full = _full_partner(trees, removal, cap, node)
        if full >= 0:
            _list_edge_at(trees, removal, np.int64(full), SURPLUS_OF)


PRUNE, EXCHANGE, RELIEVE = 0, 1, 2


@kernel
def run_moves(
    trees: OverlayTrees,
    removal: Removal,
    cap: Ints,
    kind: int,
    items: Ints,
    aim: int,
    slack: int,
    attempts: int,
) -> int:
    """Run moves of one kind; one kernel for all kinds, since each alone takes as long to compile.

    `items` are the edges to prune or the nodes to relieve; of exchanges only their number counts.
    """
    accepted = 0
    for item in items:
        if kind == PRUNE:
            accepted += not trees.fixed[item] and remove_if_replaced(trees, removal, np.int64(item))
            continue
        edge, banned_u, banned_v = np.int64(-1), np.int64(-1), np.int64(-1)
        if kind == EXCHANGE:
            edge = np.int64(_weakest_edge(trees, removal))
            if edge < 0:
                continue
            banned_u, banned_v = np.int64(trees.edge_u[edge]), np.int64(trees.edge_v[edge])
        for attempt in range(attempts):
            if kind == EXCHANGE:
                _list_company(trees, removal, edge)
            else:
                _list_surplus(trees, removal, cap, np.int64(item), attempt % 3)
            if removal.counts[REMOVED] == 0:
                break
            most = removal.counts[REMOVED] + slack
            moved = try_move(trees, removal, cap, most, aim, banned_u, banned_v)
            accepted += moved
            if moved and kind == EXCHANGE:
                break
    return accepted


def prune(trees: OverlayTrees, removal: Removal, edges: Ints) -> int:
    """Remove those of `edges` that no topic needs once others carry their topics; return how many."""
    return int(run_moves(trees, removal, trees.degree, PRUNE, sealed(edges), BY_NUMBER, 0, 1))


def destroy_and_repair(trees: OverlayTrees, removal: Removal, cap: Ints, aim: int, moves: int) -> int:
    """Make moves: remove a weak edge with one or two beside it, repair with no more than were removed.

    The first one may not come back. Moves that save nothing are kept too: they keep the search going. How
    many were kept.
    """
    return int(run_moves(trees, removal, cap, EXCHANGE, sealed(np.zeros(moves, np.int32)), aim, 0, COMPANIES))


def relieve(trees: OverlayTrees, removal: Removal, cap: Ints, nodes: Ints, slack: int, attempts: int) -> None:
    """Move edges away from `nodes` until they keep their caps, if possible.

    An attempt takes the surplus edges and a few more from the node, often one or two from full nodes that
    share topics with it, and may use `slack` edges more than it took.
    """
    run_moves(trees, removal, cap, RELIEVE, sealed(nodes), BY_NUMBER, slack, attempts)

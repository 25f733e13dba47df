"""The moves of the local search: prune, destroy and repair, relief. Each keeps what was connected so."""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, sealed
from topicloom.base.kernels.bits import ones
from topicloom.base.kernels.jit import bare, kernel
from topicloom.base.kernels.random import draw
from topicloom.overlay.kernels.edge_lists import N_EDGES
from topicloom.overlay.kernels.edge_removal import (
    ADDED,
    MOST_REMOVED,
    RECORDS,
    REMOVED,
    Removal,
    keep,
    remove_edges,
    remove_if_replaced,
    undo,
)
from topicloom.overlay.kernels.overlay_trees import OverlayTrees
from topicloom.overlay.kernels.repair import join, number_parts, pair_price, repair

WEAKEST_OF = 3  # a move starts at the edge that carries the fewest topics of so many random ones
BESIDE_OF = 2  # and takes the weakest of so many adjacent ones along
FEWEST_BESIDE, MOST_BESIDE = 1, 3  # so many of those
WHOLE_NODES = 30  # of a hundred moves so many take all edges of a node out
WHOLE_EDGES = 4  # if it has no more than these
SURPLUS_OF = 2  # of the edges of a node that has too many the weakest of so many is taken


LINE = 2 + 2 * (MOST_REMOVED + MOST_REMOVED)  # numbers of a move in a log

# What a move must not make worse: the number of edges; that, and the cost among equals; the cost.
BY_NUMBER, THEN_COST, BY_COST = 0, 1, 2


@bare
def _cost(trees: OverlayTrees, removal: Removal, edges: Ints, n: int) -> float:
    total = 0.0
    for i in range(n):
        u, v = trees.edge_u[edges[i]], trees.edge_v[edges[i]]
        total += pair_price(removal.price_ptr, removal.price_other, removal.price, u, v)
    return total


@bare
def _dearer(trees: OverlayTrees, removal: Removal, aim: int) -> bool:
    """Does this move cost more than `aim` allows?"""
    n_removed, n_added = removal.counts[REMOVED], removal.counts[ADDED]
    if aim == BY_NUMBER or (aim == THEN_COST and n_added != n_removed):
        return False
    return _cost(trees, removal, removal.added, n_added) > _cost(trees, removal, removal.removed, n_removed)


@bare
def try_move(
    trees: OverlayTrees,
    removal: Removal,
    cap: Ints,
    most: int,
    aim: int,
    banned_u: int,
    banned_v: int,
    log: Ints,
    line: int,
) -> bool:
    """Remove the listed edges and repair with at most `most`; all is as before if that fails."""
    if (
        remove_edges(trees, removal)
        and repair(trees, removal, cap, most, banned_u, banned_v)
        and not _dearer(trees, removal, aim)
    ):
        if line < len(log):
            _note(trees, removal, log[line])
        keep(trees, removal)
        return True
    undo(trees, removal)
    return False


@bare
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


@bare
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


@bare
def _list_company(trees: OverlayTrees, removal: Removal, edge: int) -> None:
    """List `edge` and some beside it for removal."""
    removal.removed[0] = edge
    removal.counts[REMOVED] = 1
    for _ in range(FEWEST_BESIDE + draw(removal.random, MOST_BESIDE - FEWEST_BESIDE + 1)):
        beside = removal.removed[draw(removal.random, removal.counts[REMOVED])]
        node = trees.edge_u[beside] if draw(removal.random, 2) == 0 else trees.edge_v[beside]
        _list_edge_at(trees, removal, np.int64(node), BESIDE_OF)


@bare
def _list_node(trees: OverlayTrees, removal: Removal) -> bool:
    """List the edges of a random node for removal; False if that node has one alone, or many.

    One would mostly come back as it was, and many take long and save nothing.
    """
    removal.counts[REMOVED] = 0
    node = draw(removal.random, len(trees.degree))
    if trees.degree[node] > WHOLE_EDGES:
        return False
    for place in range(trees.near_ptr[node], trees.near_ptr[node] + trees.degree[node]):
        edge = trees.near_edge[place]
        if not trees.fixed[edge]:
            removal.removed[removal.counts[REMOVED]] = edge
            removal.counts[REMOVED] += 1
    return removal.counts[REMOVED] > 1


@bare
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


@bare
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


@bare
def _note(trees: OverlayTrees, removal: Removal, line: Ints) -> None:
    """Write a move that is about to be kept into one line of a log: how many out and in, and their ends."""
    n_out, n_in = removal.counts[REMOVED], removal.counts[ADDED]
    line[0], line[1] = n_out, n_in
    for i in range(n_out + n_in):
        edge = removal.removed[i] if i < n_out else removal.added[i - n_out]
        line[2 + 2 * i], line[3 + 2 * i] = trees.edge_u[edge], trees.edge_v[edge]


@bare
def _repeat(trees: OverlayTrees, removal: Removal, cap: Ints, line: Ints) -> bool:
    """Make the move of one line of a log, if its edges are there and what it puts in still holds."""
    removal.counts[REMOVED] = 0
    for i in range(line[0]):
        u, v = line[2 + 2 * i], line[3 + 2 * i]
        for place in range(trees.near_ptr[u], trees.near_ptr[u] + trees.degree[u]):
            if trees.near[place] == v:
                removal.removed[removal.counts[REMOVED]] = trees.near_edge[place]
                removal.counts[REMOVED] += 1
    if removal.counts[REMOVED] < line[0]:
        return False
    holds = remove_edges(trees, removal)
    need = removal.counts[RECORDS]
    holds = holds and (need == 0 or number_parts(removal))
    for i in range(line[0], line[0] + line[1]):
        a, b = np.int64(line[2 + 2 * i]), np.int64(line[3 + 2 * i])
        if not holds or need == 0:
            break
        holds = trees.degree[a] < cap[a] and trees.degree[b] < cap[b]
        if holds:
            joined = join(trees, removal, a, b)
            need -= joined
            holds = joined > 0
    if holds and need == 0:
        keep(trees, removal)
        return True
    undo(trees, removal)
    return False


PRUNE, EXCHANGE, RELIEVE, REPEAT = 0, 1, 2, 3


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
    log: Ints,
) -> int:
    """Run moves of one kind; one kernel for all kinds, since each alone takes as long to compile.

    `items` are the edges to prune, the nodes to relieve or the lines of `log` to repeat; of exchanges only
    their number counts, and what is accepted is written into `log` as far as there is room.
    """
    accepted = 0
    for item in items:
        if kind == REPEAT:
            accepted += _repeat(trees, removal, cap, log[item])
            continue
        if kind == PRUNE:
            accepted += not trees.fixed[item] and remove_if_replaced(trees, removal, np.int64(item))
            continue
        for attempt in range(attempts):
            banned_u, banned_v = np.int64(-1), np.int64(-1)
            if kind == RELIEVE:
                _list_surplus(trees, removal, cap, np.int64(item), attempt % 3)
            elif draw(removal.random, 100) >= WHOLE_NODES or not _list_node(trees, removal):
                removal.counts[REMOVED] = 0
                edge = np.int64(_weakest_edge(trees, removal))
                if edge >= 0:
                    banned_u, banned_v = np.int64(trees.edge_u[edge]), np.int64(trees.edge_v[edge])
                    _list_company(trees, removal, edge)
            if removal.counts[REMOVED] == 0:
                break
            most = removal.counts[REMOVED] + slack
            accepted += try_move(trees, removal, cap, most, aim, banned_u, banned_v, log, accepted)
    return accepted


def prune(trees: OverlayTrees, removal: Removal, edges: Ints) -> int:
    """Remove those of `edges` that no topic needs once others carry their topics; return how many."""
    return int(run_moves(trees, removal, trees.degree, PRUNE, sealed(edges), BY_NUMBER, 0, 1, new_log(0)))


def new_log(lines: int) -> Ints:
    """Return room for so many accepted moves."""
    return np.zeros((lines, LINE), np.int32)


def destroy_and_repair(
    trees: OverlayTrees, removal: Removal, cap: Ints, aim: int, moves: int, log: Ints | None = None
) -> int:
    """Make moves: remove a weak edge with some beside it, or a node's, repair with no more than were removed.

    The weak one may not come back. Moves that save nothing are kept too: they keep the search going. How
    many were kept; as far as there is room each is written into `log`.
    """
    log = new_log(0) if log is None else log
    return int(run_moves(trees, removal, cap, EXCHANGE, sealed(np.zeros(moves, np.int32)), aim, 0, 1, log))


def repeat(trees: OverlayTrees, removal: Removal, cap: Ints, log: Ints) -> int:
    """Make the moves of a log, which was written on a copy of this overlay; return how many still hold.

    Each of them keeps connected what was so, and uses no more edges than it removes.
    """
    lines = sealed(np.arange(len(log), dtype=np.int32))
    return int(run_moves(trees, removal, cap, REPEAT, lines, BY_NUMBER, 0, 1, log))


def relieve(trees: OverlayTrees, removal: Removal, cap: Ints, nodes: Ints, slack: int, attempts: int) -> None:
    """Move edges away from `nodes` until they keep their caps, if possible.

    An attempt takes the surplus edges and a few more from the node, often one or two from full nodes that
    share topics with it, and may use `slack` edges more than it took.
    """
    run_moves(trees, removal, cap, RELIEVE, sealed(nodes), BY_NUMBER, slack, attempts, new_log(0))

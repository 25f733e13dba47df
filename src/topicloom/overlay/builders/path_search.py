"""Local search on what an overlay costs or how long its deliveries take: how the moves are driven.

The value that the moves work on is exact (in large topics on the sample that is also measured), so weights
count in every choice. A move costs a search in each topic that it touches: for up to a few thousand nodes.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Bools, Floats, Ints, sealed
from topicloom.base.progress import Progress, check_stop
from topicloom.base.seeds import generator
from topicloom.overlay.builders.constrained import ConstrainedTask, Edges
from topicloom.overlay.builders.degree_caps import DegreeCaps
from topicloom.overlay.builders.local_search import pair_prices
from topicloom.overlay.kernels.edge_lists import N_EDGES
from topicloom.overlay.kernels.path_moves import run_path_moves
from topicloom.overlay.kernels.path_overlay import MOST, PathOverlay, put_path_edges
from topicloom.overlay.measures.hops import path_sources
from topicloom.overlay.model.constraints import Constraints

SLICE_WORK = 2e7  # neighbors looked at in one call of the kernel
ROUND_SLICES = 4  # calls in a round
MOST_MOVES = 2_000  # in one call
HEATS = (0.3, 0.1, 0.03, 0.0)  # of the value of an edge: temperatures of the rounds in turn
ANY = 1 << 30


class PathSearch:
    """An overlay under improvement; every topic is connected and stays so.

    The first `n_fixed` edges stay for good. `weights` are what a path between two subscribers of each topic
    counts, 0 where paths do not matter; with `priced` edges count what they cost, and else nothing. With
    `timed` paths count their milliseconds, and else their hops. No node above a cap, on edges or on what it
    forwards (`rates`), gets more than it has.
    """

    def __init__(
        self,
        task: ConstrainedTask,
        edges: Edges,
        *,
        cap: int,
        most_edges: int,
        most_hops: int,
        weights: Floats,
        rates: Floats | None = None,
        priced: bool = False,
        timed: bool = False,
        seed: int,
        progress: Progress,
    ) -> None:
        self._progress, interest, n_fixed = progress, task.interest, len(task.fixed[0])
        u, v = (np.ascontiguousarray(end, np.int32) for end in edges)
        self._caps = DegreeCaps.of(
            interest.n_nodes, (u, v), n_fixed, cap=cap, needs=None, given=task.constraints.caps
        )
        self._most_edges, self._most_hops = most_edges, min(most_hops, ANY)
        self._rounds = 0
        number = int(generator(seed, "path-search").integers(2**63))
        rates = np.zeros(interest.n_topics) if rates is None else rates
        room = max(most_edges, len(u)) + 2 * MOST
        self._overlay = new_path_overlay(
            task, self._caps.most, room, weights, rates, priced=priced, timed=timed, seed=number
        )
        put_path_edges(self._overlay, sealed(u), sealed(v), n_fixed, self._most_hops)
        sizes, counted = interest.topic_sizes(), np.diff(self._overlay.source_ptr)
        if not weights.any() and self._most_hops >= int(sizes.max(initial=0)):
            counted = np.ones_like(counted)
        steps = counted * sizes * (1 + 4 * len(u) / max(interest.n_nodes, 1))
        touched = sizes / max(float(sizes.sum()), 1.0)  # a topic is touched the more often the larger it is
        per_move = float((steps * touched).sum()) * max(interest.n_subscriptions / max(len(u), 1), 1.0)
        self._moves = int(np.clip(SLICE_WORK / max(per_move, 1.0), 1, MOST_MOVES))

    @property
    def n_edges(self) -> int:
        return int(self._overlay.sizes[N_EDGES])

    @property
    def value(self) -> float:
        """Return what the overlay counts now."""
        live = self._overlay.live[: self.n_edges]
        return float(self._overlay.value.sum() + self._overlay.edge_price[live].sum())

    def edges(self) -> Edges:
        """Return the overlay as it stands, in no order."""
        live = self._overlay.live[: self.n_edges]
        return self._overlay.edge_u[live], self._overlay.edge_v[live]

    def run(self, cap: int) -> None:
        """Make one round of moves, warm ones and cold ones in turn."""
        if len(self._overlay.chance) == 0 or self._overlay.chance[-1] == 0.0:
            return  # no topic needs an edge
        heat = HEATS[self._rounds % len(HEATS)] * self.value / max(self.n_edges, 1)
        self._rounds += 1
        for _ in range(ROUND_SLICES):
            check_stop(self._progress)
            limits = (self._caps.under(cap), self._most_edges, self._most_hops)
            run_path_moves(self._overlay, *limits, heat, self._moves)


def new_path_overlay(
    task: ConstrainedTask,
    room: Ints,
    most_edges: int,
    weights: Floats,
    rates: Floats,
    *,
    priced: bool,
    timed: bool,
    seed: int,
) -> PathOverlay:
    """Return an overlay without edges; node v has room for `room[v]` edges."""
    interest, limits = task.interest, task.constraints
    n_nodes, n_topics = interest.n_nodes, interest.n_topics
    node_ptr, node_topics, topic_ptr, topic_nodes = interest.sealed_lists()
    bits = np.zeros((n_nodes, max((n_topics + 63) // 64, 1)), np.uint64)
    slot_node = np.repeat(np.arange(n_nodes), np.diff(node_ptr))
    flags = np.uint64(1) << (node_topics.astype(np.uint64) & np.uint64(63))
    np.bitwise_or.at(bits, (slot_node, node_topics >> 6), flags)
    prices = pair_prices(limits if priced else Constraints(forbidden=limits.forbidden), n_nodes)
    times = pair_prices(Constraints(priced=limits.timed, costs=limits.times), n_nodes)
    source_ptr, sources, share = path_sources(interest)
    sizes = interest.topic_sizes()
    worth = weights * sizes * (sizes > 1)
    chance = np.cumsum(worth if worth.any() else 1.0 * (sizes > 1))
    near_ptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(room, dtype=np.int64)))
    loads = np.full(n_nodes, np.inf) if limits.load_caps is None else limits.load_caps

    def ints(size: int, value: int = 0) -> Ints:
        return np.full(size, value, np.int32)

    def floats(size: int, value: float = 0.0) -> Floats:
        return np.full(size, value)

    def flags_of(size: int) -> Bools:
        return np.zeros(size, np.bool_)

    return PathOverlay(
        topic_ptr=topic_ptr,
        topic_nodes=topic_nodes,
        bits=bits,
        source_ptr=source_ptr,
        sources=sources,
        weight=np.ascontiguousarray(weights * share, np.float64),
        chance=chance / max(float(chance[-1]) if n_topics else 0.0, 1e-300),
        rate=np.array(rates, np.float64),
        load_cap=np.array(loads, np.float64),
        near_ptr=near_ptr,
        price_ptr=prices[0],
        price_other=prices[1],
        price=prices[2],
        time_ptr=times[0],
        time_other=times[1],
        time=times[2],
        usual=np.array([1.0 if priced else 0.0, limits.usual_time if timed else 0.0]),
        degree=ints(n_nodes),
        near=ints(int(near_ptr[-1])),
        near_edge=ints(int(near_ptr[-1])),
        edge_u=ints(most_edges),
        edge_v=ints(most_edges),
        edge_time=floats(most_edges),
        edge_price=floats(most_edges),
        edge_load=floats(most_edges),
        fixed=flags_of(most_edges),
        live=ints(most_edges),
        live_at=ints(most_edges),
        free=np.arange(most_edges, dtype=np.int32)[::-1].copy(),
        load=floats(n_nodes),
        value=floats(n_topics),
        touched=ints(n_topics),
        old_value=floats(n_topics),
        is_touched=flags_of(n_topics),
        removed=ints(MOST),
        added=ints(MOST),
        hops=ints(n_nodes, -1),
        far=floats(n_nodes),
        queue=ints(int(sizes.max(initial=1)) + 1),
        queued=flags_of(n_nodes),
        random=np.array([seed], np.uint64),
        sizes=np.array([0, most_edges, 0, 0, 0], np.int64),
    )

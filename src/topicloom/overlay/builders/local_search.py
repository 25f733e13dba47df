"""Local search on an overlay: the state that the moves work on, and how a builder drives them.

Every method leaves an overlay that connects what it connected before. Kernels are called in short slices, so
the user may stop in between; the slices do not change the outcome.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs, pointers
from topicloom.base.kernels.parallel import default_threads
from topicloom.base.progress import Progress, check_stop
from topicloom.base.seeds import generator
from topicloom.overlay.builders.constrained import ConstrainedTask, Edges
from topicloom.overlay.builders.degree_caps import DegreeCaps
from topicloom.overlay.kernels.edge_lists import N_EDGES
from topicloom.overlay.kernels.edge_removal import MOST_REMOVED, new_removal
from topicloom.overlay.kernels.moves import (
    BY_COST,
    BY_NUMBER,
    THEN_COST,
    destroy_and_repair,
    new_log,
    prune,
    relieve,
    repeat,
)
from topicloom.overlay.kernels.overlay_trees import (
    OverlayTrees,
    add_edges,
    copied,
    copy_overlay,
    new_overlay_trees,
)
from topicloom.overlay.model.constraints import Constraints

LEAST_EDGES, ROUND_SHARE = 256, 16  # from so many edges on two searches share the work, in rounds of a share
SLICE = 500  # moves, edges or nodes per call of a kernel
ROUNDS = 8  # of relief
ATTEMPTS, MOST_ATTEMPTS = 12, 200  # at relieving one node in one round: more when few are left
HOPELESS = 25
PATIENT = 3  # rounds of relief before an edge more is allowed, and then before yet another


class LocalSearch:
    """An overlay under improvement.

    The first edges are the fixed ones of the task, which stay for good; a node may have more edges than its
    cap only because it has had them from the start. Where a node `needs` more edges than a cap, that is its
    cap.
    """

    def __init__(
        self,
        task: ConstrainedTask,
        edges: Edges,
        *,
        cap: int,
        needs: Ints | None = None,
        seed: int,
        progress: Progress,
    ) -> None:
        self._progress = progress
        interest, constraints, n_fixed = task.interest, task.constraints, len(task.fixed[0])
        u, v = (np.ascontiguousarray(end, np.int32) for end in edges)
        self._caps = DegreeCaps.of(
            interest.n_nodes, (u, v), n_fixed, cap=cap, needs=needs, given=constraints.caps
        )
        most = self._caps.most
        self._trees = new_overlay_trees(interest, most, int(most.sum()) // 2 + 2 * MOST_REMOVED)
        add_edges(self._trees, u, v, n_fixed, np.arange(interest.n_subscriptions, dtype=np.int32))
        prices = pair_prices(constraints, interest.n_nodes)
        numbers = (int(generator(seed, name).integers(2**63)) for name in ("local-search", "second-search"))
        self._removal, self._second_removal = (new_removal(interest, number, prices) for number in numbers)
        self._second: OverlayTrees | None = None
        self._threads = task.threads or default_threads()
        priced = len(constraints.priced) > 0
        self._aim = (BY_COST if task.costs == "weight" else THEN_COST) if priced else BY_NUMBER

    @property
    def n_edges(self) -> int:
        return int(self._trees.sizes[N_EDGES])

    @property
    def degree(self) -> Ints:
        return self._trees.degree

    def edges(self) -> Edges:
        """Return the overlay as it stands, in no order."""
        live = self._trees.live[: self.n_edges]
        return self._trees.edge_u[live], self._trees.edge_v[live]

    def edges_within(self, caps: Ints) -> Edges:
        """Return the edges but those by which nodes exceed `caps`: the least loaded go, fixed ones stay."""
        live = self._trees.live[: self.n_edges]
        order = live[np.lexsort((live, -self._trees.load[live], ~self._trees.fixed[live]))]
        u, v = self._trees.edge_u[order], self._trees.edge_v[order]
        degree = np.zeros(len(caps), np.int64)
        kept = np.zeros(len(order), np.bool_)
        for i, (a, b) in enumerate(zip(u.tolist(), v.tolist(), strict=True)):
            kept[i] = degree[a] < caps[a] and degree[b] < caps[b]
            degree[[a, b]] += kept[i]
        return u[kept], v[kept]

    def caps(self, cap: int) -> Ints:
        """Return how many edges each node may have when the builder allows `cap`."""
        return self._caps.under(cap)

    def above(self, cap: int) -> Ints:
        """Return the nodes with more edges than that."""
        return np.flatnonzero(self.degree > self.caps(cap)).astype(np.int32)

    def prune(self, *, most_load: int | None = None) -> None:
        """Drop the edges that no topic needs, those that carry the fewest topics first.

        With `most_load` edges that carry more topics than that are not looked at.
        """
        live = self._trees.live[: self.n_edges]
        if most_load is not None:
            live = live[self._trees.load[live] <= most_load]
        order = live[np.lexsort((live, self._trees.load[live]))]
        for start in range(0, len(order), SLICE):
            check_stop(self._progress)
            prune(self._trees, self._removal, order[start : start + SLICE])

    def relieve(self, cap: int, *, rounds: int = ROUNDS) -> bool:
        """Move edges away from nodes above `cap`; True if none is left above.

        It gives up when after a round more than one node in `HOPELESS` is still above.
        """
        caps = self.caps(cap)
        for round_ in range(rounds):
            nodes = self.above(cap)
            if len(nodes) == 0:
                return True
            if round_ and HOPELESS * len(nodes) > len(caps):
                return False
            attempts = max(ATTEMPTS, min(MOST_ATTEMPTS, len(caps) // len(nodes)))
            chunk = max(SLICE // attempts, 1)
            for start in range(0, len(nodes), chunk):
                check_stop(self._progress)
                some = nodes[start : start + chunk]
                relieve(self._trees, self._removal, caps, some, round_ // PATIENT, attempts)
        return len(self.above(cap)) == 0

    def improve(self, cap: int, moves: int) -> None:
        """Make so many moves that save edges or shift them."""
        caps, tables = self.caps(cap), (self._trees, self._removal)
        if self.n_edges >= LEAST_EDGES:
            self._improve_twice(caps, moves)
            return
        for start in range(0, moves, SLICE):
            check_stop(self._progress)
            destroy_and_repair(*tables, caps, self._aim, min(SLICE, moves - start))

    def _improve_twice(self, caps: Ints, moves: int) -> None:
        """Let two searches make half of the moves each, side by side if there are two threads.

        Each round they start from the same overlay; then the first one repeats the moves of the second that
        still hold. Both are always run, so the number of threads changes nothing but the time.
        """
        if self._second is None:
            self._second = copied(self._trees)
        lanes = ((self._trees, self._removal), (self._second, self._second_removal))
        size = max(self.n_edges // ROUND_SHARE, 1)
        with ThreadPoolExecutor(1) as pool:
            for start in range(0, moves, 2 * size):
                check_stop(self._progress)
                left = min(2 * size, moves - start)
                log = new_log(left // 2)
                copy_overlay(self._trees, self._second)
                other = partial(destroy_and_repair, *lanes[1], caps, self._aim, left // 2, log)
                waiting = pool.submit(other) if self._threads > 1 else None
                destroy_and_repair(*lanes[0], caps, self._aim, left - left // 2)
                kept = waiting.result() if waiting else other()
                repeat(*lanes[0], caps, log[:kept])


def pair_prices(constraints: Constraints, n_nodes: int) -> tuple[Longs, Ints, Floats]:
    """Return priced and forbidden pairs as neighbor lists; what is forbidden has an infinite price."""
    pairs = (constraints.forbidden, constraints.priced)
    u = np.concatenate([end for pair in pairs for end in (pair.u, pair.v)])
    v = np.concatenate([end for pair in pairs for end in (pair.v, pair.u)])
    price = np.concatenate((np.full(2 * len(pairs[0]), np.inf), constraints.costs, constraints.costs))
    # A pair that is both comes first with the infinite price, which the search then finds.
    order = np.lexsort((-price, v, u))
    return pointers(u, n_nodes), v[order].astype(np.int32), price[order]

"""Local search under a degree cap and a radius per topic: how a builder drives the moves of `hop_moves`.

Every method leaves an overlay in which nobody is loose. Kernels are called in short slices, so the user may
stop in between; the slices do not change the outcome.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, Longs, sealed
from topicloom.base.progress import Progress, check_stop
from topicloom.base.seeds import generator
from topicloom.overlay.builders.constrained import Edges
from topicloom.overlay.builders.degree_caps import DegreeCaps
from topicloom.overlay.builders.local_search import pair_prices
from topicloom.overlay.kernels.edge_lists import N_EDGES
from topicloom.overlay.kernels.hop_moves import EXCHANGE, RELIEVE, SQUEEZE, run_hop_moves
from topicloom.overlay.kernels.hop_overlay import (
    LOOSE,
    new_hop_overlay,
    put_edges,
    root_topic,
    search_topic,
)
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints
from topicloom.overlay.model.interest import Interest

SLICE = 250  # moves or nodes per call of a kernel
EDGE_WEIGHT, TEMPERATURE = 8.0, 4.0  # of an edge and of the annealing, in subscriptions per edge
BY_COST_TIE = 1e-3  # what a unit of cost weighs against an edge where costs only break ties
CENTERS = 3  # nodes or edges in the middle of a longest path that are tried as roots
ROUNDS, ATTEMPTS, MOST_ATTEMPTS = 8, 12, 100  # of relief
WEAKEST_OF = 8  # a move starts at the edge that fewest topics hang on, of so many random ones
COMPANIES = 1  # sets of edges beside it that are tried before it is left alone
SQUEEZES, FEW_TOPICS = 4, 5  # attempts at a smaller radius of a topic; so many times as many for few topics:
MORE_SQUEEZES, MOST_SQUEEZES = 3, 20  # the second if patient


class HopSearch:
    """An overlay under improvement; every topic is connected and stays so.

    The first `n_fixed` edges stay for good. A node may have more edges than its cap only because it has had
    them from the start; where it `needs` more than a cap, that is its cap. `costs` as in `build_gm`. With
    `odd` the roots are edges, so that no two subscribers are more than two radii and one hop apart. Depths
    count `weights[topic]` times (1 without).
    """

    def __init__(
        self,
        interest: Interest,
        edges: Edges,
        *,
        n_fixed: int = 0,
        cap: int,
        needs: Ints | None = None,
        constraints: Constraints = UNCONSTRAINED,
        costs: str = "tie",
        odd: bool = False,
        weights: Longs | None = None,
        seed: int,
        run: int = 0,
        progress: Progress,
    ) -> None:
        self._progress, self._interest = progress, interest
        self.odd = np.full(interest.n_topics, odd)  # topics whose root is an edge, from the next centering on
        u, v = (np.ascontiguousarray(end, np.int32) for end in edges)
        self._caps = DegreeCaps.of(
            interest.n_nodes, (u, v), n_fixed, cap=cap, needs=needs, given=constraints.caps
        )
        most = self._caps.most
        lots = f"hop-search-{run}" if run else "hop-search"
        number = int(generator(seed, lots).integers(2**63))
        prices = pair_prices(constraints, interest.n_nodes)
        self._overlay = new_hop_overlay(
            interest.sealed_lists(), most, prices, int(most.sum()) // 2 + 64, number, weights
        )
        counted = interest.topic_sizes() if weights is None else interest.topic_sizes() * weights
        self._depths_weigh = int(counted.sum())
        put_edges(self._overlay, sealed(u), sealed(v), n_fixed)
        self._sizes = interest.topic_sizes()
        self._topics = np.flatnonzero(self._sizes > 1)
        self._scratch = np.zeros(max(int(interest.subscription_sizes().max(initial=1)), 1), np.int32)
        self.by_cost = (1.0, 0.0)  # what an edge weighs, and a unit of its cost
        if len(constraints.priced):
            self.by_cost = (0.0, 1.0) if costs == "weight" else (1.0, BY_COST_TIE)
        for topic in self._topics.tolist():
            self._root(topic, int(interest.nodes_of(topic)[0]), LOOSE)
        for topic in np.flatnonzero(self._sizes == 1).tolist():
            self._root(topic, int(interest.nodes_of(topic)[0]), 1)
        self.center()

    @property
    def n_edges(self) -> int:
        return int(self._overlay.sizes[N_EDGES])

    @property
    def degree(self) -> Ints:
        return self._overlay.degree

    @property
    def radius(self) -> Ints:
        """Return the largest depth allowed in each topic."""
        return self._overlay.radius

    def edges(self) -> Edges:
        """Return the overlay as it stands, in no order."""
        live = self._overlay.live[: self.n_edges]
        return self._overlay.edge_u[live], self._overlay.edge_v[live]

    def caps(self, cap: int) -> Ints:
        """Return how many edges each node may have when the builder allows `cap`."""
        return self._caps.under(cap)

    def above(self, cap: int) -> Ints:
        """Return the nodes with more edges than that."""
        return np.flatnonzero(self.degree > self.caps(cap)).astype(np.int32)

    def center(self, radius: int | Longs = 0) -> None:
        """Choose each root anew, in the middle of a longest path, if that makes its topic shallower.

        Radii come down to the depths there are, but not below `radius`.
        """
        least = np.broadcast_to(radius, len(self._sizes))
        for topic in self._topics.tolist():
            check_stop(self._progress)
            self._center(topic, int(least[topic]))

    def _levels(self, topic: int, root: int) -> Ints:
        levels = np.zeros(int(self._sizes[topic]), np.int32)
        search_topic(self._overlay, topic, root, levels)
        return levels

    def _root(self, topic: int, root: int, radius: int) -> None:
        levels = self._levels(topic, root)
        root_topic(self._overlay, topic, root, -1, min(radius, int(levels.max()) + 1), levels)

    def _center(self, topic: int, least: int) -> None:
        nodes, root = self._interest.nodes_of(topic), int(self._overlay.root[topic])
        levels = self._levels(topic, root)
        if levels.max() >= LOOSE:
            raise AssertionError(f"topic number {topic} is split")
        one = self._levels(topic, int(nodes[levels.argmax()]))
        other = self._levels(topic, int(nodes[one.argmax()]))
        length = int(one.max())
        between = one + other == length
        edge = int(self._overlay.root_edge[topic])
        ends = int(self._overlay.edge_u[edge]), int(self._overlay.edge_v[edge])
        choices = [(root, -1)] if edge < 0 else [ends]
        middle = nodes[between & (one == length // 2)][:CENTERS].tolist()
        if self.odd[topic]:
            after = set(nodes[between & (one == length // 2 + 1)].tolist())
            pairs = [(node, other) for node in middle for other in self._neighbors(node) if other in after]
            choices = [*(choices if edge >= 0 else []), *pairs[:CENTERS]] or choices
        else:
            choices += [(node, -1) for node in middle]
        found = [(*self._depths(topic, *choice), choice) for choice in choices]
        deepest, _, levels, (root, second) = min(found, key=lambda tried: tried[:2])
        radius = min(max(deepest, least), int(self._sizes[topic]))
        root_topic(self._overlay, topic, root, second, max(radius, 1), levels)

    def _neighbors(self, node: int) -> list[int]:
        start = int(self._overlay.near_ptr[node])
        return sorted(self._overlay.near[start : start + int(self._overlay.degree[node])].tolist())

    def _depths(self, topic: int, root: int, second: int) -> tuple[int, int, Ints]:
        """Return the largest depth, the sum of all and the depths from one root or two."""
        levels = self._levels(topic, root)
        if second >= 0:
            levels = np.minimum(levels, self._levels(topic, second))
        return int(levels.max()), int(levels.sum()), levels

    def relieve(self, cap: int) -> bool:
        """Move edges away from nodes above `cap`; True if none is left above."""
        caps = self.caps(cap)
        for round_ in range(ROUNDS):
            nodes = self.above(cap)
            if len(nodes) == 0:
                return True
            attempts = max(ATTEMPTS, min(MOST_ATTEMPTS, len(caps) // len(nodes)))
            chunk = max(SLICE // attempts, 1)
            for start in range(0, len(nodes), chunk):
                check_stop(self._progress)
                self._run(RELIEVE, caps, nodes[start : start + chunk], slack=round_ // 3, attempts=attempts)
        return len(self.above(cap)) == 0

    def squeeze(self, cap: int, radius: int | Longs, *, patient: bool = False) -> bool:
        """Bring the radii of all topics down to `radius` (one number, or one for each), a hop at a time.

        Adds edges where it must. True if every topic got there.
        """
        caps, more = self.caps(cap), MOST_SQUEEZES if patient else MORE_SQUEEZES
        stuck: set[int] = set()
        wide, goal = self._topics, np.broadcast_to(radius, len(self._sizes))
        while len(wide := wide[self.radius[wide] > goal[wide]]):
            widest = int(self.radius[wide].max())
            attempts = SQUEEZES * (1 if len(wide) > FEW_TOPICS else more)
            for topic in wide[self.radius[wide] == widest].tolist():
                check_stop(self._progress)
                if not self._run(SQUEEZE, caps, np.full(1, topic, np.int32), slack=1, attempts=attempts):
                    stuck.add(topic)
            wide = wide[~np.isin(wide, list(stuck))]
        return not stuck

    def improve(self, cap: int, moves: int, *, cold: bool = False) -> None:
        """Make so many moves that save edges, or shift them and make topics shallower."""
        caps = self.caps(cap)
        for start in range(0, moves, SLICE):
            check_stop(self._progress)
            items = np.zeros(min(SLICE, moves - start), np.int32)
            self._run(EXCHANGE, caps, items, slack=WEAKEST_OF, attempts=COMPANIES, cold=cold)

    def _run(
        self, kind: int, caps: Ints, items: Ints, *, slack: int = 0, attempts: int = 1, cold: bool = False
    ) -> int:
        unit = self._depths_weigh / max(self.n_edges, 1)
        number, cost = (EDGE_WEIGHT * unit * share for share in self.by_cost)
        heat = 0.0 if cold else TEMPERATURE * unit
        tables = (self._overlay, caps, kind, sealed(items))
        return int(run_hop_moves(*tables, number, cost, heat, slack, attempts, self._scratch))

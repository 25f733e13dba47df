"""Local search on overlays whose topics survive deaths, under caps and a radius per topic."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicloom.base.arrays import Ints, sealed
from topicloom.base.progress import check_stop
from topicloom.overlay.builders.constrained import Edges
from topicloom.overlay.builders.hop_search import EDGE_WEIGHT, TEMPERATURE, HopSearch
from topicloom.overlay.kernels.sturdy_moves import (
    EXCHANGE,
    PRUNE,
    RELIEVE,
    new_mending,
    run_sturdy_moves,
)
from topicloom.overlay.model.interest import Interest

SLICE = 100  # moves per call of a kernel
RELIEFS, TRIES = 4, 12  # rounds of relief, and tries at each node in one


class SturdySearch(HopSearch):
    """A `HopSearch` whose moves keep that topics survive `deaths` deaths where they do.

    Of its moves only `prune`, `improve` and `relieve` may be used: the others know nothing of deaths.
    """

    def __init__(self, interest: Interest, edges: Edges, *, deaths: int, **options: Any) -> None:
        super().__init__(interest, edges, **options)
        self._deaths = deaths
        largest = int(interest.topic_sizes().max(initial=0))
        self._mending = new_mending(interest.n_nodes, interest.n_topics, interest.n_subscriptions, largest)

    def prune(self) -> int:
        """Drop edges that no topic needs, those of the fewest topics first; return how many."""
        live = self._overlay.live[: self.n_edges].copy()
        bits, ends = self._overlay.bits, (self._overlay.edge_u[live], self._overlay.edge_v[live])
        shared = np.bitwise_count(bits[ends[0]] & bits[ends[1]]).sum(axis=1)
        return self._moves(PRUNE, self.degree, live[np.lexsort((live, shared))])

    def improve(self, cap: int, moves: int, *, cold: bool = False) -> None:
        """Make so many exchanges that save edges, or shift them and make topics shallower."""
        self._moves(EXCHANGE, self.caps(cap), np.zeros(moves, np.int32), hot=not cold)

    def relieve(self, cap: int) -> bool:
        """Move edges away from nodes above `cap`, none more than before; True if none is left above."""
        for _ in range(RELIEFS):
            nodes = self.above(cap)
            if len(nodes) == 0:
                return True
            self._moves(RELIEVE, self.caps(cap), np.repeat(nodes, TRIES))
        return len(self.above(cap)) == 0

    def _moves(self, kind: int, caps: Ints, items: Ints, *, hot: bool = False) -> int:
        kept, tables = 0, (self._overlay, self._mending, caps, kind)
        unit = self._depths_weigh / max(self.n_edges, 1)
        edge, cost = (EDGE_WEIGHT * unit * share for share in self.by_cost)
        heat = TEMPERATURE * unit if hot else 0.0
        for start in range(0, len(items), SLICE):
            check_stop(self._progress)
            some = sealed(items[start : start + SLICE])
            kept += int(run_sturdy_moves(*tables, some, self._deaths, edge, cost, 1.0, heat, self._scratch))
        return kept

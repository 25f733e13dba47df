"""Finds prices (see `price_bound.py`) with a high sum: a first-order method on the few pairs that matter.

All pairs of nodes are charged once a round; of each node's pairs the heaviest are kept, and on those alone
the prices are raised for some steps. Dividing the prices of each node by the ratio of its heaviest pair
makes them a proof again, since max(x a, y b) <= max(x, y) max(a, b); so every round ends with a proof and
the search may end after any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Floats, Longs, sealed
from topicloom.base.progress import Progress, check_stop
from topicloom.overlay.kernels.price_bound import Duals, HeavyPairs, raise_prices
from topicloom.overlay.kernels.shared_topics import shared_slots
from topicloom.overlay.measures.price_bound import Heaviest, place_slots, weigh_pairs
from topicloom.overlay.model.interest import Interest

KEPT = 12  # pairs that a round keeps of each node
STILL_HEAVY = 0.5  # pairs of earlier rounds stay from this ratio on; with fewer, prices run away unseen
RARITY = 0.75  # prices begin in proportion to this power of how rare a topic is
STEP_WORK = 3e7  # shared topics that one call of the ascent looks at before the user may stop us


@dataclass(frozen=True, slots=True)
class Round:
    """So many steps, with pairs weighed as exp(sharp x ratio); `pace / sharp` is the size of a step."""

    steps: int
    sharp: float
    pace: float


class PriceSearch:
    """One interest, searched for edges and then for the maximum degree."""

    def __init__(self, interest: Interest, needs: Longs, *, threads: int, progress: Progress) -> None:
        self.interest = interest
        self.needs = needs.astype(np.float64)
        self.threads = threads
        self.progress = progress
        self.owner = interest.pair_nodes()
        self.shared = (interest.topic_sizes() > 1)[interest.node_topics]
        self.pairs = self._pairs(np.zeros(0, np.int64))

    def start(self) -> Duals:
        """Return higher prices for rarer topics, small tolls, allowances of one half: what counts edges."""
        sizes = self.interest.topic_sizes()[self.interest.node_topics]
        price = np.maximum(sizes, 1.0) ** -RARITY
        per_node = np.bincount(self.owner, weights=price, minlength=self.interest.n_nodes)
        price /= np.maximum(per_node, 1e-300)[self.owner]
        toll = np.where(self.needs > 0, 0.1, 0.0)
        return Duals(price, toll, np.full(self.interest.n_nodes, 0.5))

    def run(self, duals: Duals, rounds: Sequence[Round], *, move_allowances: bool) -> Duals:
        """Return the best proof of all rounds, judged by its value over the sum of allowances."""
        best, best_value = duals, -1.0
        for number in range(len(rounds) + 1):
            duals, heaviest = self._made_a_proof(duals)
            value = self._value(duals)
            if value > best_value:
                best, best_value = duals, value
            if number < len(rounds):
                self._take_pairs(heaviest)
                duals = self._raise(duals, rounds[number], move_allowances=move_allowances)
        return best

    def _made_a_proof(self, duals: Duals) -> tuple[Duals, Heaviest]:
        duals = duals.on_grid()
        keep = max(min(KEPT, self.interest.n_nodes - 1), 1)
        heaviest = weigh_pairs(self.interest, duals, keep=keep, threads=self.threads, progress=self.progress)
        ratio = heaviest.ratios[:, 0] * (1.0 + 1e-9)
        ratio[ratio == 0.0] = 1.0
        return Duals(duals.price / ratio[self.owner], duals.toll / ratio, duals.allowance).on_grid(), heaviest

    def _value(self, duals: Duals) -> float:
        price = duals.price[place_slots(self.interest)]
        starts = self.interest.topic_ptr[:-1][self.interest.topic_sizes() > 0]
        lowest = np.minimum.reduceat(price, starts) if len(starts) else np.zeros(0)
        value = price.sum() - lowest.sum() + (self.needs * duals.toll).sum()
        return float(value / max(duals.allowance.sum(), 1e-300))

    def _take_pairs(self, heaviest: Heaviest) -> None:
        """Take the heaviest pairs of each node beside those kept."""
        n_nodes = self.interest.n_nodes
        u, place = np.nonzero(heaviest.ratios)
        v = heaviest.others[u, place].astype(np.int64)
        keys = np.minimum(u, v) * n_nodes + np.maximum(u, v)
        self.pairs = self._pairs(np.union1d(self.pairs.keys, keys))

    def _pairs(self, keys: Longs) -> HeavyPairs:
        u, v = (part.astype(np.int32) for part in np.divmod(keys, max(self.interest.n_nodes, 1)))
        return HeavyPairs(keys, u, v, *shared_slots(sealed(u), sealed(v), *self.interest.sealed_lists()[:2]))

    def _raise(self, duals: Duals, turn: Round, *, move_allowances: bool) -> Duals:
        """Return the average of the second half of the steps: prices swing around where they belong."""
        duals = Duals(*(figures.copy() for figures in duals))
        duals.price[~self.shared] = 0.0
        counted = self._counted(duals.price)
        ratios = np.zeros(len(self.pairs.u))
        step = turn.pace / turn.sharp
        most = max(int(STEP_WORK / (len(self.pairs.slot_u) + len(duals.price) + 1)), 1)
        pairs = self.pairs
        for steps in (turn.steps - turn.steps // 2, turn.steps // 2):
            sums = Duals(*map(np.zeros_like, duals))
            for done in range(0, steps, most):
                check_stop(self.progress)
                raise_prices(
                    min(most, steps - done),
                    sealed(self.interest.node_ptr),
                    counted,
                    self.needs,
                    pairs,
                    duals,
                    sums,
                    ratios,
                    turn.sharp,
                    step,
                    step if move_allowances else 0.0,
                )
        heavy = ratios >= STILL_HEAVY
        if not heavy.all():
            self.pairs = self._pairs(pairs.keys[heavy])
        count = turn.steps // 2
        return Duals(*(figures / count for figures in sums))

    def _counted(self, price: Floats) -> Floats:
        """1 for every price that counts, 0 for the lowest of each topic: its node is the root there."""
        slots = place_slots(self.interest)
        order = np.lexsort((price[slots], self.interest.node_topics[slots]))
        first = self.interest.topic_ptr[:-1][self.interest.topic_sizes() > 0]
        counted = np.ones(len(price))
        counted[slots[order[first]]] = 0.0
        return counted

"""Low-ODA, a low average and a low maximum degree at once [Onus2016, Algorithm 1].

Guarantee: average degree at most O(k log(subscriptions)) times the optimum, maximum degree at most
O((V/k) log(subscriptions)) times [Onus2016, Theorems 1 and 2].
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.overlay.builders.build_progress import GreedyProgress, count_joins
from topicloom.overlay.builders.constrained import ConstrainedTask, choose_constrained
from topicloom.overlay.builders.greedy import NO_LIMIT, Greedy, LinkTwins, chain_twins, pair_twins
from topicloom.overlay.builders.twin_trees import Twins, plant_twins
from topicloom.overlay.kernels.best_partners import TOP, new_rows
from topicloom.overlay.kernels.lazy_greedy import Heap, fill_heap, new_heap, refill_heap
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def build_low_oda(
    interest: Interest,
    *,
    k: Annotated[
        int, Parameter("an edge must join over k times as much to raise the maximum degree", least=1)
    ] = 3,
    strict: Annotated[bool, Parameter("k times as much is enough; with k=1 that is gm")] = False,
    twins: Twins = "tree",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Build:
    """Keep the maximum degree unless an edge that raises it joins more than k times as many components.

    Each step weighs two edges: e1, the best of those that keep the maximum degree, and e2, the best of all.
    e1 is taken if k x contribution(e1) >= contribution(e2), with `strict` only if it is greater; if no e1
    joins anything, e2. So k=1 with `strict` is GM. The seed is not used: ties are fixed, as in GM.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    >>> build_low_oda(interest).overlay.degrees().tolist()
    [2, 2, 1, 1]
    """
    watch = Stopwatch(progress)
    u, v, _ = choose_low_oda(interest, k=k, strict=strict, threads=threads, watch=watch)
    overlay = Overlay.from_edges(interest.node_ids, *plant_twins(interest, u, v, twins))
    parameters = {"k": k, "strict": strict, "twins": twins}
    return Build(overlay, "low-oda", parameters, seed, watch.seconds)


def choose_low_oda(
    interest: Interest, *, k: int, strict: bool, threads: int | None = None, watch: Stopwatch
) -> tuple[Ints, Ints, Ints]:
    """Return the edges in the order Low-ODA chooses them, with the contribution of each at its time."""
    with watch.phase("choose edges", 1.0):
        if k == 1 and strict:  # e1 never exceeds e2
            task = ConstrainedTask.of(interest, threads=threads)
            return choose_constrained(task, phases=False, progress=watch.progress)[:3]
        progress = GreedyProgress(watch.progress, count_joins(interest), scan_share=0.1, bend=1.5)
        low_oda = _LowOda(interest, k=k, strict=strict, threads=threads, progress=progress)
        low_oda.weigh_all()
    return low_oda.steps()


class _LowOda(Greedy):
    """One run. *Near* ranks the pairs that keep the maximum degree, *far* ranks all pairs.

    Both are lazy; the inherited steps work on the one that was put in place last. The top of the far heap
    bounds what e2 contributes, so near edges that reach 1/k of that bound are taken without a look at e2;
    only then is the far ranking looked into. An e2 that is taken always raises the maximum degree: were it
    near, e1 would have been as good. So there is one *phase* per degree, as in GM-M.

    Twins are linked when their turn comes, first in pairs and then, under a maximum degree of 2 or more,
    into paths. Until that is done no other edge of theirs goes first: it would contribute no more, and twins
    win ties. So the edges of twins with sets of one size come in one go, even if the first of them is an e2.
    """

    def __init__(self, interest: Interest, *, k: int, strict: bool, **options: Any) -> None:
        super().__init__(interest, **options)
        self.k = min(k, self.largest_set + 1)  # whatever is beyond takes e1 whenever there is one, too
        self.strict = int(strict)
        self.degree_max = 0
        n_units, kept = self.rows.partner.shape
        self.far = self.rows, self.heap
        self.near = new_rows(n_units, kept), new_heap(n_units)
        members = np.diff(self.state.member_ptr)[self.twin_units]
        self.unpaired = set(self.twin_sizes.tolist())
        self.unchained = set(self.twin_sizes[members > 2].tolist())

    def weigh_all(self) -> None:
        """Add edges until nothing is left to join."""
        self._scan(np.arange(len(self.heap.row), dtype=np.int64), NO_LIMIT)
        fill_heap(self.state, self.rows, self.heap, NO_LIMIT)
        while (e2 := max(_best(self.far[1]), self._twins(NO_LIMIT))) > 0:
            e1 = self._take_near(-(-(e2 + self.strict) // self.k))
            if self._take_far(max(self.k * e1 + 1 - self.strict, 1)):
                self._begin_phase()

    def _take_near(self, least: int) -> int:
        """Add the edges that keep the maximum degree and contribute `least`; a bound on those left over."""
        self.rows, self.heap = self.near
        while (twins := self._twins(self.degree_max)) >= least:
            self._choose(self.degree_max, twins + 1)
            self._link_twins(twins, self.degree_max)
        self._choose(self.degree_max, least)
        return max(_best(self.heap), twins)

    def _take_far(self, least: int) -> bool:
        """Add the best of all edges if it contributes `least`, which raises the maximum degree."""
        self.rows, self.heap = self.far
        twins = self._twins(NO_LIMIT)
        raised = self._choose(NO_LIMIT, max(least, twins + 1), most=1)
        if not raised and twins >= least:
            self._link_twins(twins, self.degree_max + 1)
            raised = True
        self.degree_max += raised
        return raised

    def _begin_phase(self) -> None:
        """Rank the near pairs anew after the maximum degree has risen by one.

        What a row can give among the near pairs is bounded by what it can give among all. Rows whose bound
        could matter before the next rise are scanned now, the others if their turn comes.
        """
        if not (self.state.lowest == self.degree_max - 1).any():
            return  # no unit has become near
        far, (self.rows, self.heap) = self.far[1], self.near
        rows = far.row[: far.size[0]]
        rows = rows[self.state.lowest[rows] < self.degree_max]
        near = self.heap
        near.size[0] = len(rows)
        near.row[: len(rows)] = rows
        near.key_1[rows], near.key_2[rows], near.is_bound[rows] = far.key_1[rows], far.key_2[rows], True
        bound = TOP - (far.key_1[rows] >> 32)
        scanned = np.sort(rows[self.k * bound >= _best(far)]).astype(np.int64)
        self._scan(scanned, self.degree_max)
        refill_heap(near, self.rows, scanned)

    def _twins(self, degree_max: int) -> int:
        """Return the size of the largest sets whose twins this maximum degree lets link; 0 for none."""
        pairs = self.unpaired if degree_max >= 1 else set()
        chains = self.unchained if degree_max >= 2 else set()
        return max(max(pairs, default=0), max(chains, default=0))

    def _link_twins(self, size: int, degree_max: int) -> None:
        """Link twins with sets of this size as far as the maximum degree allows."""
        steps: list[LinkTwins] = []
        if size in self.unpaired:
            self.unpaired.remove(size)
            steps.append(pair_twins)
        if size in self.unchained and degree_max >= 2:
            self.unchained.remove(size)
            steps.append(chain_twins)
        self._link(self.twin_units[self.twin_sizes == size], size, steps)


def _best(heap: Heap) -> int:
    """Bound what the best pair of the heap contributes."""
    return int(TOP - (heap.key_1[heap.row[0]] >> 32)) if heap.size[0] else 0

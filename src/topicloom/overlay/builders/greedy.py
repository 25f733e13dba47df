"""The greedy engine under GM and GM-M: every step takes a pair of maximum contribution, exactly.

Ties go first to twins (nodes with identical topic sets), then to the lowest larger degree, then to the
smallest nodes. The kernels choose; this file decides when rows are scanned and when twins are linked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs, pointers, sealed
from topicloom.base.kernels.parallel import cut_by_work, default_threads, for_bounds
from topicloom.base.progress import check_stop
from topicloom.overlay.builders.build_progress import GreedyProgress
from topicloom.overlay.kernels.best_partners import (
    BannedPairs,
    new_rows,
    open_lists,
    scan_rows,
    scan_rows_live,
    scratch_counts,
)
from topicloom.overlay.kernels.greedy_state import (
    FULL,
    Units,
    grouped_labels,
    join_edges,
    layout,
    new_degrees,
    new_labels,
    refresh_units,
)
from topicloom.overlay.kernels.lazy_greedy import (
    ENOUGH,
    LEVEL_DONE,
    NEEDS_SCAN,
    choose,
    fill_heap,
    new_chosen_edges,
    new_heap,
    refill_heap,
    rows_to_scan,
)
from topicloom.overlay.kernels.twins import chain_twins, pair_twins, twin_classes
from topicloom.overlay.model.interest import Interest

NO_LIMIT = 2**30
KEPT = 128  # pairs a row remembers: more memory, fewer scans
KEPT_IN_PHASES = (
    16  # the same where the degree limit rises by one at a time: a row gives about one edge a phase
)
JOINT_SCAN = 128  # from so many rows on it pays to prepare the inverted lists
SLICE_WORK = 1e8  # list entries that one scan call reads, and topics that one choice call compares, before
# the user may stop us: a fraction of a second each
LEAST_WORK = 2e6  # list entries that a slice should have: handing out less costs more than it saves

LinkTwins = Callable[[Units, Ints, int], Ints]


class Greedy:
    """One greedy run over an interest; call `run` once per degree limit.

    `degree` are the degrees to start from (changed in place), `banned` pairs may not be chosen, a node at
    its cap takes no edge. With any of them twins are no longer alike, so units are single nodes. `phases`
    says that limits will rise one by one; it changes the time, not the edges.
    """

    def __init__(
        self,
        interest: Interest,
        *,
        degree: Ints | None = None,
        banned: Sequence[Ints] | None = None,
        caps: Ints | None = None,
        phases: bool = False,
        threads: int | None = None,
        pace: GreedyProgress,
    ) -> None:
        fold = degree is None and banned is None and caps is None
        classes = twin_classes(interest.node_ptr, interest.node_topics)
        self.units = layout(interest.node_ptr, interest.node_topics, interest.n_topics, classes, fold=fold)
        n_units = len(self.units.twin_class)
        sizes = np.diff(self.units.slot_ptr)
        self.labels = new_labels(self.units)
        self.degrees = new_degrees(
            self.units, np.zeros(interest.n_nodes, np.int32) if degree is None else degree, caps
        )
        self.banned = _neighbor_lists(n_units, banned)
        kept = min(KEPT, KEPT_IN_PHASES) if phases else KEPT
        self.rows = new_rows(n_units, kept)
        self.heap = new_heap(n_units)
        self.chosen = new_chosen_edges(interest.n_subscriptions + 1)
        self.largest_set = int(sizes.max()) if n_units else 0
        self.counts = scratch_counts(n_units, self.largest_set)
        self.row_work = _row_work(self.units)
        self.turns = int(np.clip(SLICE_WORK / (kept * max(sizes.mean(), 1)), 100, 100_000)) if n_units else 1
        self.mark = np.full(interest.n_topics, -1, np.int32)
        self.twin_units = np.flatnonzero((np.diff(self.units.member_ptr) > 1) & (sizes > 0))
        self.twin_sizes = sizes[self.twin_units]
        self.threads = threads or default_threads()
        self.pace = pace
        pace.rows = max(n_units, 1)

    @property
    def open_joins(self) -> int:
        """How many joins of topic components are left between units."""
        return int(np.maximum(self.labels.components - 1, 0).sum())

    def preconnect(self, u: Ints, v: Ints) -> None:
        """Join what edges that exist already join; their share in the degrees is the caller's to give.

        Only where units are single nodes, so `degree`, `banned` or `caps` must have been given.
        """
        join_edges(self.units, self.labels, sealed(u), sealed(v))
        self.pace.total = max(self.open_joins, 1)

    def join_groups(self, group: Ints) -> None:
        """Join the nodes of each group (a number for each node, negative: none) on all topics they share.

        Before the first run, and only where units are single nodes.
        """
        self.labels = grouped_labels(self.units, group)
        self.pace.total = max(self.open_joins, 1)

    def lift_caps(self) -> None:
        """From now on no node is full."""
        self.degrees.cap[:] = FULL
        refresh_units(self.units, self.degrees)

    def next_limit(self, limit: int) -> int | None:
        """The lowest limit above `limit` that lets another node take an edge; None if there is none.

        Only where units are single nodes.
        """
        waiting = self.degrees.lowest[(self.degrees.lowest >= limit) & (self.degrees.lowest < FULL)]
        return int(waiting.min()) + 1 if len(waiting) else None

    def run(self, limit: int, link_twins: Sequence[LinkTwins]) -> None:
        """Add edges while both ends stay within `limit` edges and something is left to join.

        Twins are linked, by the steps `link_twins`, when their turn comes: no pair with one of them
        contributes more than the size of their set, and at that size twins go first.
        """
        everything = np.arange(len(self.heap.row), dtype=np.int64)
        self._scan(everything[self.degrees.lowest < limit], limit)
        fill_heap(self.heap, self.rows, self.degrees, limit)
        for size in np.unique(self.twin_sizes)[::-1]:
            self._choose(limit, least=int(size) + 1)
            self._link(self.twin_units[self.twin_sizes == size], int(size), link_twins)
        self._choose(limit, least=1)

    def steps(self) -> tuple[Ints, Ints, Ints]:
        """The edges in the order they were chosen, with the contribution each had: u, v, contribution."""
        n = int(self.chosen.length[0])
        return self.chosen.u[:n], self.chosen.v[:n], self.chosen.contribution[:n]

    def _choose(self, limit: int, least: int, most: int = NO_LIMIT) -> bool:
        """Add up to `most` edges that contribute at least `least`; True if there were so many."""
        start = int(self.chosen.length[0])
        while True:
            check_stop(self.pace)
            before = int(self.chosen.length[0])
            reason = choose(
                self.units,
                self.labels,
                self.degrees,
                self.rows,
                self.banned,
                self.heap,
                self.chosen,
                limit,
                least,
                most - (before - start),
                self.turns,
                self.counts,
                self.mark,
            )
            self.pace.joined(int(self.chosen.contribution[before : self.chosen.length[0]].sum()))
            if reason in (LEVEL_DONE, ENOUGH):
                return reason == ENOUGH
            if reason == NEEDS_SCAN:
                rows = np.sort(rows_to_scan(self.heap))
                self._scan(rows, limit)
                refill_heap(self.heap, self.rows, rows)

    def _scan(self, rows: Longs, limit: int) -> None:
        """Renew the lists of `rows`, on all threads; every row writes to a place of its own."""
        state = (self.units, self.labels, self.degrees, self.rows)
        joint = len(rows) >= JOINT_SCAN
        lists = (open_lists(self.units, self.labels, self.degrees, limit),) if joint else ()
        kernel: Callable[..., None] = scan_rows if joint else scan_rows_live

        def scan(start: int, stop: int) -> None:
            kernel(*state, *lists, self.banned, limit, rows[start:stop], np.zeros_like(self.counts))

        work = self.row_work[rows]
        slices = int(np.clip(work.sum() / LEAST_WORK, 1, 16 * self.threads))
        bounds = cut_by_work(work, most=SLICE_WORK, slices=slices)
        for_bounds(scan, bounds, threads=self.threads, progress=self.pace)

    def _link(self, twin_units: Longs, size: int, steps: Sequence[LinkTwins]) -> None:
        """Link the twins of these units, all with sets of `size`; edges in the order of the tie rule."""
        for step in steps:
            found = [step(self.units, self.degrees.degree, int(unit)) for unit in twin_units]
            edges = np.concatenate(found)
            edges = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
            start = int(self.chosen.length[0])
            stop = start + len(edges)
            self.chosen.u[start:stop], self.chosen.v[start:stop] = edges[:, 0], edges[:, 1]
            self.chosen.contribution[start:stop] = size
            self.chosen.length[0] = stop
            self.pace.joined(len(edges) * size)
        refresh_units(self.units, self.degrees)


def _row_work(units: Units) -> Floats:
    """For each unit how many list entries a scan of its row reads at most, and the sweep over all units."""
    lengths = np.diff(units.place_ptr)[units.slot_topic]
    sums = np.concatenate(([0.0], np.cumsum(lengths, dtype=np.float64)))
    return sums[units.slot_ptr[1:]] - sums[units.slot_ptr[:-1]] + len(units.twin_class) / 8


def _neighbor_lists(n_units: int, pairs: Sequence[Ints] | None) -> BannedPairs:
    u, v = pairs if pairs is not None else (np.zeros(0, np.int32), np.zeros(0, np.int32))
    owner = np.concatenate((u, v))
    other = np.concatenate((v, u))
    return BannedPairs(pointers(owner, n_units), other[np.argsort(owner, kind="stable")].astype(np.int32))


BOTH_STEPS: tuple[LinkTwins, ...] = (pair_twins, chain_twins)
"""Without a degree limit twins are linked at once; under GM-M's limits 1 and 2 one step each."""

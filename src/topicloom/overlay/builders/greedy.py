"""The greedy engine under GM and GM-M: every step takes a pair of maximum contribution, exactly.

Ties go first to twins (nodes with identical topic sets), then to the lowest larger degree, then to the
smallest nodes. The kernels choose; this file decides when rows are scanned and when twins are linked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from topicloom.base.arrays import Ints, Longs, neighbor_lists, run_sums, sealed
from topicloom.base.kernels.parallel import cut_by_work, default_threads, for_bounds
from topicloom.base.progress import check_stop
from topicloom.overlay.builders.build_progress import GreedyProgress
from topicloom.overlay.kernels.best_partners import NO_LISTS, new_rows, open_lists, scan_rows, scratch_counts
from topicloom.overlay.kernels.greedy_state import (
    FULL,
    join_edges,
    join_groups,
    new_state,
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
from topicloom.overlay.kernels.word_sets import NO_WORDS, look_inside, n_words, new_word_sets
from topicloom.overlay.model.interest import Interest

NO_LIMIT = 2**30
KEPT = 128  # pairs a row remembers: more memory, fewer scans
KEPT_IN_PHASES = 16  # the same where the limit rises by one at a time: a row gives about one edge a phase
JOINT_SCAN = 128  # from so many rows on it pays to prepare the inverted lists
# List entries that one scan call reads, and topics that one choice call compares, before the user may stop
# us: a fraction of a second each.
SLICE_WORK = 1e8
# Sets are held as words too if a row has so many list entries per word that its scan would read.
WORDS_FROM = 1.0
LEAST_WORK = 1e6  # list entries that a slice should have: handing out less costs more than it saves

LinkTwins = Callable[[Ints], Ints]


# All pairs of k unlinked twins contribute the size of their set, as long as they are not connected. By lowest
# larger degree, then smallest nodes, the greedy pairs neighbors in the list of them, then ties the pairs into
# one path. No node gets more than two of these edges. Without a degree limit both steps are made at once,
# under GM-M's limits 1 and 2 one each.


def pair_twins(members: Ints) -> Ints:
    """Return the edges (x 2 nodes) of the first step: 1-2, 3-4, ..."""
    return members[: len(members) // 2 * 2].reshape(-1, 2)


def chain_twins(members: Ints) -> Ints:
    """Return the edges that tie the pairs, and an odd one left over, into one path.

    The growing path always owns the smallest node with room: its first node, then the larger one of the pair
    that was tied to it last but one.
    """
    new = np.arange(2, len(members), 2)
    return np.stack((members[np.maximum(new - 3, 0)], members[new]), axis=1)


TWIN_STEPS: tuple[LinkTwins, ...] = (pair_twins, chain_twins)


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
        banned: tuple[Ints, Ints] | None = None,
        caps: Ints | None = None,
        phases: bool = False,
        threads: int | None = None,
        progress: GreedyProgress,
    ) -> None:
        self.state = state = new_state(
            interest,
            fold=degree is None and banned is None and caps is None,
            degree=degree,
            cap=caps,
            banned=None if banned is None else neighbor_lists(*banned, interest.n_nodes),
        )
        n_units, sizes = len(state.twin_class), np.diff(state.slot_ptr)
        kept = min(KEPT, KEPT_IN_PHASES) if phases else KEPT
        self.rows = new_rows(n_units, kept)
        self.heap = new_heap(n_units)
        self.chosen = new_chosen_edges(interest.n_subscriptions + 1)
        self.largest_set = int(sizes.max(initial=0))
        self.counts = scratch_counts(n_units, self.largest_set)
        # How many list entries a scan of each unit's row reads at most, with the sweep over all units.
        lengths = np.diff(state.place_ptr)[state.slot_topic].astype(np.float64)
        self.row_work = run_sums(lengths, state.slot_ptr) + n_units / 8
        words = float(n_words(state)) * n_units
        self.sets = new_word_sets(state) if self.row_work.sum() >= WORDS_FROM * words * n_units else NO_WORDS
        if len(self.sets.own):
            self.row_work = np.full(n_units, (n_units + words) / 2)  # it takes as long as so many entries
        self.turns = int(np.clip(SLICE_WORK / (kept * max(sizes.mean(), 1)), 100, 100_000)) if n_units else 1
        self.mark = np.full(interest.n_topics, -1, np.int32)
        self.twin_units = np.flatnonzero((np.diff(state.member_ptr) > 1) & (sizes > 0))
        self.twin_sizes = sizes[self.twin_units]
        self.linked = 0  # steps of linking twins that are done
        self.threads = threads or default_threads()
        self.progress = progress
        progress.rows = max(n_units, 1)

    @property
    def open_joins(self) -> int:
        """Count the joins of topic components that are left between units."""
        return int(np.maximum(self.state.components - 1, 0).sum())

    def preconnect(self, u: Ints, v: Ints) -> None:
        """Join what edges that exist already join; their share in the degrees is the caller's to give.

        Only where units are single nodes, so `degree`, `banned` or `caps` must have been given.
        """
        join_edges(self.state, sealed(u), sealed(v))
        self.progress.total = max(self.open_joins, 1)

    def join_groups(self, group: Ints) -> None:
        """Join the nodes of each group (a number for each node, negative: none) on all topics they share.

        Before the first run, and only where units are single nodes.
        """
        join_groups(self.state, sealed(group), np.full(group.max(initial=-1) + 1, -1, np.int32))
        self.progress.total = max(self.open_joins, 1)

    def lift_caps(self) -> None:
        """Let no node be full from now on."""
        self.state.cap[:] = FULL
        refresh_units(self.state)

    def choose_all(self, *, phases: bool) -> None:
        """Choose all edges: by contribution alone, or with `phases` by GM-M's degree limits 1, 2, ..."""
        limit: int | None = 1 if phases else NO_LIMIT
        while limit is not None and (self.open_joins or self._twins_left):
            self.run(limit)
            limit = self._next_limit(limit)

    @property
    def _twins_left(self) -> bool:
        return len(self.twin_units) > 0 and self.linked < len(TWIN_STEPS)

    def _next_limit(self, limit: int) -> int | None:
        """Return the lowest limit above `limit` that lets another node take an edge, None if none does."""
        if self._twins_left:
            return limit + 1
        lowest = self.state.lowest
        waiting = lowest[(lowest >= limit) & (lowest < FULL)]
        return int(waiting.min()) + 1 if len(waiting) else None

    def run(self, limit: int) -> None:
        """Add edges while both ends stay within `limit` edges and something is left to join.

        Twins are linked when their turn comes: no pair with one of them contributes more than the size of
        their set, and at that size twins go first. Each of the two steps takes one edge of a node.
        """
        steps = TWIN_STEPS[self.linked : limit]
        self.linked = max(self.linked, min(limit, len(TWIN_STEPS)))
        self._scan(np.flatnonzero(self.state.lowest < limit), limit)
        fill_heap(self.state, self.rows, self.heap, limit)
        for size in np.unique(self.twin_sizes)[::-1]:
            self._choose(limit, least=int(size) + 1)
            self._link(self.twin_units[self.twin_sizes == size], int(size), steps)
        self._choose(limit, least=1)

    def steps(self) -> tuple[Ints, Ints, Ints]:
        """Return the edges in the order they were chosen, with their contributions: u, v, contribution."""
        n = int(self.chosen.length[0])
        return self.chosen.u[:n], self.chosen.v[:n], self.chosen.contribution[:n]

    def _choose(self, limit: int, least: int, most: int = NO_LIMIT) -> bool:
        """Add up to `most` edges that contribute at least `least`; True if there were so many."""
        chosen = self.chosen
        start = int(chosen.length[0])
        tables = (self.state, self.rows, self.sets, self.heap, chosen)
        while True:
            check_stop(self.progress)
            before = int(chosen.length[0])
            left = most - (before - start)
            reason = choose(*tables, limit, least, left, self.turns, self.counts, self.mark)
            self.progress.joined(int(chosen.contribution[before : chosen.length[0]].sum()))
            if reason in (LEVEL_DONE, ENOUGH):
                return reason == ENOUGH
            if reason == NEEDS_SCAN:
                rows = np.sort(rows_to_scan(self.heap))
                self._scan(rows, limit)
                refill_heap(self.heap, self.rows, rows)

    def _scan(self, rows: Longs, limit: int) -> None:
        """Renew the lists of `rows`, on all threads; every row writes to a place of its own."""
        words, lists = len(self.sets.own) > 0, NO_LISTS
        if len(rows) >= JOINT_SCAN:
            if words:
                look_inside(self.state, self.sets)
            else:
                lists = open_lists(self.state, limit)
        tables = (self.state, self.rows, self.sets, lists)

        def scan(start: int, stop: int) -> None:
            scan_rows(*tables, limit, rows[start:stop], np.zeros_like(self.counts))

        work = self.row_work[rows]
        slices = int(np.clip(work.sum() / LEAST_WORK, 1, 16 * self.threads))
        bounds = cut_by_work(work, most=SLICE_WORK, slices=slices)
        for_bounds(scan, bounds, threads=self.threads, progress=self.progress)

    def _link(self, twin_units: Longs, size: int, steps: Sequence[LinkTwins]) -> None:
        """Link the twins of these units, all with sets of `size`; edges in the order of the tie rule."""
        ptr = self.state.member_ptr
        members = [self.state.member[ptr[unit] : ptr[unit + 1]] for unit in twin_units]
        for step in steps:
            edges = np.concatenate([step(twins) for twins in members])
            edges = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
            np.add.at(self.state.degree, edges, 1)
            start = int(self.chosen.length[0])
            stop = start + len(edges)
            self.chosen.u[start:stop], self.chosen.v[start:stop] = edges[:, 0], edges[:, 1]
            self.chosen.contribution[start:stop] = size
            self.chosen.length[0] = stop
            self.progress.joined(len(edges) * size)
        refresh_units(self.state)

"""Short-GM: the greedy merge that looks at hops. A topic counts for a pair only if its paths stay short.

GM grows components into long chains, because whichever node joins the most topics is as good to it as any.
Here a component of m nodes may have paths of about `stretch` x log2(m) hops, so two components meet near the
middle of each. Two components that keep this can always be joined so that the result keeps it, if nodes in
the middle have room for an edge; where they have not, the limits are raised step by step.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs, rounded_log2
from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress, QuietProgress, Stopwatch, check_stop
from topicloom.overlay.builders.build_progress import GreedyProgress, count_joins
from topicloom.overlay.builders.constrained import ConstrainedTask, Edges, choose_constrained
from topicloom.overlay.builders.hops import MaxHops, asked_hops, hops_report
from topicloom.overlay.builders.twin_trees import heap_links
from topicloom.overlay.kernels.greedy_state import new_state
from topicloom.overlay.kernels.hop_greedy import (
    DONE,
    choose_short,
    new_hop_edges,
    new_hop_rows,
    order_heap,
    scan_all,
)
from topicloom.overlay.kernels.hop_trees import join_again, new_hop_trees, open_ports
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

KEPT = 64  # pairs a row remembers
TURNS, ROWS = 20_000, 500  # turns and rows of one kernel call: the user may stop us in between
ROOM = 3  # the degree limit lies so far above the average degree of gm, rounded up
PORTS = 4  # edges of a full twin that lead outside its tree, or to its parent
NO_HOPS = 1 << 20
RAISE = 1.1  # by so much the stretch rises when no pair is left
DEGREE_EVERY = 3  # with each such rise of the stretch the degree limit rises too

Stretch = Annotated[
    float,
    Parameter("hops per doubling of a component on its way; 0: max_hops counts from the start", least=0),
]
DegreeLimit = Annotated[
    int | str,
    Parameter(
        "the most edges of a node, raised where topics stay split; auto: gm's average + 3", ("auto",), 3
    ),
]


def build_short_gm(
    interest: Interest,
    *,
    max_hops: MaxHops = "auto",
    stretch: Stretch = 3.0,
    degree_limit: DegreeLimit = "auto",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Build:
    """Add the edge that joins the most topic components within the allowed hops until every topic has one.

    Ties go to the pair of the smallest eccentricities. `max_hops` bounds the diameter inside each topic; it
    is raised, and the report says so, where no pair is left that keeps it. A component of m nodes may have
    paths of stretch x log2(m) hops, less where `max_hops` asks for it. The seed is not used: ties are fixed.

    >>> interest = Interest.from_pairs([(f"n{i:02}", topic) for i in range(40) for topic in "xy"])
    >>> build_short_gm(interest).report["hops_max"] <= 12
    True
    """
    watch = Stopwatch(progress)
    limit = degree_limit if isinstance(degree_limit, int) else _degree_limit(interest, threads, watch)
    bound = asked_hops(interest, max_hops)
    with watch.phase("choose edges", 1.0):
        greedy = ShortGreedy(interest, limit, bound, stretch, progress=progress)
        greedy.choose_all()
    overlay = Overlay.from_edges(interest.node_ids, *greedy.edges())
    with watch.phase("measure hops"):
        report = hops_report(interest, overlay, max_hops, threads=threads)
    report |= {"degree_limit": greedy.limit, "raised": greedy.raised}
    parameters = {"max_hops": max_hops, "stretch": stretch, "degree_limit": degree_limit}
    return Build(overlay, "short-gm", parameters, seed, watch.seconds, report)


def _degree_limit(interest: Interest, threads: int | None, watch: Stopwatch) -> int:
    """Return the average degree of gm, rounded up, and some more."""
    with watch.phase("look at gm"):
        task = ConstrainedTask.of(interest, threads=threads)
        found = choose_constrained(task, phases=False, progress=QuietProgress(watch.progress))
    return -(-2 * len(found.u) // max(interest.n_nodes, 1)) + ROOM


class ShortGreedy:
    """One run over an interest, under a degree limit and a bound on hops (None: only the stretch)."""

    def __init__(
        self, interest: Interest, limit: int, bound: int | None, stretch: float, *, progress: Progress
    ) -> None:
        self.limit, self.raised = limit, 0
        self.arity = max(limit - PORTS, 2)
        self.state = state = new_state(interest, fold=True)
        sizes = np.diff(state.member_ptr)
        rank = np.arange(len(state.member), dtype=np.int64) - np.repeat(state.member_ptr[:-1], sizes)
        depth, taken = _heap_shape(rank, np.repeat(sizes, sizes), self.arity)
        height = depth[state.member_ptr[1:] - 1] if len(sizes) else depth
        longest = np.full(interest.n_topics, NO_HOPS if bound is None else bound)
        steps = _stretches(interest, bound, stretch)
        self.hops = new_hop_trees(state, height, limit - taken, depth, steps, longest)
        self.rows = new_hop_rows(len(sizes), interest.n_topics, KEPT)
        self.chosen = new_hop_edges(len(sizes), interest.n_subscriptions + 1)
        self.progress = GreedyProgress(progress, count_joins(interest), scan_share=0.2, bend=2.5)
        self.progress.rows = max(len(sizes), 1)

    @property
    def open_joins(self) -> int:
        """Count the joins of topic components that are left."""
        return int(np.maximum(self.state.components - 1, 0).sum())

    def choose_all(self) -> None:
        """Choose until every topic is joined; limits rise when no pair is left."""
        while (before := self.open_joins) > 0:
            self._choose()
            if self.open_joins == 0:
                return
            if self._again() == 0 and (self.open_joins == before or not self.hops.stretch.any()):
                self._raise()
                self._again()

    def _choose(self) -> None:
        """Scan all rows, then take the best pairs until none is left."""
        state, hops, rows, chosen = self.state, self.hops, self.rows, self.chosen
        rows.size[0] = 0
        n_units = len(rows.row)
        for start in range(0, n_units, ROWS):
            check_stop(self.progress)
            scan_all(state, hops, rows, start, min(start + ROWS, n_units))
            self.progress.advance(min(ROWS, n_units - start))
        order_heap(rows)
        reason = -1
        while reason != DONE:
            check_stop(self.progress)
            before = int(chosen.length[0])
            reason = choose_short(state, hops, rows, chosen, TURNS)
            self.progress.joined(int(chosen.contribution[before : chosen.length[0]].sum()))

    def _again(self) -> int:
        """Let the edges that exist join what the limits have come to allow; return how many joins."""
        n, chosen = int(self.chosen.length[0]), self.chosen
        ends = (chosen.x[:n], chosen.y[:n], chosen.depth_x[:n], chosen.depth_y[:n])
        joined = int(join_again(self.state, self.hops, *(np.ascontiguousarray(end) for end in ends)))
        self.progress.joined(joined)
        return joined

    def _raise(self) -> None:
        """Allow longer paths, now and then also a higher degree."""
        self.raised += 1
        self.hops.stretch[:] *= RAISE
        self.hops.longest[:] += 1
        if self.raised % DEGREE_EVERY == 0:
            self.limit += 1
            open_ports(self.state, self.hops, 1)

    def edges(self) -> Edges:
        """Return all edges: the trees of twins first."""
        state, n = self.state, int(self.chosen.length[0])
        inner = [
            link
            for unit in np.flatnonzero(
                (np.diff(state.member_ptr) > 1) & (np.diff(state.slot_ptr) > 0)
            ).tolist()
            for link in heap_links(
                state.member[state.member_ptr[unit] : state.member_ptr[unit + 1]].tolist(), self.arity
            )
        ]
        twins = np.array(inner, np.int32).reshape(-1, 2)
        u, v = self.chosen.u[:n], self.chosen.v[:n]
        return np.concatenate((twins[:, 0], u)), np.concatenate((twins[:, 1], v))


def _heap_shape(rank: Longs, size: Longs, arity: int) -> tuple[Ints, Ints]:
    """Return depth and degree in its tree of the member of that rank in a set of that size."""
    depth = np.zeros(len(rank), np.int64)
    above = rank.copy()
    while (inner := above > 0).any():
        depth += inner
        above = np.where(inner, (above - 1) // arity, 0)
    children = np.clip(size - 1 - arity * rank, 0, arity)
    return depth.astype(np.int32), (children + (rank > 0)).astype(np.int32)


def _stretches(interest: Interest, bound: int | None, stretch: float) -> Floats:
    """Return the hops per doubling by topic: `stretch`, or less if the whole must keep the bound."""
    steps = np.full(interest.n_topics, stretch)
    if bound is not None:
        steps = np.minimum(steps, bound / rounded_log2(np.maximum(interest.topic_sizes(), 2)))
    return steps

"""Balanced: always topic-connected, always within its limits, repeatable, and honest where it cannot."""

from __future__ import annotations

from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom.overlay.builders.balanced as balanced
import topicloom.overlay.builders.greedy as greedy
from drawing import examples
from naive.overlay_trees import is_connected, removable
from strategies import interests
from topicloom.base.progress import Silent
from topicloom.errors import Interrupted
from topicloom.overlay.builders.balanced import build_balanced, default_work
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.builders.hop_balance import HopBalance
from topicloom.overlay.model.constraints import Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

RANDOM = generate_interest(workload_from_options(60, 15, "3:6", "zipf:1", 4))


def edges_of(overlay):
    return set(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))


def connected(interest, build):
    return is_connected(interest, edges_of(build.overlay))


def tree_interest(seed: int, n_nodes: int = 30) -> Interest:
    """Topics that are parts of one random tree with a few hubs, so that this tree serves them all."""
    rng = np.random.default_rng(seed)
    near: list[set[int]] = [set() for _ in range(n_nodes)]
    for node in range(1, n_nodes):
        parent = int(rng.integers(0, min(node, 3)))
        near[node].add(parent)
        near[parent].add(node)
    pairs = []
    for topic in range(12):
        nodes = {int(rng.integers(n_nodes))}
        for _ in range(int(rng.integers(1, 25))):
            around = sorted(set().union(*(near[node] for node in nodes)) - nodes)
            nodes.add(int(rng.choice(around)))
        pairs += [(f"n{node:02}", f"t{topic:02}") for node in sorted(nodes)]
    return Interest.from_pairs(pairs)


# --- what it builds ----------------------------------------------------------------------------------------


@examples(60)
@given(interest=interests(max_nodes=25), work=st.sampled_from(["auto", 0, 3.5]), seed=st.integers(0, 9))
def test_it_is_connected_keeps_its_own_cap_and_has_no_edge_to_spare(interest, work, seed):
    build = build_balanced(interest, work=work, seed=seed)
    assert connected(interest, build)
    assert build.overlay.degrees().max(initial=0) <= build.report["cap"]
    if work:
        assert not removable(interest, edges_of(build.overlay))


@examples(60)
@given(interest=interests(max_nodes=25, max_topics=12))
def test_a_cap_below_the_maximum_of_gm_costs_few_edges(interest):
    """Without local search the overlay is that of the cap: it may not be dearer than it says, or gm's."""
    build = build_balanced(interest, work=0)
    gm = build_gm(interest).overlay
    few = build.overlay.n_edges <= balanced.DEAREST * gm.n_edges
    assert few or build.report["cap"] >= gm.degrees().max()


@pytest.mark.parametrize("seed", range(4))
def test_where_one_tree_serves_every_topic_a_tree_is_built(seed):
    """Fewer edges are not possible; relief may move them but neither add nor lose one."""
    interest = tree_interest(seed)
    build = build_balanced(interest, seed=seed)
    assert build.report["tree"]
    assert connected(interest, build)
    assert build.overlay.n_edges <= build_gm(interest).overlay.n_edges
    assert not removable(interest, edges_of(build.overlay))
    assert build.overlay.degrees().max() <= build.report["cap"]


@pytest.mark.parametrize("popularity", ["zipf:1", "zipf:2"])
def test_both_degrees_are_below_those_of_gm(popularity):
    interest = generate_interest(workload_from_options(200, 40, "4:12", popularity, 1))
    build, gm = build_balanced(interest, max_hops="none"), build_gm(interest)
    assert build.overlay.n_edges < gm.overlay.n_edges
    assert build.overlay.degrees().max() < gm.overlay.degrees().max()


def test_more_work_saves_edges():
    interest = generate_interest(workload_from_options(200, 40, "4:12", "uniform", 1))
    edges = [build_balanced(interest, work=work).overlay.n_edges for work in (0, 10)]
    assert edges[1] < 0.99 * edges[0]


# --- repeatable --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("work", ["auto", 0])
def test_a_seed_gives_the_same_edges_on_any_number_of_threads(work):
    with patch.multiple(greedy, LEAST_WORK=1.0):  # otherwise so small a scan stays on one thread
        overlays = [build_balanced(RANDOM, work=work, seed=3, threads=n).overlay for n in (1, 1, 2, 5)]
    assert all(overlay == overlays[0] for overlay in overlays)


def test_seeds_matter():
    overlays = [build_balanced(RANDOM, seed=seed) for seed in range(4)]
    assert len({frozenset(edges_of(build.overlay)) for build in overlays}) > 1
    assert all(connected(RANDOM, build) for build in overlays)


# --- how long it works -------------------------------------------------------------------------------------


def test_the_work_falls_with_the_nodes_from_all_to_nothing():
    full, none = balanced.FULL_WORK_NODES, balanced.NO_WORK_NODES
    assert default_work(0) == default_work(1) == default_work(full) == balanced.FULL_WORK
    assert default_work(none) == default_work(100 * none) == 0
    between = [default_work(n) for n in range(full, none, 1000)]
    assert all(more > less for more, less in pairwise(between))


def test_the_work_done_is_among_the_parameters():
    parameters = build_balanced(RANDOM).parameters
    options = {"max_hops": "auto", "max_degree": "auto", "costs": "tie", "twins": "tree"}
    assert parameters == {"work": default_work(60), "time_limit": 0.0, **options}
    assert build_balanced(RANDOM, work=0).parameters["work"] == 0
    assert build_balanced(RANDOM, work=1.5).parameters["work"] == 1.5


class Clock(Silent):
    """Says the same time until it was asked `jump` times, then a later one."""

    def __init__(self, jump: int) -> None:
        super().__init__()
        self.jump = jump
        self.asked = 0

    def now(self) -> float:
        self.asked += 1
        return 0.0 if self.asked <= self.jump else 1000.0


@pytest.mark.parametrize("popularity", ["uniform", "zipf:2"])
def test_at_any_time_limit_every_topic_is_connected(popularity):
    """Whenever the time is up, what is there is brought to an end."""
    interest = generate_interest(workload_from_options(60, 15, "3:6", popularity, 2))
    whole = Clock(10**9)
    build_balanced(interest, work=20, time_limit=5, progress=whole)
    assert whole.asked > 20
    for jump in range(1, whole.asked, 4):
        build = build_balanced(interest, work=20, time_limit=5, progress=Clock(jump))
        assert connected(interest, build)
        assert build.overlay.degrees().max() <= build.report["cap"]
        assert build.parameters["time_limit"] == 5


@pytest.mark.parametrize("max_hops", ["auto", "none"])
def test_a_time_limit_alone_is_used_up(max_hops):
    """The clock is asked between rounds; the later it jumps, the more rounds are made."""
    few, many = Clock(60), Clock(90)
    builds = [
        build_balanced(RANDOM, time_limit=5, max_hops=max_hops, progress=clock) for clock in (few, many)
    ]
    assert few.asked > few.jump and many.asked > many.jump
    assert all(connected(RANDOM, build) for build in builds)
    assert builds[1].n_edges <= builds[0].n_edges


def test_a_time_limit_ends_the_search():
    """With the time over at once hardly anything is tried; without a limit the clock means nothing."""

    class Counting(Clock):
        phases = 0

        def phase(self, name: str, total: float | None = None) -> None:
            self.phases += 1

    short, long, free = Counting(1), Counting(10**9), Counting(1)
    build_balanced(RANDOM, time_limit=5, progress=short)
    unlimited = build_balanced(RANDOM, progress=long).overlay
    assert short.phases < long.phases
    assert build_balanced(RANDOM, progress=free).overlay == unlimited


class Ticking(Silent):
    """A clock that moves on by a little whenever it is asked."""

    def __init__(self, tick: float) -> None:
        super().__init__()
        self.tick, self.time = tick, 0.0

    def now(self) -> float:
        self.time += self.tick
        return self.time


def test_runs_within_hops_differ_while_there_is_time():
    """The same random numbers from the same overlay would find the same again, for ever."""
    interest = generate_interest(workload_from_options(60, 15, "3:6", "uniform", 2))
    found = []
    run = HopBalance.run

    def noted(self, edges, work):
        result = run(self, edges, work)
        found.append(edges_of(result))
        return result

    with patch.object(HopBalance, "run", noted):
        best = build_balanced(interest, time_limit=5, progress=Ticking(0.01))
    assert len(found) > 3
    assert len(set(map(frozenset, found))) > len(found) // 2
    assert best.n_edges == min(map(len, found))


def test_a_time_limit_moves_where_auto_makes_none():
    """From `NO_WORK_NODES` on `auto` is no move at all: with a time limit alone the time says how many."""
    with patch.multiple(balanced, FEW_NODES=10, FULL_WORK_NODES=10, NO_WORK_NODES=50):
        for max_hops in ("auto", "none"):
            still = build_balanced(RANDOM, max_hops=max_hops)
            moved = build_balanced(RANDOM, max_hops=max_hops, time_limit=3, progress=Ticking(0.01))
            assert still.parameters["work"] == 0
            assert moved.n_edges < still.n_edges
            assert not removable(RANDOM, edges_of(moved.overlay))


@pytest.mark.parametrize("max_hops", ["auto", "none"])
def test_without_a_clock_moves_use_up_the_time(max_hops):
    """`Silent.now` stands still; twice the seconds are more moves."""
    short, long = (build_balanced(RANDOM, time_limit=limit, max_hops=max_hops) for limit in (0.2, 0.6))
    assert connected(RANDOM, short)
    assert long.n_edges <= short.n_edges
    assert build_balanced(RANDOM, time_limit=0.2, max_hops=max_hops).overlay == short.overlay


def test_a_timed_build_says_so():
    assert build_balanced(RANDOM, time_limit=0.1).parameters["work"] == "auto"
    assert build_balanced(RANDOM, time_limit=0.1, work=3).parameters["work"] == 3


def test_existing_edges_stay_however_long_it_searches():
    """Each run starts from the best overlay so far, in which the fixed edges come first again."""
    start = build_gm(RANDOM).overlay
    start = Overlay.from_edges(RANDOM.node_ids, start.u[-30:], start.v[-30:])
    build = build_balanced(RANDOM, start=start, time_limit=4, progress=Ticking(0.02))
    assert edges_of(start) <= edges_of(build.overlay)
    assert connected(RANDOM, build)


def test_a_cap_that_rises_does_so_in_one_run_only():
    """However many runs there are, the maximum is at most twice the cap that the first one began with."""
    caps = []
    first = HopBalance.run

    def noted(self, edges, work):
        caps.append(self.cap)
        return first(self, edges, work)

    with patch.object(HopBalance, "run", noted):
        build_balanced(RANDOM, max_hops=2, time_limit=4, progress=Ticking(0.02))
    assert len(caps) > 2
    assert set(caps) == {caps[0]}


class Stopping(Silent):
    """Asks to stop from the n-th time on that it is asked."""

    def __init__(self, patience: int) -> None:
        super().__init__()
        self.patience = patience

    def should_stop(self) -> bool:
        self.patience -= 1
        return self.patience < 0


@pytest.mark.parametrize("kind", ["plain", "capped", "tree"])
def test_a_stop_is_obeyed_wherever_it_comes(kind):
    interest = tree_interest(1) if kind == "tree" else RANDOM
    limits = Constraints(np.full(60, 2, np.int32)) if kind == "capped" else Constraints()
    asked = Stopping(10**9)
    build_balanced(interest, work=5, constraints=limits, progress=asked)
    total = 10**9 - asked.patience
    assert total > 3
    for patience in sorted({0, 1, total // 4, total // 2, total - 2, total - 1}):
        with pytest.raises(Interrupted):
            build_balanced(interest, work=5, constraints=limits, progress=Stopping(patience))

"""The fast greedy must choose exactly the edges, in exactly the order, that the slow reference chooses."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom.overlay.builders.greedy as greedy
from drawing import examples
from naive.greedy import naive_gm, naive_gm_m, naive_ring_pt, replay
from strategies import interests
from topicloom.base.progress import SILENT, Stopwatch
from topicloom.overlay.builders.baselines import build_ring_pt
from topicloom.overlay.builders.constrained import ConstrainedTask, choose_constrained
from topicloom.overlay.builders.constrained_greedy import further_runs
from topicloom.overlay.model.interest import Interest


def steps(chosen) -> list[tuple[int, int, int]]:
    return [tuple(map(int, step)) for step in zip(*chosen, strict=True)]


def gm(interest: Interest, redundancy: int = 1, **options) -> list[tuple[int, int, int]]:
    task = ConstrainedTask.of(interest, **options)
    first = choose_constrained(task, phases=False, progress=SILENT)
    runs = [first, *further_runs(task, first.edges, redundancy, Stopwatch(SILENT))]
    return [step for run in runs for step in steps(run[:3])]


def gm_m(interest: Interest, **options) -> list[tuple[int, int, int]]:
    task = ConstrainedTask.of(interest, **options)
    return steps(choose_constrained(task, phases=True, progress=SILENT)[:3])


# A row that remembers few pairs is scanned again often, and joint scans from one row on take the other
# way: both must not change a single edge.
WAYS = st.fixed_dictionaries({"KEPT": st.sampled_from([2, 3, 64]), "JOINT_SCAN": st.sampled_from([1, 256])})


@examples(300)
@given(interests(), WAYS)
def test_gm_takes_the_edges_of_the_reference(interest, way):
    with patch.multiple(greedy, **way):
        assert gm(interest) == naive_gm(interest)


@examples(300)
@given(interests(), WAYS)
def test_gm_m_takes_the_edges_of_the_reference(interest, way):
    with patch.multiple(greedy, **way):
        assert gm_m(interest) == naive_gm_m(interest)


@examples(100)
@given(interests(max_nodes=8), st.integers(2, 4), WAYS)
def test_redundant_runs_use_only_pairs_left_over(interest, redundancy, way):
    with patch.multiple(greedy, **way):
        assert gm(interest, redundancy=redundancy) == naive_gm(interest, redundancy)


@examples(100)
@given(interests(max_nodes=20, max_topics=10), st.integers(1, 4))
def test_the_number_of_threads_changes_nothing(interest, threads):
    with patch.multiple(greedy, LEAST_WORK=1.0):  # otherwise so small a scan stays on one thread
        assert gm(interest, threads=threads) == gm(interest, threads=1)
        assert gm_m(interest, threads=threads) == gm_m(interest, threads=1)


@examples(100)
@given(interests())
def test_every_step_was_greedy_at_its_time(interest):
    replay(interest, gm(interest), ties=True)
    replay(interest, gm_m(interest), phases=True, ties=True)


def test_more_rows_than_a_joint_scan_needs():
    """With hundreds of rows and one pair remembered each, scans happen at every stage."""
    pairs = [(f"n{v:03}", f"t{(v * k + k * k) % 23:02}") for v in range(70) for k in range(1, 6)]
    interest = Interest.from_pairs(pairs)
    with patch.multiple(greedy, KEPT=1, JOINT_SCAN=8, SLICE_WORK=100.0):
        assert gm(interest) == naive_gm(interest)
        assert gm_m(interest) == naive_gm_m(interest)


@pytest.mark.slow
def test_contributions_beyond_16_bits_take_wider_counters():
    """Two nodes with 40,000 common topics: a narrow counter would overflow and lose the edge."""
    topics = [f"t{i:05}" for i in range(40_000)]
    pairs = [(node, topic) for node in ("a", "b") for topic in topics] + [("a", "x"), ("c", "x")]
    assert gm(Interest.from_pairs(pairs)) == [(0, 1, 40_000), (0, 2, 1)]


@pytest.mark.parametrize("order", ["id", "random"])
@examples(100)
@given(interest=interests(), seed=st.integers(0, 5))
def test_rings_are_those_of_the_reference(order, interest, seed):
    overlay = build_ring_pt(interest, order=order, seed=seed).overlay
    edges = set(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))
    assert edges == naive_ring_pt(interest, order, seed)

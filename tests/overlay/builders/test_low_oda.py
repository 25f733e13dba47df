"""Low-ODA must choose exactly the edges, in exactly the order, of the rule in [Onus2016]."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom.overlay.builders.greedy as greedy
from drawing import examples
from naive.greedy import naive_gm
from naive.low_oda import naive_low_oda
from strategies import interests
from topicloom.base.progress import SILENT, Silent, Stopwatch
from topicloom.errors import Interrupted
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.builders.low_oda import build_low_oda, choose_low_oda
from topicloom.overlay.builders.minmax_oda import build_minmax_oda
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options
from topicloom.overlay.workloads.instances import onus_lemma_1

RULES = st.fixed_dictionaries({"k": st.sampled_from([1, 2, 3, 8, 10**30]), "strict": st.booleans()})
# Rows that remember few pairs are scanned again often, by the one way or the other.
WAYS = st.fixed_dictionaries({"KEPT": st.sampled_from([1, 2, 64]), "JOINT_SCAN": st.sampled_from([1, 256])})


def low_oda(interest: Interest, *, k: int = 3, strict: bool = False, **options) -> list[tuple[int, int, int]]:
    chosen = choose_low_oda(interest, k=k, strict=strict, watch=Stopwatch(SILENT), **options)
    return [tuple(map(int, step)) for step in zip(*chosen, strict=True)]


@examples(250)
@given(interests(max_nodes=14), RULES, WAYS)
def test_it_takes_the_edges_of_the_reference(interest, rule, way):
    """Otherwise an edge is not the one that the rule of Algorithm 1 picks at its time."""
    with patch.multiple(greedy, **way):
        assert low_oda(interest, **rule) == naive_low_oda(interest, **rule)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_many_rows_and_phases(k):
    """With one pair remembered each, rows of both rankings are scanned at every stage."""
    pairs = [(f"n{v:03}", f"t{(v * i + i * i) % 23:02}") for v in range(60) for i in range(1, 6)]
    interest = Interest.from_pairs(pairs)
    with patch.multiple(greedy, KEPT=1, JOINT_SCAN=8, SLICE_WORK=100.0):
        assert low_oda(interest, k=k) == naive_low_oda(interest, k)


@examples(60)
@given(interests())
def test_strict_with_k_1_is_gm(interest):
    """Otherwise the two builders have different ties, and k does not lead from one to the other."""
    assert low_oda(interest, k=1, strict=True) == naive_low_oda(interest, 1, True) == naive_gm(interest)


@examples(40)
@given(interests(max_nodes=20, max_topics=10), st.integers(1, 4))
def test_the_number_of_threads_changes_nothing(interest, threads):
    assert low_oda(interest, threads=threads) == low_oda(interest, threads=1)


def test_the_strict_rule_decides_where_k_times_e1_equals_e2():
    """a-b comes first; then d-e joins 1 topic and keeps the maximum degree, a-c joins 3 and raises it."""
    shared = {"ab": "pqr", "ac": "stu", "de": "v"}
    interest = Interest.from_pairs((n, t) for nodes, topics in shared.items() for n in nodes for t in topics)
    assert low_oda(interest, k=3) == [(0, 1, 3), (3, 4, 1), (0, 2, 3)]
    assert low_oda(interest, k=3, strict=True) == [(0, 1, 3), (0, 2, 3), (3, 4, 1)]
    assert low_oda(interest, k=4, strict=True) == low_oda(interest, k=3)


@pytest.mark.parametrize("n", [4, 8, 12])
def test_the_worst_case_of_minmax_oda_is_none_for_low_oda(n):
    """[Onus2016, Lemma 1]: a star of n - 1 edges is best here, and each of its edges is a good e2."""
    overlay = build_low_oda(onus_lemma_1(n)).overlay
    assert overlay.n_edges == n - 1 and overlay.degrees().max() == n - 1


def test_average_between_gm_and_minmax_oda_at_the_maximum_of_the_latter():
    """[Onus2016, Figures 1 and 2] (zipf 0.5, 100 topics, 10 subscriptions): what Low-ODA is for."""
    averages, maxima = [], []
    for seed in range(4):
        interest = generate_interest(workload_from_options(500, 100, "10", "zipf:0.5", seed))
        overlays = [build(interest).overlay for build in (build_gm, build_low_oda, build_minmax_oda)]
        averages.append([overlay.degrees().mean() for overlay in overlays])
        maxima.append([overlay.degrees().max() for overlay in overlays])
    gm, low, minmax = np.mean(averages, axis=0)
    assert gm < low < minmax
    assert np.mean(maxima, axis=0)[1] == pytest.approx(np.mean(maxima, axis=0)[2], abs=1)


def test_a_stop_is_heard():
    progress = Silent()
    progress.should_stop = lambda: True
    with pytest.raises(Interrupted):
        build_low_oda(Interest.from_pairs([("a", "x"), ("b", "x")]), progress=progress)

"""MinMax-ODA must add the edges of [Onus2016]'s rule, those that join nothing included."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom.overlay.builders.greedy as greedy
import topicloom.overlay.builders.minmax_oda as minmax_oda
from drawing import examples
from naive.low_oda import naive_minmax_oda
from naive.measures import topic_component_counts
from strategies import interests
from topicloom.base.progress import SILENT, Silent, Stopwatch
from topicloom.errors import Interrupted
from topicloom.overlay.builders.gm import build_gm_m
from topicloom.overlay.builders.minmax_oda import build_minmax_oda, choose_minmax_oda
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options
from topicloom.overlay.workloads.instances import onus_lemma_1


def steps(interest: Interest) -> list[tuple[int, int, int]]:
    chosen = choose_minmax_oda(interest, watch=Stopwatch(SILENT))
    return [tuple(map(int, step)) for step in zip(*chosen, strict=True)]


@examples(150)
@given(interests(), st.sampled_from([1, 64]), st.sampled_from([1.0, 1e8]))
def test_it_takes_the_edges_of_the_reference(interest, kept, slice_work):
    """Otherwise an edge is not the one that joins most of those that raise the maximum degree least."""
    with patch.multiple(greedy, KEPT=kept), patch.multiple(minmax_oda, SLICE_WORK=slice_work):
        assert steps(interest) == naive_minmax_oda(interest)


def test_fillers_come_before_a_higher_degree():
    """Otherwise GM-M is built: c and f share nothing, but have room as long as a degree of 1 is the most."""
    interest = Interest.from_pairs([*((node, "x") for node in "abc"), *((node, "y") for node in "def")])
    assert steps(interest) == [(0, 1, 1), (3, 4, 1), (2, 5, 0), (0, 2, 1), (3, 5, 1)]


def test_fillers_share_a_topic_where_they_can():
    """After a-e, b-c and a-b the nodes c, d and e have room below 2: c-e share z, c-d nothing."""
    wants = {"a": "xyz", "b": "z", "c": "z", "d": "x", "e": "yz"}
    interest = Interest.from_pairs((node, topic) for node, topics in wants.items() for topic in topics)
    assert steps(interest) == [(0, 4, 2), (1, 2, 1), (0, 1, 1), (2, 4, 0), (0, 3, 1)]


@examples(60)
@given(interests(max_nodes=20))
def test_dropped_fillers_leave_a_topic_connected_overlay_without_strangers(interest):
    """Otherwise an edge that joins something was taken for a filler, or the other way round."""
    build = build_minmax_oda(interest, fillers="drop")
    kept = build_minmax_oda(interest)
    assert all(count <= 1 for count in topic_component_counts(interest, build.overlay))
    assert kept.overlay.n_edges - build.overlay.n_edges == build.report["fillers"] == kept.report["fillers"]
    for u, v in zip(build.overlay.u.tolist(), build.overlay.v.tolist(), strict=True):
        assert set(interest.topics_of(u).tolist()) & set(interest.topics_of(v).tolist())


@pytest.mark.parametrize("n", [6, 12, 20])
def test_the_worst_case_takes_a_quadratic_number_of_edges(n):
    """[Onus2016, Lemma 1] prints n(n - 2)/2; ties shift that a little, the order of growth stands."""
    assert build_minmax_oda(onus_lemma_1(n)).overlay.n_edges == pytest.approx(n * (n - 2) / 2, rel=0.05)


def test_the_maximum_degree_is_that_of_gm_m_and_the_average_nearly_reaches_it():
    """[Chen2010, IV-A]: leaving the fillers out does not change the maximum degree."""
    interest = generate_interest(workload_from_options(200, 100, "10", "zipf:0.5", 1))
    ours, lean = build_minmax_oda(interest).overlay.degrees(), build_gm_m(interest).overlay.degrees()
    assert abs(int(ours.max()) - int(lean.max())) <= 1
    assert ours.mean() > lean.mean() and np.count_nonzero(ours < ours.max() - 1) <= ours.max()


def test_a_stop_is_heard():
    progress = Silent()
    progress.should_stop = lambda: True
    with pytest.raises(Interrupted):
        build_minmax_oda(Interest.from_pairs([("a", "x"), ("b", "x")]), progress=progress)

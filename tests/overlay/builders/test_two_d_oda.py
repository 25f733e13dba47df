"""2D-ODA: the stars of [Onus2016]'s Algorithm 2, its exact count, and diameters of at most 2."""

from __future__ import annotations

import pytest
from hypothesis import given

from drawing import examples
from naive.stars import naive_2d_oda, topic_diameters
from strategies import interests
from topicloom.base.progress import Silent
from topicloom.errors import Interrupted
from topicloom.overlay.builders.cd_oda import build_2d_oda
from topicloom.overlay.measures.diameter import topic_diameter_bounds
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options
from topicloom.overlay.workloads.instances import case_vii, onus_lemma_5


def edges_of(interest: Interest) -> set[tuple[int, int]]:
    overlay = build_2d_oda(interest).overlay
    return set(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))


@examples(100)
@given(interest=interests(max_nodes=16, max_topics=10))
def test_edges_are_those_of_the_reference_with_diameter_2(interest):
    """Otherwise a star is not that of the largest topic density, or densities are out of date."""
    edges = edges_of(interest)
    assert edges == naive_2d_oda(interest)
    assert set(topic_diameters(interest, edges)) <= {0, 1, 2}


def test_a_middle_sized_interest():
    """Stars that share many edges: a density that is not kept up to date shows here."""
    pairs = [(f"n{v:03}", f"t{(v * i + i) % 11:02}") for v in range(45) for i in range(1, 5)]
    interest = Interest.from_pairs(pairs)
    assert edges_of(interest) == naive_2d_oda(interest)


def test_measured_topic_diameters_are_at_most_2():
    interest = generate_interest(workload_from_options(400, 60, "2:12", "zipf:0.5", 3))
    _, upper = topic_diameter_bounds(view_of(interest, build_2d_oda(interest).overlay))
    assert upper.max() == 2 and upper.min() >= 0


@pytest.mark.parametrize("n", [6, 9, 20])
def test_case_vii_takes_the_optimal_n_edges(n):
    """[Onus2016, Table 2]."""
    assert build_2d_oda(case_vii(n)).overlay.n_edges == n


@pytest.mark.parametrize("n", [3, 8])
def test_lemma_5_is_no_worst_case_for_it(n):
    """[Onus2016, 6.3]: it may leave topics of a hub to others, here the star of node n does for all."""
    assert build_2d_oda(onus_lemma_5(n)).overlay.n_edges == n - 1


def test_a_stop_is_heard():
    progress = Silent()
    progress.should_stop = lambda: True
    with pytest.raises(Interrupted):
        build_2d_oda(Interest.from_pairs([("a", "x"), ("b", "x")]), progress=progress)

"""Lower bounds beside the true optimum: one above it would certify a lie."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from drawing import examples
from naive.exact import fewest_edges, lowest_degree
from strategies import interests
from topicloom.overlay.builders.exact import build_exact
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.kernels.price_bound import Duals
from topicloom.overlay.measures.bounds import bound_overlays, gap
from topicloom.overlay.measures.price_bound import is_proof
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options
from topicloom.overlay.workloads.instances import lemma_6_6

pytestmark = pytest.mark.slow


@examples(40)
@given(interest=interests(max_nodes=5, max_topics=5))
def test_never_above_the_optimum_by_enumeration(interest):
    if interest.n_nodes > 6:
        return
    found = bound_overlays(interest)
    assert found.edges_bound <= fewest_edges(interest)
    assert found.degree_max_bound <= lowest_degree(interest)[0]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("popularity", ["uniform", "zipf:1"])
def test_never_above_the_solved_optimum(seed, popularity):
    interest = generate_interest(workload_from_options(14, 10, "2:5", popularity, seed))
    found = bound_overlays(interest)
    optimum = build_exact(interest, time_limit=20.0)
    if not optimum.report["optimal"]:
        pytest.skip("not solved in time")
    assert found.edges_bound <= optimum.overlay.n_edges
    # A bound of half the optimum would be true and useless.
    assert found.edges_bound >= 0.8 * optimum.overlay.n_edges


def test_a_topic_with_one_subscriber_demands_nothing():
    interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("a", "lonely"), ("c", "alone")])
    found = bound_overlays(interest)
    assert (found.edges_bound, found.degree_max_bound) == (1, 1)


def test_greedy_can_be_shown_to_be_far_from_optimal_but_not_beyond_reason():
    interest = lemma_6_6(3, 3)
    assert bound_overlays(interest).edges_bound <= build_gm(interest).overlay.n_edges == 15


def test_prices_that_overcharge_a_pair_are_no_proof():
    """The checker must be able to refuse; otherwise every bound would pass."""
    interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("a", "y"), ("b", "y")])
    none, half = np.zeros(2), np.full(2, 0.5)
    assert is_proof(interest, Duals(np.full(4, 0.5), none, half))
    assert not is_proof(interest, Duals(np.full(4, 0.75), none, half))
    assert not is_proof(interest, Duals(np.full(4, 0.3), none, half)), "0.3 is on no grid"
    assert not is_proof(interest, Duals(np.full(4, 0.5), np.full(2, 0.25), half))


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_bounds_on_any_number_of_threads(threads):
    interest = generate_interest(workload_from_options(120, 30, "5", "zipf:0.5", 1))
    assert bound_overlays(interest, threads=threads) == bound_overlays(interest, threads=3)


def test_no_gap_where_nothing_is_needed():
    assert gap(0, 0) == 0.0
    assert gap(1, 0) is None

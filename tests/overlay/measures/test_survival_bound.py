"""Bounds under deaths, against the optimum over all overlays of tiny tables, and a bound that is too high."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.overlays import interest_of, overlay_on, random_interest
from naive.survival import naive_fragile
from strategies import tangled
from topicloom.overlay.builders.sturdy import build_sturdy
from topicloom.overlay.measures.survival_bound import bound_survival, neighbor_needs
from topicloom.overlay.model.interest import Interest


def optimum(interest: Interest, deaths: int) -> tuple[int, int]:
    """The fewest edges, and the smallest maximum degree, of any overlay that survives."""
    wants = [set(interest.topics_of(node).tolist()) for node in range(interest.n_nodes)]
    pairs = [(u, v) for u, v in combinations(range(interest.n_nodes), 2) if wants[u] & wants[v]]
    edges, degree = len(pairs), interest.n_nodes
    for count in range(len(pairs) + 1):
        for chosen in combinations(pairs, count):
            overlay = overlay_on(interest, list(chosen))
            most = int(overlay.degrees().max(initial=0))
            if (count < edges or most < degree) and not naive_fragile(interest, overlay, deaths):
                edges, degree = min(edges, count), min(degree, most)
    return edges, degree


@given(interest=tangled(max_nodes=5), deaths=st.sampled_from([1, 2]))
@examples(5)
def test_no_overlay_is_below_the_bounds(interest: Interest, deaths: int) -> None:
    edges, degree = optimum(interest, deaths)
    found = bound_survival(interest, deaths)
    assert found.edges_bound <= edges and found.degree_max_bound <= degree
    built = build_sturdy(interest, survive=deaths).overlay
    assert edges <= built.n_edges


@pytest.mark.parametrize("deaths", [1, 2])
def test_the_bounds_are_met_where_the_answer_is_known(deaths: int) -> None:
    ring = interest_of([{0}] * 5)  # one topic: a ring, and for two deaths three neighbors each
    assert optimum(ring, 1) == (5, 2)
    found = bound_survival(ring, deaths)
    assert (found.edges_bound, found.degree_max_bound) == ((5, 2), (8, 3))[deaths - 1]
    few = interest_of([{0}, {0}, {0}])  # too few: all are neighbors
    assert bound_survival(few, 2).edges_bound == 3


def test_what_a_node_needs_is_no_more_than_what_it_has_anywhere() -> None:
    """Any overlay that survives is a judge: a demand counted once too often would show here."""
    interest = random_interest(60, 9, 3, seed=8)
    for deaths in (1, 2):
        overlay = build_sturdy(interest, survive=deaths, work=1).overlay
        assert (neighbor_needs(interest, deaths) <= overlay.degrees()).all()
        assert (neighbor_needs(interest, deaths + 3) > overlay.degrees()).any()  # it can fail

"""Filtering cost on overlays whose cheapest joining tree is plain to see."""

from __future__ import annotations

import pytest

from naive.overlays import interest_of, overlay_on, random_interest, random_overlay, ring_per_topic
from topicloom.overlay.measures.components import measure_filtering, topic_filtering_costs
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.model.interest import Interest

X, OTHER = {0}, {1}


def cost_of_x(sets: list[set[int]], edges: list[tuple[int, int]]) -> int:
    interest = interest_of(sets)
    return int(topic_filtering_costs(view_of(interest, overlay_on(interest, edges), threads=1))[0])


@pytest.mark.parametrize(
    ("sets", "edges", "cost"),
    [
        pytest.param([X, X, X], [(0, 1), (1, 2)], 0, id="connected"),
        pytest.param([X, OTHER, X], [(0, 1), (1, 2)], 1, id="one node between"),
        pytest.param([X, OTHER, OTHER, OTHER, X], [(0, 1), (1, 2), (2, 3), (3, 4)], 3, id="a long way"),
        pytest.param([X, X, X, X, OTHER], [(0, 4), (1, 4), (2, 4), (3, 4)], 1, id="a hub counts once"),
        pytest.param(
            [X, X, X, OTHER, OTHER, OTHER],
            [(0, 3), (3, 1), (1, 4), (4, 2), (0, 5), (1, 5), (2, 5)],
            1,
            id="the hub is found although each pair has a way of its own",
        ),
        pytest.param(
            [X, OTHER, X, OTHER, OTHER, X],
            [(0, 1), (1, 2), (1, 3), (3, 4), (4, 5)],
            3,
            id="a long way from a node taken already",
        ),
        pytest.param([X, OTHER, X], [(0, 1)], -1, id="no way at all"),
    ],
)
def test_plain_cases(sets: list[set[int]], edges: list[tuple[int, int]], cost: int) -> None:
    assert cost_of_x(sets, edges) == cost


def test_a_topic_connected_overlay_costs_nothing() -> None:
    interest = random_interest(200, 8, 3)
    found = measure_filtering(view_of(interest, ring_per_topic(interest), threads=2))
    assert found == {"filtering_cost": 0, "filtering_cost_max": 0, "filtering_unreachable": 0}


def test_the_nodes_counted_do_join_the_topic() -> None:
    """On a larger overlay the cost lies between what the components need and what the tree offers."""
    interest = random_interest(300, 10, 2, seed=3)
    overlay = random_overlay(interest, 200, seed=3)
    costs = topic_filtering_costs(view_of(interest, overlay, threads=2))
    assert (costs > 0).all()
    assert (costs < interest.n_nodes - interest.topic_sizes()).all()
    alone = topic_filtering_costs(view_of(interest, overlay, threads=1))
    assert costs.tolist() == alone.tolist()


def test_unreachable_topics_are_counted_apart() -> None:
    interest: Interest = interest_of([X, OTHER, X, {0, 1}])
    found = measure_filtering(view_of(interest, overlay_on(interest, [(0, 1), (1, 2)]), threads=1))
    assert found["filtering_unreachable"] == 2
    assert found["filtering_cost"] == 0

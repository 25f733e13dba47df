"""Diameters beyond what all-pairs can do: bounds hold, special shapes are exact, partitions are told."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from naive import measures as naive
from naive.overlays import (
    interest_of,
    overlay_on,
    random_interest,
    random_overlay,
    ring_per_topic,
    star_per_topic,
)
from topicloom.overlay.kernels.distance import longest_from_each
from topicloom.overlay.measures import diameter
from topicloom.overlay.measures.diameter import (
    measure_overlay_diameter,
    measure_topic_diameter,
    topic_diameter_bounds,
)
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.model.overlay import Overlay


@pytest.mark.parametrize("n_edges", [0, 3, 40, 300])
def test_all_distances_of_a_random_overlay_are_found(n_edges: int) -> None:
    """More than 64 sources, several levels, trees to dense: wrong bits or levels would show here."""
    interest = random_interest(150, 5, 3)
    overlay = random_overlay(interest, n_edges, seed=n_edges)
    pointers, neighbors = overlay.adjacency()
    graph = naive.graph_of(overlay)
    far = nx.eccentricity(graph)
    sources = np.arange(150, dtype=np.int32)
    assert longest_from_each(pointers, neighbors, sources)[0] == max(far.values())
    some = np.array([3, 77], dtype=np.int32)
    assert longest_from_each(pointers, neighbors, some)[0] == max(far[3], far[77])
    view = view_of(interest, overlay, threads=2)
    assert measure_overlay_diameter(view)["diameter_overlay_bounds"] == [max(far.values())] * 2
    lower, upper = topic_diameter_bounds(view)
    assert lower.tolist() == upper.tolist() == naive.topic_diameters(interest, overlay)


@pytest.mark.parametrize("size", [3, 4, 7, 64, 129])
def test_rings_paths_and_stars(size: int) -> None:
    """The shapes with shortcuts of their own in the kernel."""
    interest = interest_of([{0}] * size)
    path = overlay_on(interest, [(i, i + 1) for i in range(size - 1)])
    for overlay, expected in (
        (ring_per_topic(interest), size // 2),
        (path, size - 1),
        (star_per_topic(interest), 2),
    ):
        view = view_of(interest, overlay, threads=1)
        assert measure_topic_diameter(view)["diameter_topic_max"] == expected
        assert measure_overlay_diameter(view)["diameter_overlay"] == expected


def test_bounds_stay_true_when_the_work_allowed_is_too_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no work allowed, lower and upper must still enclose the truth, and say that they differ."""
    for name in ("EXACT_WORK", "TOPICS_WORK", "OVERLAY_WORK"):
        monkeypatch.setattr(diameter, name, -1)
    interest = random_interest(400, 4, 2, seed=5)
    parts = (random_overlay(interest, 900, seed=5), ring_per_topic(interest))
    overlay = Overlay.from_edges(
        interest.node_ids,
        np.concatenate([part.u for part in parts]),
        np.concatenate([part.v for part in parts]),
    )
    view = view_of(interest, overlay, threads=2)
    truth = np.array(naive.topic_diameters(interest, overlay))
    lower, upper = topic_diameter_bounds(view)
    assert (lower <= truth).all()
    assert (truth <= upper).all()
    assert (lower < upper).any()
    found = measure_topic_diameter(view)
    assert found["diameter_topic_max"] == found["diameter_topic_max_bounds"][1] >= truth.max()
    assert found["diameter_topics_exact"] < 4
    low, high = measure_overlay_diameter(view)["diameter_overlay_bounds"]
    assert low <= nx.diameter(naive.graph_of(overlay)) <= high


def test_any_number_of_threads_gives_the_same() -> None:
    interest = random_interest(700, 6, 3, seed=2)
    overlay = random_overlay(interest, 1500, seed=2)
    one, three = (view_of(interest, overlay, threads=threads) for threads in (1, 3))
    assert measure_overlay_diameter(one) == measure_overlay_diameter(three)
    assert measure_topic_diameter(one) == measure_topic_diameter(three)


def test_a_partitioned_topic_has_no_diameter_and_is_left_out() -> None:
    interest = interest_of([{0}, {0, 1}, {1}, {0}])
    found = measure_topic_diameter(view_of(interest, overlay_on(interest, [(0, 1), (1, 2)]), threads=1))
    assert found["diameter_topic_max"] == 1
    assert found["diameter_topics_counted"] == 1
    assert [one["hops"] for one in found["hops_by_topic"]] == [1]
    nothing = measure_topic_diameter(view_of(interest, overlay_on(interest, []), threads=1))
    assert nothing["diameter_topic_max"] is None
    assert nothing["diameter_topic_avg"] is None
    assert nothing["hops_by_topic"] == []


def test_topics_are_named_with_their_hops_the_longest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    interest = random_interest(60, 6, 3, seed=3)
    overlay = ring_per_topic(interest)
    truth = naive.topic_diameters(interest, overlay)
    monkeypatch.setattr(diameter, "NAMED", 4)
    named = measure_topic_diameter(view_of(interest, overlay, threads=1))["hops_by_topic"]
    assert [one["hops"] for one in named] == sorted(truth, reverse=True)[:4]
    numbers = {name: topic for topic, name in enumerate(interest.topic_ids.to_pylist())}
    for one in named:
        topic = numbers[one["topic"]]
        assert (one["hops"], one["subscribers"]) == (truth[topic], len(interest.nodes_of(topic)))


def test_the_topic_diameter_does_not_leave_the_topic() -> None:
    """A short cut through a node that does not want the topic is no way for its messages."""
    interest = interest_of([{0}, {0}, {0}, {0}, {1}])
    overlay = overlay_on(interest, [(0, 1), (1, 2), (2, 3), (0, 4), (4, 3)])
    view = view_of(interest, overlay, threads=1)
    assert measure_topic_diameter(view)["diameter_topic_max"] == 3
    assert measure_overlay_diameter(view)["diameter_overlay"] == 2

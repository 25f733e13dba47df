"""What one death splits: against taking every node and edge away, and on graphs whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from drawing import examples
from naive.overlays import interest_of, measured, overlay_on, random_interest, random_overlay
from naive.splits import naive_bridges, naive_splits
from strategies import interests
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.measures.cuts import TopicGraph
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.measures.splits import measure_splits, topic_splits
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

Edges = list[tuple[int, int]]
STAR: Edges = [(0, 1), (0, 2), (0, 3), (0, 4)]
PATH: Edges = [(0, 1), (1, 2), (2, 3), (3, 4)]
RING: Edges = [*PATH, (4, 0)]


def check(interest: Interest, overlay: Overlay) -> None:
    """Compare the splits of nodes, the bridges of topics and the figures with the naive ones."""
    view = view_of(interest, overlay, threads=1)
    splits, bridges = topic_splits(view)
    expected = naive_splits(interest, overlay)
    assert splits.tolist() == expected
    assert bridges.tolist() == naive_bridges(interest, overlay)
    assert measure_splits(view) == {
        "splits_avg": pytest.approx(np.mean(expected)),
        "splits_max": max(expected),
        "bridges": int(bridges.sum()),
    }


@given(measured(max_nodes=12))
@examples(200)
def test_splits_are_found_by_taking_every_node_and_edge_away(case: tuple[Interest, Overlay]) -> None:
    """Also where topics are split already, and where edges carry no topic."""
    check(*case)


@given(interests(max_nodes=16))
@examples(60)
def test_splits_of_a_built_overlay(interest: Interest) -> None:
    check(interest, build_gm(interest).overlay)


@pytest.mark.parametrize(
    ("edges", "splits", "bridges"),
    [
        (STAR, [1, 0, 0, 0, 0], 4),
        (PATH, [0, 1, 1, 1, 0], 4),
        (RING, [0, 0, 0, 0, 0], 0),
        ([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)], [0, 0, 1, 0, 0], 0),  # two triangles, one node
        ([(0, 1), (1, 2), (3, 4)], [0, 1, 0, 0, 0], 3),  # split already; node 1 splits it further
        ([], [0, 0, 0, 0, 0], 0),
    ],
    ids=["star", "path", "ring", "triangles", "split", "no edges"],
)
def test_graphs_whose_cuts_are_known(edges: Edges, splits: list[int], bridges: int) -> None:
    interest = interest_of([{0}] * 5)
    view = view_of(interest, overlay_on(interest, edges))
    found, crossed = topic_splits(view)
    assert found.tolist() == splits
    assert crossed.tolist() == [bridges]


def test_a_planted_fault_is_seen() -> None:
    """A ring survives every death. Any edge less makes it a path, which three of five nodes split."""
    interest = interest_of([{0}] * 5)
    assert measure_splits(view_of(interest, overlay_on(interest, RING)))["splits_max"] == 0
    for gone in RING:
        broken = overlay_on(interest, [edge for edge in RING if edge != gone])
        assert measure_splits(view_of(interest, broken)) == {"splits_avg": 0.6, "splits_max": 1, "bridges": 4}


def test_paths_through_other_topics_do_not_help() -> None:
    """Nodes 0, 1 and 2 want topic 0 as a path; node 3 joins its ends but does not want it."""
    interest = interest_of([{0}, {0}, {0}, {1}])
    overlay = overlay_on(interest, [(0, 1), (1, 2), (2, 3), (3, 0)])
    assert measure_splits(view_of(interest, overlay)) == {"splits_avg": 0.25, "splits_max": 1, "bridges": 2}


def test_a_hub_splits_every_topic_that_it_alone_joins() -> None:
    interest = interest_of([set(range(6)), *({topic} for topic in range(6) for _ in range(2))])
    overlay = overlay_on(interest, [(0, node) for node in range(1, 13)])
    assert measure_splits(view_of(interest, overlay)) == {
        "splits_avg": pytest.approx(6 / 13),
        "splits_max": 6,
        "bridges": 12,
    }


def test_the_smallest_interests() -> None:
    nobody = Interest.from_pairs([])
    none = {"splits_avg": 0.0, "splits_max": 0, "bridges": 0}
    assert measure_splits(view_of(nobody, overlay_on(nobody, []))) == none
    one = interest_of([{0}])
    assert measure_splits(view_of(one, overlay_on(one, []))) == none
    two = interest_of([{0}, {0}])
    assert measure_splits(view_of(two, overlay_on(two, []))) == none
    assert measure_splits(view_of(two, overlay_on(two, [(0, 1)]))) == none | {"bridges": 1}


def test_larger_overlays_agree_with_what_explain_tells_on_any_number_of_threads() -> None:
    interest = random_interest(400, 30, 4)
    overlay = random_overlay(interest, 500)
    splits, bridges = topic_splits(view_of(interest, overlay, threads=1))
    expected = np.zeros(interest.n_nodes, np.int64)
    for topic in range(interest.n_topics):
        graph = TopicGraph.of(interest, overlay, topic)
        cuts, told = graph.cuts()
        expected[graph.members[list(cuts)]] += 1
        assert bridges[topic] == len(told)
    assert splits.tolist() == expected.tolist()
    again, others = topic_splits(view_of(interest, overlay, threads=3))
    assert (again.tolist(), others.tolist()) == (splits.tolist(), bridges.tolist())


def test_a_long_path_needs_no_deep_stack() -> None:
    n = 50_000
    interest = Interest.from_pairs([(f"n{node:05}", "x") for node in range(n)])
    path = Overlay.from_edges(interest.node_ids, np.arange(n - 1), np.arange(1, n))
    found = measure_splits(view_of(interest, path))
    assert found == {"splits_avg": pytest.approx((n - 2) / n), "splits_max": 1, "bridges": n - 1}

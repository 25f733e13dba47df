"""Forest packing: proven by the checker, compared with the best there is where that can be found."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.mesh_figures import links_bound
from hypothesis import assume, given

from drawing import examples
from naive.overlays import interest_of, overlay_on
from naive.packing import best_packing
from naive.tree_cases import served
from topicloom.base.progress import Silent
from topicloom.errors import InputError, Interrupted
from topicloom.mesh.topic_trees import packing as module
from topicloom.mesh.topic_trees.check import check_packing
from topicloom.mesh.topic_trees.packing import class_edges, pack_forests
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

# Without the compiler random numbers are numpy's, which warn of the wrap-around that is meant.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


@pytest.fixture(autouse=True)
def _short_search(monkeypatch):
    monkeypatch.setattr(module, "WORK_PER_LOOK", 600)


@examples(40)
@given(case=served(max_nodes=9))
def test_every_packing_is_proven_and_keeps_to_the_bound(case):
    interest, overlay = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "WORK_PER_LOOK", 100)
        packing = pack_forests(interest, overlay)
    assert check_packing(interest, overlay, packing) == []
    alone = int(np.maximum(interest.topic_sizes() - 1, 0).sum())
    assert links_bound(interest, overlay) <= len(class_edges(packing)[0]) <= alone


@examples(40)
@given(case=served(max_nodes=6, max_topics=4))
def test_tiny_packings_are_the_best_there_are(case):
    """Everything is tried: fewest links, and fewest classes among those; the bound must not exceed it."""
    interest, overlay = case
    assume(overlay.n_edges <= 9)
    packing = pack_forests(interest, overlay)
    best = best_packing(interest, overlay)
    assert (len(class_edges(packing)[0]), packing.n_classes) == best
    assert links_bound(interest, overlay) <= best[0]


def test_topics_joined_through_a_stranger_need_two_classes():
    """x and y meet in a and c, which only b or d join: one class would close a - b - c - d - a."""
    interest = interest_of([{0, 1}, {0}, {0, 1}, {1}])
    overlay = overlay_on(interest, [(0, 1), (1, 2), (2, 3), (0, 3)])
    packing = pack_forests(interest, overlay)
    assert packing.n_classes == 2
    assert len(class_edges(packing)[0]) == 4 == links_bound(interest, overlay)


def test_topics_of_a_tree_share_one_class():
    interest = interest_of([{0, 1}, {0, 1, 2}, {0, 2}, {2}])
    packing = pack_forests(interest, overlay_on(interest, [(0, 1), (1, 2), (2, 3)]))
    assert packing.n_classes == 1
    assert len(class_edges(packing)[0]) == 3


def test_fewer_links_than_one_class_for_each_topic_and_than_placing_once(monkeypatch):
    interest = generate_interest(workload_from_options(30, 20, "4:8", "uniform", 1))
    overlay = build_gm(interest).overlay
    alone = int((interest.topic_sizes() - 1).sum())
    monkeypatch.setattr(module, "WORK_PER_LOOK", 100)
    found = pack_forests(interest, overlay)
    monkeypatch.setattr(module, "WORK_PER_LOOK", 0)
    placed = pack_forests(interest, overlay)
    for packing in (found, placed):
        assert check_packing(interest, overlay, packing) == []
    assert len(class_edges(found)[0]) < len(class_edges(placed)[0]) < alone
    assert links_bound(interest, overlay) <= len(class_edges(found)[0])


def test_more_classes_than_there_was_room_for_at_first(monkeypatch):
    """Every pair of these topics meets in two nodes that only strangers join: a class for each."""
    monkeypatch.setattr(module, "WORK_PER_LOOK", 20)
    interest = interest_of([{*range(40)}, {*range(40)}, *({topic} for topic in range(40))])
    overlay = overlay_on(interest, [(end, 2 + topic) for topic in range(40) for end in (0, 1)])
    packing = pack_forests(interest, overlay)
    assert packing.n_classes == 40
    assert len(class_edges(packing)[0]) == 80 == links_bound(interest, overlay)
    assert check_packing(interest, overlay, packing) == []


def test_all_topics_of_a_class_agree_which_end_of_an_edge_is_the_parent():
    interest = generate_interest(workload_from_options(30, 20, "4:8", "zipf:1", 2))
    packing = pack_forests(interest, build_gm(interest).overlay)
    arcs = set()
    for topic in range(interest.n_topics):
        child, parent = packing.trees.edges_of(topic)
        arcs |= {
            (int(packing.class_of[topic]), a, b) for a, b in zip(child.tolist(), parent.tolist(), strict=True)
        }
    assert not any((where, b, a) in arcs for where, a, b in arcs)


def test_the_same_input_gives_the_same_packing_however_it_is_sliced(monkeypatch):
    monkeypatch.setattr(module, "WORK_PER_LOOK", 100)
    interest = generate_interest(workload_from_options(20, 12, "3:5", "zipf:1", 3))
    overlay = build_gm(interest).overlay
    one, again = pack_forests(interest, overlay), pack_forests(interest, overlay)
    monkeypatch.setattr(module, "SLICE", 77)
    for other in (again, pack_forests(interest, overlay)):
        assert np.array_equal(one.class_of, other.class_of)
        assert np.array_equal(one.trees.parent, other.trees.parent)


def test_topics_of_one_subscriber_add_no_class():
    interest = interest_of([{0, 1}, {1, 2}, {1}])
    packing = pack_forests(interest, overlay_on(interest, [(0, 1), (1, 2)]))
    assert packing.n_classes == 1
    lonely = interest_of([{0}, {1}])
    assert pack_forests(lonely, overlay_on(lonely, [])).n_classes == 1
    assert len(class_edges(pack_forests(lonely, overlay_on(lonely, [])))[0]) == 0


def test_a_topic_that_is_not_connected_is_refused():
    interest = interest_of([{0}, {0}, {0}])
    with pytest.raises(InputError, match="not connected"):
        pack_forests(interest, overlay_on(interest, [(0, 1)]))


def test_a_large_search_ends_after_a_fixed_amount_of_work(monkeypatch):
    """Work grows with subscriptions x classes, and without an end a thousand nodes would take minutes."""
    interest = generate_interest(workload_from_options(20, 12, "3:5", "zipf:1", 3))
    overlay = build_gm(interest).overlay
    ends = []
    honest = module.search_classes
    monkeypatch.setattr(
        module, "search_classes", lambda state, until: ends.append(until) or honest(state, until)
    )
    pack_forests(interest, overlay)
    whole = ends[-1]
    ends.clear()
    monkeypatch.setattr(module, "MOST_WORK", 2_000)
    assert check_packing(interest, overlay, pack_forests(interest, overlay)) == []
    assert ends[-1] < whole / 10 and ends[-1] <= 2_000 + interest.n_subscriptions * interest.n_topics * 4


def test_it_stops_on_request_between_slices(monkeypatch):
    monkeypatch.setattr(module, "SLICE", 100)
    interest = generate_interest(workload_from_options(20, 12, "3:5", "zipf:1", 3))
    overlay = build_gm(interest).overlay
    asked = iter([False] * 60)
    progress = Silent()
    progress.should_stop = lambda: next(asked, True)
    with pytest.raises(Interrupted):
        pack_forests(interest, overlay, progress=progress)

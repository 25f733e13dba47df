"""Overlay trees keep one tree per topic through every removal: otherwise moves split topics unnoticed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.overlay_trees import (
    check_overlay_trees,
    component_counts,
    edge_set,
    fixed_set,
    is_connected,
    joins_lost,
)
from naive.overlay_trees_cases import laid, list_removed, scratch, some_edges, tree_cases
from parts import called
from topicloom.overlay.kernels import edge_removal
from topicloom.overlay.kernels.edge_lists import N_EDGES
from topicloom.overlay.kernels.edge_removal import RECORDS
from topicloom.overlay.kernels.overlay_trees import N_FREE_EDGES, N_FREE_PAIRS
from topicloom.overlay.model.interest import Interest

remove_edges, undo, keep = map(called, (edge_removal.remove_edges, edge_removal.undo, edge_removal.keep))

# Without the compiler random numbers are numpy's, which warn of the wrap-around that is meant.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

CHAIN = Interest.from_pairs([(node, topic) for node in "abcde" for topic in "xy"])
PATH = [(0, 1), (1, 2), (2, 3), (3, 4)]


# --- laying edges ------------------------------------------------------------------------------------------


@examples(100)
@given(case=tree_cases())
def test_edges_are_laid_as_trees_that_connect_what_the_edges_connect(case):
    check_overlay_trees(case.trees, case.interest)
    edges = edge_set(case.trees)
    assert edges <= case.given
    assert component_counts(case.interest, edges) == component_counts(case.interest, case.given)
    assert fixed_set(case.trees) == case.fixed
    loads = case.trees.load[case.trees.live[: len(edges)]]
    fixed = case.trees.fixed[case.trees.live[: len(edges)]]
    assert all(loads[~fixed] > 0), "an edge was laid that joins nothing"


@examples(30)
@given(case=tree_cases(), data=st.data())
def test_an_overlay_that_connects_only_some_topics_is_laid_too(case, data):
    """Where constraints keep topics apart the search starts from such a one."""
    part = [edge for edge in sorted(case.given) if data.draw(st.booleans())]
    trees = laid(case.interest, part)
    check_overlay_trees(trees, case.interest)
    assert component_counts(case.interest, edge_set(trees)) == component_counts(case.interest, part)


# --- taking edges out --------------------------------------------------------------------------------------


@examples(150)
@given(case=tree_cases(), data=st.data())
def test_what_breaks_is_recorded_once_for_every_component_more(case, data):
    removed = some_edges(data.draw, case)
    lost = joins_lost(case.interest, edge_set(case.trees), removed)
    list_removed(case.trees, case.removal, removed)
    remove_edges(case.trees, case.removal)
    records = case.removal.records[: case.removal.counts[RECORDS], 0]
    assert np.bincount(records, minlength=case.interest.n_topics).tolist() == lost


@examples(100)
@given(case=tree_cases(), data=st.data())
def test_what_is_taken_out_can_be_put_back_again_and_again(case, data):
    before, fixed = edge_set(case.trees), fixed_set(case.trees)
    for _ in range(3):
        removed = some_edges(data.draw, case)
        list_removed(case.trees, case.removal, removed)
        remove_edges(case.trees, case.removal)
        assert edge_set(case.trees) == before - set(removed)
        undo(case.trees, case.removal)
        check_overlay_trees(case.trees, case.interest)
        assert edge_set(case.trees) == before
        assert fixed_set(case.trees) == fixed


@examples(100)
@given(case=tree_cases(), data=st.data())
def test_what_is_taken_out_can_be_left_out(case, data):
    """Also when that splits topics: the trees then are those of the parts."""
    for _ in range(3):
        before = edge_set(case.trees)
        removed = some_edges(data.draw, case, most=3)
        list_removed(case.trees, case.removal, removed)
        remove_edges(case.trees, case.removal)
        keep(case.trees, case.removal)
        check_overlay_trees(case.trees, case.interest)
        assert edge_set(case.trees) == before - set(removed)


def test_a_break_that_is_too_large_to_record_is_refused_and_undone():
    """A middle edge of a long path cuts half of all nodes off in every topic: more than the scratch holds."""
    interest = Interest.from_pairs([(f"n{v:02}", f"t{t:02}") for v in range(20) for t in range(10)])
    path = [(v, v + 1) for v in range(19)]
    trees, removal = laid(interest, path), scratch(interest)
    list_removed(trees, removal, [(9, 10)])
    assert not remove_edges(trees, removal)
    undo(trees, removal)
    check_overlay_trees(trees, interest)
    assert edge_set(trees) == set(path)
    list_removed(trees, removal, [(0, 1)])
    assert remove_edges(trees, removal)
    undo(trees, removal)
    assert is_connected(interest, edge_set(trees))


# --- the checker itself ------------------------------------------------------------------------------------


def spoil_live(trees):
    trees.live[0], trees.live[1] = trees.live[1], trees.live[0]


def spoil_free_edges(trees):
    trees.free_edges[trees.sizes[N_FREE_EDGES] - 1] = trees.live[0]


def spoil_free_pairs(trees):
    trees.sizes[N_FREE_PAIRS] -= 1


def spoil_load(trees):
    trees.load[trees.live[0]] += 1


def spoil_near(trees):
    trees.near[trees.near_ptr[2]] = 4


def spoil_near_edge(trees):
    trees.near_edge[trees.near_ptr[2]] = trees.live[3]


def spoil_degree(trees):
    trees.degree[0] += 1


def spoil_thread(trees):
    """A thread between the right nodes, but of two topics."""
    pair = trees.edge_pair[trees.live[0]]
    trees.arc_slot[2 * pair] ^= 1


def spoil_arcs(trees):
    """A node forgets that a tree passes it."""
    trees.slot_arc[trees.node_ptr[1]] = -1


def spoil_ends(trees):
    """An edge, and with it its threads, said to lie elsewhere."""
    trees.edge_u[trees.live[0]], trees.edge_v[trees.live[0]] = 0, 4


def spoil_twice(trees):
    """A second edge where one is."""
    trees.edge_u[trees.live[0]], trees.edge_v[trees.live[0]] = 1, 2


def spoil_tree(trees):
    """An edge without threads that a topic needs: the list of threads is empty, the arcs are gone."""
    edge = trees.live[3]
    pair = trees.edge_pair[edge]
    while pair >= 0:
        for arc in (2 * pair, 2 * pair + 1):
            slot = trees.arc_slot[arc ^ 1]
            assert trees.slot_arc[slot] == arc
            trees.slot_arc[slot] = trees.arc_next[arc]
        trees.free_pairs[trees.sizes[N_FREE_PAIRS]] = pair
        trees.sizes[N_FREE_PAIRS] += 1
        pair = trees.pair_next[pair]
    trees.edge_pair[edge], trees.load[edge] = -1, 0


SPOILERS = [value for name, value in sorted(globals().items()) if name.startswith("spoil_")]


@pytest.mark.parametrize("spoil", SPOILERS)
def test_the_checker_rejects_spoiled_trees(spoil):
    trees = laid(CHAIN, PATH)
    check_overlay_trees(trees, CHAIN)
    assert trees.sizes[N_EDGES] == 4
    spoil(trees)
    with pytest.raises(AssertionError):
        check_overlay_trees(trees, CHAIN)

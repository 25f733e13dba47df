"""A weave keeps one tree per topic through every removal: otherwise moves break topics without noticing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.weave import check_weave, component_counts, edge_set, fixed_set, is_connected, joins_lost
from naive.weave_cases import laid, list_removed, scratch, some_edges, weaves
from topicloom.overlay.kernels.breaks import RECORDS, keep, take_out, undo
from topicloom.overlay.kernels.weave import N_EDGES, N_FREE_EDGES, N_FREE_PAIRS
from topicloom.overlay.model.interest import Interest

# Without the compiler random numbers are numpy's, which warn of the wrap-around that is meant.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

CHAIN = Interest.from_pairs([(node, topic) for node in "abcde" for topic in "xy"])
PATH = [(0, 1), (1, 2), (2, 3), (3, 4)]


# --- laying edges ------------------------------------------------------------------------------------------


@examples(100)
@given(case=weaves())
def test_edges_are_laid_as_trees_that_connect_what_the_edges_connect(case):
    check_weave(case.weave, case.interest)
    edges = edge_set(case.weave)
    assert edges <= case.given
    assert component_counts(case.interest, edges) == component_counts(case.interest, case.given)
    assert fixed_set(case.weave) == case.fixed
    loads = case.weave.load[case.weave.live[: len(edges)]]
    fixed = case.weave.fixed[case.weave.live[: len(edges)]]
    assert all(loads[~fixed] > 0), "an edge was laid that joins nothing"


@examples(30)
@given(case=weaves(), data=st.data())
def test_an_overlay_that_connects_only_some_topics_is_laid_too(case, data):
    """Where constraints keep topics apart the search starts from such a one."""
    part = [edge for edge in sorted(case.given) if data.draw(st.booleans())]
    weave = laid(case.interest, part)
    check_weave(weave, case.interest)
    assert component_counts(case.interest, edge_set(weave)) == component_counts(case.interest, part)


# --- taking edges out --------------------------------------------------------------------------------------


@examples(150)
@given(case=weaves(), data=st.data())
def test_what_breaks_is_recorded_once_for_every_component_more(case, data):
    removed = some_edges(data.draw, case)
    lost = joins_lost(case.interest, edge_set(case.weave), removed)
    list_removed(case.weave, case.breaks, removed)
    take_out(case.weave, case.breaks)
    records = case.breaks.record_topic[: case.breaks.counts[RECORDS]]
    assert np.bincount(records, minlength=case.interest.n_topics).tolist() == lost


@examples(100)
@given(case=weaves(), data=st.data())
def test_what_is_taken_out_can_be_put_back_again_and_again(case, data):
    before, fixed = edge_set(case.weave), fixed_set(case.weave)
    for _ in range(3):
        removed = some_edges(data.draw, case)
        list_removed(case.weave, case.breaks, removed)
        take_out(case.weave, case.breaks)
        assert edge_set(case.weave) == before - set(removed)
        undo(case.weave, case.breaks)
        check_weave(case.weave, case.interest)
        assert edge_set(case.weave) == before
        assert fixed_set(case.weave) == fixed


@examples(100)
@given(case=weaves(), data=st.data())
def test_what_is_taken_out_can_be_left_out(case, data):
    """Also when that splits topics: the trees then are those of the parts."""
    for _ in range(3):
        before = edge_set(case.weave)
        removed = some_edges(data.draw, case, most=3)
        list_removed(case.weave, case.breaks, removed)
        take_out(case.weave, case.breaks)
        keep(case.weave, case.breaks)
        check_weave(case.weave, case.interest)
        assert edge_set(case.weave) == before - set(removed)


def test_a_break_that_is_too_large_to_record_is_refused_and_undone():
    """A middle edge of a long path cuts half of all nodes off in every topic: more than the scratch holds."""
    interest = Interest.from_pairs([(f"n{v:02}", f"t{t:02}") for v in range(20) for t in range(10)])
    path = [(v, v + 1) for v in range(19)]
    weave, breaks = laid(interest, path), scratch(interest)
    list_removed(weave, breaks, [(9, 10)])
    assert not take_out(weave, breaks)
    undo(weave, breaks)
    check_weave(weave, interest)
    assert edge_set(weave) == set(path)
    list_removed(weave, breaks, [(0, 1)])
    assert take_out(weave, breaks)
    undo(weave, breaks)
    assert is_connected(interest, edge_set(weave))


# --- the checker itself ------------------------------------------------------------------------------------


def spoil_live(weave):
    weave.live[0], weave.live[1] = weave.live[1], weave.live[0]


def spoil_free_edges(weave):
    weave.free_edges[weave.sizes[N_FREE_EDGES] - 1] = weave.live[0]


def spoil_free_pairs(weave):
    weave.sizes[N_FREE_PAIRS] -= 1


def spoil_load(weave):
    weave.load[weave.live[0]] += 1


def spoil_near(weave):
    weave.near[weave.near_ptr[2]] = 4


def spoil_near_edge(weave):
    weave.near_edge[weave.near_ptr[2]] = weave.live[3]


def spoil_degree(weave):
    weave.degree[0] += 1


def spoil_thread(weave):
    """A thread between the right nodes, but of two topics."""
    pair = weave.edge_pair[weave.live[0]]
    weave.arc_slot[2 * pair] ^= 1


def spoil_arcs(weave):
    """A node forgets that a tree passes it."""
    weave.slot_arc[weave.node_ptr[1]] = -1


def spoil_ends(weave):
    """An edge, and with it its threads, said to lie elsewhere."""
    weave.edge_u[weave.live[0]], weave.edge_v[weave.live[0]] = 0, 4


def spoil_twice(weave):
    """A second edge where one is."""
    weave.edge_u[weave.live[0]], weave.edge_v[weave.live[0]] = 1, 2


def spoil_tree(weave):
    """An edge without threads that a topic needs: the list of threads is empty, the arcs are gone."""
    edge = weave.live[3]
    pair = weave.edge_pair[edge]
    while pair >= 0:
        for arc in (2 * pair, 2 * pair + 1):
            slot = weave.arc_slot[arc ^ 1]
            assert weave.slot_arc[slot] == arc
            weave.slot_arc[slot] = weave.arc_next[arc]
        weave.free_pairs[weave.sizes[N_FREE_PAIRS]] = pair
        weave.sizes[N_FREE_PAIRS] += 1
        pair = weave.pair_next[pair]
    weave.edge_pair[edge], weave.load[edge] = -1, 0


SPOILERS = [value for name, value in sorted(globals().items()) if name.startswith("spoil_")]


@pytest.mark.parametrize("spoil", SPOILERS)
def test_the_checker_rejects_a_spoiled_weave(spoil):
    weave = laid(CHAIN, PATH)
    check_weave(weave, CHAIN)
    assert weave.sizes[N_EDGES] == 4
    spoil(weave)
    with pytest.raises(AssertionError):
        check_weave(weave, CHAIN)

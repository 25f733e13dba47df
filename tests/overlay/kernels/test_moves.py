"""Moves: whatever they do, every topic stays connected, caps and fixed edges are kept, nothing gets worse."""

from __future__ import annotations

from itertools import combinations

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
    removable,
    total_cost,
)
from naive.overlay_trees_cases import Case, laid, scratch, tree_cases
from topicloom.overlay.builders.baselines import build_ring_pt
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.kernels.edge_lists import N_EDGES
from topicloom.overlay.kernels.moves import (
    BY_COST,
    BY_NUMBER,
    THEN_COST,
    destroy_and_repair,
    new_log,
    prune,
    relieve,
    repeat,
)
from topicloom.overlay.kernels.overlay_trees import copied
from topicloom.overlay.model.constraints import Constraints, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

ATTEMPTS = 12  # at relieving a node

# Without the compiler random numbers are numpy's, which warn of the wrap-around that is meant.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


def caps_for(case, cap: int):
    """One cap for all, but nobody below what is fixed."""
    least = [sum(node in edge for edge in case.fixed) for node in range(case.interest.n_nodes)]
    return np.maximum(np.array(least, np.int32), np.int32(cap))


def check_case(case, caps, degree_before):
    """What every move must leave behind."""
    check_overlay_trees(case.trees, case.interest)
    edges = edge_set(case.trees)
    assert is_connected(case.interest, edges)
    assert fixed_set(case.trees) == case.fixed
    assert not edges & case.forbidden
    assert (case.trees.degree <= np.maximum(caps, degree_before)).all(), "an edge was added to a full node"


def live(case):
    return case.trees.live[: case.trees.sizes[N_EDGES]].copy()


# --- destroy and repair ------------------------------------------------------------------------------------


@examples(40)
@given(
    case=tree_cases(priced=True), cap=st.integers(1, 6), aim=st.sampled_from([BY_NUMBER, THEN_COST, BY_COST])
)
def test_moves_keep_topics_connected_and_never_add_edges(case, cap, aim):
    caps = caps_for(case, cap)
    for _ in range(3):
        before, degree = case.trees.sizes[N_EDGES], case.trees.degree.copy()
        accepted = destroy_and_repair(case.trees, case.removal, caps, aim, 40)
        check_case(case, caps, degree)
        assert case.trees.sizes[N_EDGES] <= before
        assert 0 <= accepted <= 40


@examples(30)
@given(case=tree_cases(priced=True), cap=st.integers(2, 6))
def test_costs_break_ties_or_rule(case, cap):
    """By number, then cost: as many edges never cost more. By cost: nothing ever costs more."""
    caps = caps_for(case, cap)
    for aim in (THEN_COST, BY_COST):
        edges = edge_set(case.trees)
        for _ in range(60):
            destroy_and_repair(case.trees, case.removal, caps, aim, 1)
            found = edge_set(case.trees)
            assert len(found) <= len(edges)
            if aim == BY_COST or len(found) == len(edges):
                assert total_cost(found, case.costs) <= total_cost(edges, case.costs)
            edges = found


@pytest.mark.parametrize("seed", range(3))
def test_topics_that_forbidden_pairs_cut_stay_in_as_many_parts(seed):
    """Nothing may be linked across two halves of the nodes: moves within them must not split any further."""
    interest = generate_interest(workload_from_options(40, 12, "2:5", "uniform", seed))
    half = np.random.default_rng(seed).permutation(40) < 15
    wall = [(u, v) for u, v in combinations(range(40), 2) if half[u] != half[v]]
    limits = Constraints(forbidden=NodePairs.of(*zip(*wall, strict=True), 40))
    overlay = build_gm(interest, constraints=limits).overlay
    edges = list(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))
    trees, removal = laid(interest, edges), scratch(interest, dict.fromkeys(wall, float("inf")))
    counts = component_counts(interest, edge_set(trees))
    assert max(counts) > 1
    caps = np.full(interest.n_nodes, 6, np.int32)
    for _ in range(10):
        destroy_and_repair(trees, removal, caps, BY_NUMBER, 50)
        check_overlay_trees(trees, interest)
        assert component_counts(interest, edge_set(trees)) == counts
        assert not edge_set(trees) & set(wall)


def test_moves_save_edges_and_wander():
    """A ring per topic has far more edges than needed; once they are saved, others take their place."""
    interest = generate_interest(workload_from_options(40, 12, "2:5", "uniform", 3))
    overlay = build_ring_pt(interest).overlay
    trees = laid(interest, list(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True)))
    removal = scratch(interest)
    caps = np.full(interest.n_nodes, 6, np.int32)
    n_laid = int(trees.sizes[N_EDGES])
    accepted = destroy_and_repair(trees, removal, caps, BY_NUMBER, 500)
    check_overlay_trees(trees, interest)
    assert is_connected(interest, edge_set(trees))
    saved = n_laid - int(trees.sizes[N_EDGES])
    assert saved > n_laid // 10
    assert accepted > saved, "no move that saves nothing was kept"


def test_an_edge_does_not_take_its_own_place():
    """Between two nodes there is no other: a move that puts it back would count as one and change nothing."""
    interest = Interest.from_pairs([("a", "x"), ("b", "x")])
    trees, removal = laid(interest, [(0, 1)]), scratch(interest)
    assert destroy_and_repair(trees, removal, np.full(2, 3, np.int32), BY_NUMBER, 20) == 0
    assert edge_set(trees) == {(0, 1)}


def test_the_same_seed_makes_the_same_moves():
    interest = generate_interest(workload_from_options(40, 12, "2:5", "uniform", 2))
    overlay = build_gm(interest).overlay
    edges = list(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))

    def moved(seed: int, slices: list[int]):
        trees, removal = laid(interest, edges), scratch(interest, seed=seed)
        for moves in slices:
            destroy_and_repair(trees, removal, np.full(interest.n_nodes, 6, np.int32), BY_NUMBER, moves)
        return edge_set(trees)

    assert moved(1, [150]) == moved(1, [100, 1, 49])
    assert len({frozenset(moved(seed, [150])) for seed in range(3)}) > 1


def test_a_move_too_large_for_the_scratch_is_not_made():
    """A path of nodes that all want the same: cutting it in the middle concerns more than can be recorded."""
    interest = Interest.from_pairs([(f"n{v:02}", f"t{t:02}") for v in range(30) for t in range(8)])
    trees = laid(interest, [(v, v + 1) for v in range(29)])
    removal = scratch(interest)
    caps = np.full(30, 3, np.int32)
    for _ in range(5):
        destroy_and_repair(trees, removal, caps, BY_NUMBER, 20)
        check_overlay_trees(trees, interest)
        assert is_connected(interest, edge_set(trees))


def test_more_nodes_apart_than_there_is_room_for_is_not_a_move():
    """The masks hold a limited number of nodes; a small limit is made by cutting the scratch short."""
    interest = Interest.from_pairs([(f"n{v:02}", "x") for v in range(12)])
    path = [(v, v + 1) for v in range(11)]
    trees, removal = laid(interest, path), scratch(interest)
    short = removal._replace(apart=removal.apart[:2].copy(), planes=removal.planes[:, :2].copy())
    accepted = destroy_and_repair(trees, short, np.full(12, 4, np.int32), BY_NUMBER, 100)
    assert 0 < accepted < 100
    check_overlay_trees(trees, interest)
    assert is_connected(interest, edge_set(trees))
    assert (short.apart_at == -1).all() and (short.topic_open == 0).all() and (short.word_at == -1).all()


# --- a log of moves ----------------------------------------------------------------------------------------


def logged(seed: int):
    """An overlay, a copy of it on which moves were made, and the log of these."""
    interest = generate_interest(workload_from_options(40, 12, "2:5", "uniform", seed))
    overlay = build_ring_pt(interest).overlay
    trees = laid(interest, list(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True)))
    other, log = copied(trees), new_log(60)
    caps = np.full(40, 6, np.int32)
    kept = destroy_and_repair(other, scratch(interest, seed=seed), caps, BY_NUMBER, 60, log)
    return interest, trees, other, log[:kept], caps


@pytest.mark.parametrize("seed", range(3))
def test_a_log_repeated_leads_to_the_same_overlay(seed):
    interest, trees, other, log, caps = logged(seed)
    before = edge_set(trees)
    assert len(log) > 5
    assert repeat(trees, scratch(interest), caps, log) == len(log)
    check_overlay_trees(trees, interest)
    assert edge_set(trees) == edge_set(other) != before


@pytest.mark.parametrize("seed", range(3))
def test_moves_that_no_longer_hold_are_not_repeated(seed):
    """Between the copy and the repetition others were made; all topics stay connected, nothing is added."""
    interest, trees, _, log, caps = logged(seed)
    destroy_and_repair(trees, scratch(interest, seed=99), caps, BY_NUMBER, 8)
    degree, n_edges = trees.degree.copy(), trees.sizes[N_EDGES]
    made = repeat(trees, scratch(interest), caps, log)
    assert 0 < made < len(log)
    check_overlay_trees(trees, interest)
    assert is_connected(interest, edge_set(trees))
    assert trees.sizes[N_EDGES] <= n_edges
    assert (trees.degree <= np.maximum(caps, degree)).all()


@pytest.mark.parametrize("fault", ["an edge that is not there", "nothing put in", "a full node", "elsewhere"])
def test_a_log_with_a_fault_is_refused(fault):
    """A path of four: its middle edge may be replaced by one between the ends, and by nothing worse."""
    interest = Interest.from_pairs([(node, "x") for node in "abcd"] + [(node, "y") for node in "ab"])
    trees, removal, caps = (
        laid(interest, [(0, 1), (1, 2), (2, 3)]),
        scratch(interest),
        np.full(4, 2, np.int32),
    )
    log = new_log(1)
    log[0, :6] = (1, 1, 1, 2, 0, 3)
    if fault == "an edge that is not there":
        log[0, 2:4] = (1, 3)
    if fault == "nothing put in":
        log[0, 1] = 0
    if fault == "a full node":
        caps[3] = 1
    if fault == "elsewhere":
        log[0, 4:6] = (2, 3)
    assert repeat(trees, removal, caps, log) == 0
    check_overlay_trees(trees, interest)
    assert edge_set(trees) == {(0, 1), (1, 2), (2, 3)}
    log[0, :6] = (1, 1, 1, 2, 0, 3)
    assert repeat(trees, removal, np.full(4, 2, np.int32), log) == 1
    assert edge_set(trees) == {(0, 1), (0, 3), (2, 3)}


# --- prune -------------------------------------------------------------------------------------------------


@examples(80)
@given(case=tree_cases(), seed=st.integers(0, 99))
def test_after_pruning_every_edge_is_needed(case, seed):
    before = edge_set(case.trees)
    order = np.random.default_rng(seed).permutation(live(case))
    removed = prune(case.trees, case.removal, order)
    check_case(case, caps_for(case, 0), case.trees.degree)
    after = edge_set(case.trees)
    assert after <= before
    assert removed == len(before) - len(after)
    assert removable(case.interest, after) <= case.fixed


def test_pruning_opens_a_ring():
    """Laid as a spanning tree only what was fixed can close a ring, until its edges may go."""
    interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    ring = [(0, 1), (1, 2), (2, 3), (0, 3)]
    trees, removal = laid(interest, ring, n_fixed=4), scratch(interest)
    case = Case(interest, ring, 4, {}, trees, removal)
    assert prune(trees, removal, live(case)) == 0
    trees.fixed[:] = False
    assert prune(trees, removal, live(case)) == 1
    check_overlay_trees(trees, interest)
    assert is_connected(interest, edge_set(trees))


# --- relief ------------------------------------------------------------------------------------------------


@examples(80)
@given(case=tree_cases(priced=True), cap=st.integers(1, 5), slack=st.integers(0, 2))
def test_relief_keeps_topics_connected_and_to_its_slack(case, cap, slack):
    caps = caps_for(case, cap)
    for _ in range(3):
        degree, before = case.trees.degree.copy(), case.trees.sizes[N_EDGES]
        nodes = np.flatnonzero(degree > caps).astype(np.int32)
        relieve(case.trees, case.removal, caps, nodes, slack, ATTEMPTS)
        check_case(case, caps, degree)
        if slack == 0:
            assert case.trees.sizes[N_EDGES] <= before, "an edge more was used than allowed"


def test_relief_takes_the_edges_of_a_hub_away():
    """All nodes of a star want the same topic: a path does as well."""
    interest = Interest.from_pairs([(f"n{v:02}", "x") for v in range(12)])
    trees, removal = laid(interest, [(0, v) for v in range(1, 12)]), scratch(interest)
    caps = np.full(12, 3, np.int32)
    for _ in range(10):
        relieve(trees, removal, caps, np.zeros(1, np.int32), 0, ATTEMPTS)
    assert trees.degree.max() <= 3
    assert trees.sizes[N_EDGES] == 11
    check_overlay_trees(trees, interest)
    assert is_connected(interest, edge_set(trees))


def test_relief_leaves_fixed_edges_where_they_are():
    interest = Interest.from_pairs([(node, "x") for node in "abcdef"])
    star = [(0, v) for v in range(1, 6)]
    trees, removal = laid(interest, star, n_fixed=5), scratch(interest)
    relieve(trees, removal, np.full(6, 2, np.int32), np.zeros(1, np.int32), 2, ATTEMPTS)
    assert edge_set(trees) == set(star)

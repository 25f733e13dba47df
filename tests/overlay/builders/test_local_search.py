"""The state under local search: what is saved comes back, caps and fixed edges stay, slices do not matter."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom.overlay.builders.local_search as local_search
from drawing import examples
from naive.constrained_cases import cases
from naive.overlay_trees import (
    check_overlay_trees,
    component_counts,
    edge_set,
    fixed_set,
    is_connected,
    removable,
)
from topicloom.base.progress import SILENT, Silent
from topicloom.errors import Interrupted
from topicloom.overlay.builders.constrained import ConstrainedTask, fixed_edges
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.builders.local_search import LocalSearch
from topicloom.overlay.model.constraints import NO_CAP, UNCONSTRAINED, Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

# Without the compiler random numbers are numpy's, which warn of the wrap-around that is meant.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

RANDOM = generate_interest(workload_from_options(40, 12, "2:5", "uniform", 4))


def search_on(interest, edges, *, n_fixed=0, constraints=UNCONSTRAINED, costs="tie", **options):
    arrays = tuple(np.array([edge[end] for edge in edges], np.int32) for end in (0, 1))
    task = ConstrainedTask(interest, constraints, tuple(end[:n_fixed] for end in arrays), costs)
    return LocalSearch(task, arrays, **{"cap": 4, "seed": 1, "progress": SILENT} | options)


def of_gm(interest, **options):
    overlay = build_gm(interest).overlay
    return search_on(interest, zip_edges(overlay.u, overlay.v), **options)


def zip_edges(u, v):
    return list(zip(u.tolist(), v.tolist(), strict=True))


def check_search(search, interest):
    """The trees inside are sound, and what the search tells is what they hold."""
    check_overlay_trees(search._trees, interest)
    edges = edge_set(search._trees)
    assert {(min(e), max(e)) for e in zip_edges(*search.edges())} == edges
    assert search.n_edges == len(edges)
    assert search.degree.sum() == 2 * len(edges)


# --- caps and fixed edges ----------------------------------------------------------------------------------


def test_caps_are_the_lower_of_both_but_never_below_the_fixed_edges():
    interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    limits = Constraints(np.array([1, 2, NO_CAP, 5], np.int32))
    search = search_on(interest, [(0, 3), (1, 3), (2, 3)], n_fixed=2, cap=3, constraints=limits)
    assert search.caps(3).tolist() == [1, 2, 3, 3]
    assert search.caps(1).tolist() == [1, 1, 1, 2]
    assert search.above(2).tolist() == [3]
    assert search.above(3).tolist() == []


@examples(60)
@given(case=cases(max_nodes=10), cap=st.integers(1, 5), costs=st.sampled_from(["tie", "weight"]))
def test_fixed_edges_stay_forbidden_pairs_stay_away_and_full_nodes_take_nothing(case, cap, costs):
    """Whatever an overlay connects that was built under other caps, it connects after any move."""
    fixed = fixed_edges(case.constraints, case.start)
    limits = Constraints(None, case.constraints.forbidden, case.constraints.required)
    overlay = build_gm(case.interest, constraints=limits, start=case.start).overlay
    chosen = sorted(set(zip_edges(overlay.u, overlay.v)) - case.fixed)
    search = search_on(
        case.interest,
        [*zip_edges(*fixed), *chosen],
        n_fixed=len(fixed[0]),
        cap=cap,
        constraints=case.constraints,
        costs=costs,
    )
    counts = component_counts(case.interest, edge_set(search._trees))
    for step in (lambda: search.improve(cap, 60), lambda: search.relieve(cap), search.prune):
        degree = search.degree.copy()
        step()
        check_search(search, case.interest)
        edges = edge_set(search._trees)
        assert fixed_set(search._trees) == case.fixed
        assert not edges & case.forbidden
        assert component_counts(case.interest, edges) == counts
        assert (search.degree <= np.maximum(degree, search.caps(cap))).all()
    assert removable(case.interest, edge_set(search._trees)) <= case.fixed


@pytest.mark.parametrize("cap", [2, 3, 5, 9])
def test_a_node_may_grow_up_to_any_cap_below_the_one_announced(cap):
    """The room for a node's edges is set aside at the start; without enough, lists run into each other."""
    search = of_gm(RANDOM, cap=9)
    for _ in range(3):
        search.improve(cap, 80)
        check_search(search, RANDOM)
        assert is_connected(RANDOM, edge_set(search._trees))


def test_a_cap_above_all_room_does_no_harm():
    """A builder may raise its cap later; a node then gets as many edges as there is room for, not more.

    Here only the first node may have more than one edge, so the path comes undone from its far end.
    """
    interest = Interest.from_pairs([(f"n{v:02}", "x") for v in range(20)])
    limits = Constraints(np.array([NO_CAP] + [1] * 19, np.int32))
    search = search_on(interest, [(v, v + 1) for v in range(19)], cap=1, constraints=limits)
    for _ in range(4):
        search.improve(30, 100)
        check_search(search, interest)
    assert is_connected(interest, edge_set(search._trees))
    assert search.degree[0] > 2


def test_small_overlays_have_room_for_the_edges_of_a_move():
    """While a move is under way, the edges taken out still have their numbers: three of three here."""
    for n_nodes in range(2, 7):
        interest = Interest.from_pairs([(f"n{v}", f"t{t}") for v in range(n_nodes) for t in range(2)])
        ring = sorted({(min(v, (v + 1) % n_nodes), max(v, (v + 1) % n_nodes)) for v in range(n_nodes)})
        for cap in range(1, n_nodes):
            search = search_on(interest, ring, cap=cap)
            search.improve(cap, 40)
            search.relieve(cap)
            check_search(search, interest)
            assert is_connected(interest, edge_set(search._trees))


def test_relief_says_whether_it_got_there():
    interest = Interest.from_pairs([(f"n{v}", "x") for v in range(8)])
    star = [(0, v) for v in range(1, 8)]
    search = search_on(interest, star, cap=3)
    assert search.relieve(3)
    assert search.degree.max() <= 3
    fixed = search_on(interest, star, n_fixed=7, cap=3)
    assert fixed.relieve(3), "nobody is above: what is fixed counts as allowed"
    alone = search_on(interest, star, cap=3, constraints=Constraints(np.array([3] + [1] * 7, np.int32)))
    assert not alone.relieve(3), "seven nodes of one edge each cannot be connected by another of three"
    assert edge_set(alone._trees) == set(star) or is_connected(interest, edge_set(alone._trees))


# --- edges within caps -------------------------------------------------------------------------------------


@examples(60)
@given(case=cases(max_nodes=10), data=st.data())
def test_edges_within_caps_are_as_many_as_fit(case, data):
    """No cap is broken, fixed edges are there, and no edge was dropped that could have stayed."""
    overlay = build_gm(case.interest).overlay
    chosen = sorted(set(zip_edges(overlay.u, overlay.v)) - case.fixed)
    search = search_on(case.interest, [*sorted(case.fixed), *chosen], n_fixed=len(case.fixed), cap=3)
    least = [sum(node in edge for edge in case.fixed) for node in range(case.interest.n_nodes)]
    caps = np.array([n + data.draw(st.integers(0, 2)) for n in least], np.int32)
    kept = {(min(e), max(e)) for e in zip_edges(*search.edges_within(caps))}
    degree = [sum(node in edge for edge in kept) for node in range(case.interest.n_nodes)]
    assert kept >= case.fixed
    assert kept <= edge_set(search._trees)
    assert all(d <= cap for d, cap in zip(degree, caps.tolist(), strict=True))
    for u, v in edge_set(search._trees) - kept:
        assert degree[u] == caps[u] or degree[v] == caps[v]


def test_the_edges_that_carry_the_most_topics_stay():
    """The hub keeps the two that share two topics with it."""
    topics = {"hub": "uvwxyz", "a": "u", "b": "vw", "c": "x", "d": "yz"}
    interest = Interest.from_pairs([(node, topic) for node, wanted in topics.items() for topic in wanted])
    names = interest.node_ids.to_pylist()
    search = search_on(interest, [(names.index(x), names.index("hub")) for x in "abcd"], cap=4)
    caps = np.array([2 if name == "hub" else 1 for name in names], np.int32)
    kept = zip_edges(*search.edges_within(caps))
    assert {names[u] for u, _ in kept} == {"b", "d"}


# --- slices ------------------------------------------------------------------------------------------------


def test_slices_do_not_change_the_outcome():
    def outcome(size: int):
        with patch.object(local_search, "SLICE", size):
            search = of_gm(RANDOM)
            search.improve(5, 300)
            search.relieve(3)
            search.improve(4, 100)
            search.prune()
            return edge_set(search._trees)

    assert outcome(7) == outcome(500)


def test_two_searches_give_the_same_edges_on_any_number_of_threads():
    """Small overlays are searched by one; here the limit is lowered."""

    def outcome(threads: int):
        with patch.object(local_search, "LEAST_EDGES", 1):
            overlay = build_gm(RANDOM).overlay
            arrays = overlay.u.astype(np.int32), overlay.v.astype(np.int32)
            task = ConstrainedTask.of(RANDOM, threads=threads)
            search = LocalSearch(task, arrays, cap=5, seed=1, progress=SILENT)
            search.improve(5, 333)
            check_search(search, RANDOM)
            assert is_connected(RANDOM, edge_set(search._trees))
            return sorted(edge_set(search._trees)), overlay.n_edges

    edges, before = outcome(1)
    assert outcome(2)[0] == outcome(3)[0] == edges
    assert len(edges) < before


@pytest.mark.parametrize("work", ["improve", "relieve", "prune"])
def test_a_stop_is_heard_between_slices(work):
    class Stopped(Silent):
        def should_stop(self) -> bool:
            return True

    search = of_gm(RANDOM, progress=Stopped())
    steps = {
        "improve": lambda: search.improve(4, 10),
        "relieve": lambda: search.relieve(1),
        "prune": search.prune,
    }
    with pytest.raises(Interrupted):
        steps[work]()

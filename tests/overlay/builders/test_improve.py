"""`improve` against its own start: never worse, no bound broken that held, under every constraint."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.constrained_cases import cases
from naive.hops import naive_all_hops, naive_hops
from naive.measures import topic_component_counts
from naive.overlays import overlay_on, random_interest, ring_per_topic
from naive.survival import naive_fragile
from naive.weights import costs_of, naive_delivery, times_of
from strategies import interests
from topicloom.errors import TopicloomError
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.builders.hops import topic_hops
from topicloom.overlay.builders.improve import STANDING, Improver, improve_overlay
from topicloom.overlay.builders.improve_goals import OBJECTIVES
from topicloom.overlay.builders.improve_lanes import LaneMaker
from topicloom.overlay.builders.sturdy import build_sturdy
from topicloom.overlay.measures.hops import measure_hops
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.constraints import Constraints, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

UNWEIGHED = ("edges", "max-degree", "hops", "mean-hops")


def edges_of(overlay: Overlay) -> set[tuple[int, int]]:
    return set(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))


def degree(overlay: Overlay) -> int:
    return int(overlay.degrees().max(initial=0))


def connected(interest: Interest, overlay: Overlay) -> bool:
    return all(count <= 1 for count in topic_component_counts(interest, overlay))


def check_no_worse(interest: Interest, start: Overlay, found: Build, objective: str) -> None:
    """Compare the result with a start that was in order."""
    overlay = found.overlay
    assert connected(interest, overlay)
    assert overlay.n_edges <= start.n_edges and degree(overlay) <= degree(start)
    assert topic_hops(interest, overlay).max(initial=0) <= topic_hops(interest, start).max(initial=0)
    for deaths in (1, 2):
        if not naive_fragile(interest, start, deaths):
            assert not naive_fragile(interest, overlay, deaths)
    if objective == "mean-hops":
        before, after = (measure_hops(view_of(interest, one))["hops_mean"] for one in (start, overlay))
        assert after <= before


@given(interest=interests(max_nodes=10), objective=st.sampled_from(UNWEIGHED), data=st.data())
@examples(60)
def test_a_start_in_order_is_never_made_worse(interest: Interest, objective: str, data) -> None:
    """The start is any overlay that connects: one of gm with random edges on top."""
    pairs = list(combinations(range(interest.n_nodes), 2))
    more = data.draw(st.lists(st.sampled_from(pairs), max_size=12)) if pairs else []
    start = overlay_on(interest, [*edges_of(build_gm(interest).overlay), *more])
    found = improve_overlay(interest, start, objective=objective, rounds=3)
    check_no_worse(interest, start, found, objective)
    assert found.report["objective"] <= found.report["objective_start"]


@given(interest=interests(max_nodes=9), deaths=st.sampled_from([1, 2]))
@examples(30)
def test_what_survives_goes_on_to(interest: Interest, deaths: int) -> None:
    start = build_sturdy(interest, survive=deaths, work=0).overlay
    check_no_worse(interest, start, improve_overlay(interest, start, rounds=3), "edges")


@given(case=cases(max_nodes=9), objective=st.sampled_from(OBJECTIVES), deaths=st.sampled_from([0, 0, 1]))
@examples(80)
def test_constraints_hold_whatever_the_start(case, objective: str, deaths: int) -> None:
    """The start need not be connected, nor allowed; what caps do not leave room for is named."""
    start = case.start or overlay_on(case.interest, [])
    limits = case.constraints
    if objective.startswith("rate"):
        limits = replace(limits, rates=np.arange(case.interest.n_topics) + 1.0)
    needs = {"cost": case.costs, "rate-ms": False}
    if not needs.get(objective, True):
        with pytest.raises(TopicloomError, match=f"objective={objective}"):
            improve_overlay(case.interest, start, objective=objective, constraints=limits)
        return
    found = improve_overlay(
        case.interest, start, objective=objective, constraints=limits, survive=deaths, rounds=2
    )
    edges, degrees = edges_of(found.overlay), found.overlay.degrees().tolist()
    assert not edges & case.forbidden
    required = case.constraints.required
    assert edges >= set(zip(required.u.tolist(), required.v.tolist(), strict=True))
    above = {v for v, cap in (case.caps or {}).items() if degrees[v] > cap}
    names = case.interest.node_ids.to_pylist()
    assert {names[v] for v in above} == set(found.report.get("nodes_above_cap", []))
    if case.caps is None and not case.forbidden:
        assert connected(case.interest, found.overlay)
        assert not naive_fragile(case.interest, found.overlay, deaths)
    assert found.report["objective"] <= found.report["objective_start"]


def test_every_objective_finds_something_on_a_table_of_some_size() -> None:
    interest = random_interest(80, 12, 4, seed=3)
    start = ring_per_topic(interest)
    priced = NodePairs.of(start.u[::2], start.v[::2], interest.n_nodes)
    fives, rates = np.full(len(priced), 5.0), np.arange(interest.n_topics) + 1.0
    weights = Constraints(priced=priced, costs=fives, timed=priced, times=fives, rates=rates)
    for objective in OBJECTIVES:
        limits = Constraints() if objective in UNWEIGHED else weights
        found = improve_overlay(interest, start, objective=objective, constraints=limits, rounds=8)
        assert found.report["objective"] < found.report["objective_start"], objective
        if objective != "cost":  # costs need no bound on edges
            check_no_worse(interest, start, found, objective)


def test_rounds_give_the_same_each_time_and_other_bounds_hold() -> None:
    interest = random_interest(60, 8, 3, seed=6)
    start = build_gm(interest).overlay
    one, other = (improve_overlay(interest, start, rounds=4, threads=n) for n in (1, 2))
    assert edges_of(one.overlay) == edges_of(other.overlay)
    low = improve_overlay(interest, start, rounds=4, max_degree=degree(start) + 1, max_hops="none")
    assert low.n_edges <= start.n_edges and degree(low.overlay) <= degree(start) + 1


def test_a_cap_without_room_does_not_cost_survival() -> None:
    interest = Interest.from_pairs([(node, "x") for node in "abc"])
    ring = overlay_on(interest, [(0, 1), (1, 2), (0, 2)])
    found = improve_overlay(interest, ring, max_degree=1, rounds=1)
    assert edges_of(found.overlay) == edges_of(ring)
    assert found.report["nodes_above_cap_count"] == 3


def test_better_ones_are_told_while_it_searches() -> None:
    interest = random_interest(60, 8, 3, seed=6)
    start, told = ring_per_topic(interest), []
    found = improve_overlay(interest, start, rounds=4, checkpoint=told.append)
    assert [build.n_edges for build in told] == sorted({build.n_edges for build in told}, reverse=True)
    assert edges_of(told[-1].overlay) == edges_of(found.overlay)


class Breaker:
    """A search gone wrong: it hands over edges that look better and break something."""

    def __init__(self, edges: list[tuple[int, int]]) -> None:
        self._edges = edges

    def step(self, best, cap: int, round_: int) -> None:
        pass

    def edges(self):
        ends = np.array(self._edges, np.int32).reshape(-1, 2)
        return ends[:, 0].copy(), ends[:, 1].copy()


NODES = "abcdef"
RING = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5), (0, 3)]
PATH = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
FORK = [(0, 1), (1, 2), (1, 3), (3, 4), (4, 5)]
ANY_HOPS = {"max_hops": "none"}
FAULTS = {  # edges, limits and options under which they must not be taken
    "a topic that is split": ([(0, 1), (1, 2), (3, 4), (4, 5)], {}, {}),
    "more degree": ([(0, i) for i in range(1, 6)], {}, ANY_HOPS),
    "a cap": (FORK, {"caps": {"b": 2}}, ANY_HOPS),
    "longer paths": (PATH, {}, {}),
    "a forbidden pair": ([*PATH[:2], (2, 4), *PATH[3:]], {"forbid": [("c", "e")]}, ANY_HOPS),
    "a required pair": (PATH, {"require": [("a", "d")]}, ANY_HOPS),
    "a death": (PATH, {}, {**ANY_HOPS, "survive": 1}),
    "a load": (FORK, {"rates": {"x": 1.0}, "load_caps": {"b": 2.0}}, ANY_HOPS),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_search_that_breaks_a_bound_is_refused(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer edges each time, so that only the broken bound can be the reason; without it they are taken."""
    interest = Interest.from_pairs([(node, "x") for node in NODES])
    edges, limits, options = FAULTS[fault]
    start = overlay_on(interest, RING)
    monkeypatch.setattr(Improver, "_survived", lambda *_: 0)  # it is a ring
    monkeypatch.setattr(LaneMaker, "lane", lambda *_: Breaker(edges))
    found = improve_overlay(
        interest, start, constraints=Constraints.of(interest, **limits), rounds=2, **options
    )
    assert edges_of(found.overlay) == set(RING), fault
    monkeypatch.setattr(LaneMaker, "lane", lambda *_: Breaker(PATH))
    assert improve_overlay(interest, start, max_hops="none", rounds=2).n_edges == 5


def test_a_topic_that_cannot_be_made_whole_does_not_stop_the_others() -> None:
    """Node a is forbidden to everybody in topic x; topic y is a ring that loses an edge."""
    pairs = [(node, "x") for node in "abc"] + [(node, "y") for node in "defghi"]
    interest = Interest.from_pairs(pairs)
    start = overlay_on(interest, [(1, 2), *[(i, i + 1) for i in range(3, 8)], (3, 8), (3, 5), (4, 7)])
    limits = Constraints.of(interest, forbid=[("a", "b"), ("a", "c")])
    found = improve_overlay(interest, start, constraints=limits, rounds=6, max_hops="none")
    assert topic_component_counts(interest, found.overlay) == [2, 1]
    assert found.n_edges < start.n_edges and (1, 2) in edges_of(found.overlay)


def test_a_clock_that_stands_still_ends_the_search() -> None:
    interest = random_interest(20, 4, 2, seed=1)
    found = improve_overlay(interest, build_gm(interest).overlay, time_limit=60.0, rounds="auto")
    assert found.report["rounds"] == STANDING


@given(case=cases(max_nodes=8), objective=st.sampled_from(OBJECTIVES), data=st.data())
@examples(60)
def test_a_start_in_order_stays_in_order_under_every_constraint(case, objective: str, data) -> None:
    """The start keeps all limits; so does the result, and it is no worse by a naive figure."""
    interest, n = case.interest, case.interest.n_nodes
    lots = np.random.default_rng(data.draw(st.integers(0, 99)))
    timed = NodePairs.of(range(n - 1), range(1, n), n)
    limits = replace(
        case.constraints,
        rates=np.round(lots.uniform(0.5, 9, interest.n_topics), 1),
        timed=timed,
        times=np.round(lots.uniform(1, 9, len(timed)), 1),
    )
    if (objective == "cost" and not case.costs) or (objective == "rate-ms" and not len(timed)):
        return
    start = improve_overlay(interest, case.start or overlay_on(interest, []), constraints=limits, rounds=0)
    if not connected(interest, start.overlay) or "nodes_above_cap" in start.report:
        return
    found = improve_overlay(interest, start.overlay, objective=objective, constraints=limits, rounds=3)
    before, after = edges_of(start.overlay), edges_of(found.overlay)
    assert connected(interest, found.overlay) and not after & case.forbidden
    assert all(found.overlay.degrees()[v] <= cap for v, cap in (case.caps or {}).items())
    assert naive_hops(interest, found.overlay) <= naive_hops(interest, start.overlay)
    if objective != "cost":
        assert len(after) <= len(before)
    costs, times, rates = costs_of(limits), times_of(limits), limits.rates.tolist()
    slowest = max(times.values(), default=0.0)
    figures = {
        "edges": len,
        "max-degree": lambda edges: degree(overlay_on(interest, list(edges))),
        "hops": lambda edges: naive_hops(interest, overlay_on(interest, list(edges))),
        "mean-hops": lambda edges: np.mean(
            naive_all_hops(interest, overlay_on(interest, list(edges))) or [0]
        ),
        "cost": lambda edges: sum(costs.get(pair, 1.0) for pair in edges),
        "rate-hops": lambda edges: naive_delivery(interest, edges, rates),
        "rate-ms": lambda edges: naive_delivery(interest, edges, rates, lambda p: times.get(p, slowest)),
    }
    assert figures[objective](after) <= figures[objective](before) + 1e-9

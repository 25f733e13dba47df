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
from naive.measures import topic_component_counts
from naive.overlays import overlay_on, random_interest, ring_per_topic
from naive.survival import naive_fragile
from strategies import interests
from topicloom.errors import TopicloomError
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.builders.hops import topic_hops
from topicloom.overlay.builders.improve import improve_overlay
from topicloom.overlay.builders.improve_goals import OBJECTIVES
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

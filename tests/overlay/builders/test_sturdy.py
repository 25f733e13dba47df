"""Sturdy overlays: judged by taking every node and pair away, under every constraint, against broken ones."""

from __future__ import annotations

from itertools import combinations
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.constrained_cases import cases
from naive.overlays import random_interest
from naive.survival import naive_fragile, naive_parts
from strategies import interests
from topicloom.base.progress import SILENT
from topicloom.errors import UsageError
from topicloom.overlay.builders.balanced import build_balanced
from topicloom.overlay.builders.hops import topic_hops
from topicloom.overlay.builders.registry import run_builder
from topicloom.overlay.builders.split_saving import spend_edges
from topicloom.overlay.builders.sturdy import ConstrainedTask, build_sturdy
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def edges_of(overlay: Overlay) -> set[tuple[int, int]]:
    return set(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))


@given(interest=interests(max_nodes=11), deaths=st.sampled_from([1, 2]), work=st.sampled_from([0, 5]))
@examples(80)
def test_every_topic_survives(interest: Interest, deaths: int, work: int) -> None:
    build = build_sturdy(interest, survive=deaths, work=work)
    assert not naive_fragile(interest, build.overlay, deaths)
    assert build.report["survives"] or not build.n_edges


@pytest.mark.parametrize("deaths", [1, 2])
def test_larger_topics_survive(deaths: int) -> None:
    interest = random_interest(60, 6, 2, seed=4)
    build = build_sturdy(interest, survive=deaths, work=1)
    assert not naive_fragile(interest, build.overlay, deaths)


@given(case=cases(max_nodes=9), deaths=st.sampled_from([1, 2]), costs=st.sampled_from(["tie", "weight"]))
@examples(80)
def test_constraints_hold_and_the_report_is_true(case, deaths: int, costs: str) -> None:
    """Caps, forbidden and fixed pairs; what does not survive is named, and without constraints all does."""
    build = run_builder(
        "balanced",
        case.interest,
        constraints=case.constraints,
        start=case.start,
        survive=deaths,
        costs=costs,
        work=1,
    )
    edges, degrees = edges_of(build.overlay), build.overlay.degrees().tolist()
    assert not edges & case.forbidden
    assert edges >= case.fixed
    assert all(degrees[v] <= cap for v, cap in (case.caps or {}).items())
    fragile = naive_fragile(case.interest, build.overlay, deaths)
    assert build.report["survives"] == (not fragile)
    assert build.report.get("topics_fragile_count", 0) == len(fragile)
    names = {case.interest.topic_ids[topic].as_py() for topic in fragile}
    assert set(build.report.get("topics_fragile", [])) == names
    if case.caps is None and not case.forbidden:
        assert not fragile


def test_a_bound_on_hops_is_kept_while_edges_go() -> None:
    interest = random_interest(120, 4, 2, seed=2)
    build = build_sturdy(interest, survive=1, max_hops=8, work=5)
    assert topic_hops(interest, build.overlay).max() <= 8
    assert build.report["hops_kept"] and build.report["survives"]


@given(interest=interests(max_nodes=8), percent=st.sampled_from([10, 50]))
@examples(30)
def test_extra_edges_are_the_greedy_choice(interest: Interest, percent: int) -> None:
    """Each saves as much as any pair could then; none is spent where nothing is left to save."""
    before = build_balanced(interest, work=0)
    budget = ceil(percent * before.n_edges / 100)
    task = ConstrainedTask.of(interest)
    taken = edges_of(before.overlay)
    for spent in range(1, budget + 1):
        edges = (before.overlay.u, before.overlay.v)
        found, _ = spend_edges(task, edges, spent, interest.n_nodes, SILENT)
        now = edges_of(Overlay.from_edges(interest.node_ids, *found))
        have = parts_of(interest, taken)
        if len(now) == len(taken):
            assert have == 0
            break
        assert taken < now and len(now) == before.n_edges + spent
        pairs = set(combinations(range(interest.n_nodes), 2)) - taken
        assert parts_of(interest, now) == min(parts_of(interest, taken | {pair}) for pair in pairs)
        taken = now


def parts_of(interest: Interest, edges: set[tuple[int, int]]) -> int:
    ends = [u for u, _ in edges], [v for _, v in edges]
    return naive_parts(interest, Overlay.from_edges(interest.node_ids, *ends))


def test_extra_edges_stay_in_the_budget_and_heed_constraints() -> None:
    interest = random_interest(80, 10, 3, seed=1)
    plain = build_sturdy(interest, work=1)
    more = build_sturdy(interest, work=1, extra_edges=10)
    assert plain.n_edges < more.n_edges <= ceil(1.1 * plain.n_edges)
    assert edges_of(plain.overlay) < edges_of(more.overlay)
    assert more.report["edges_added"] == more.n_edges - plain.n_edges


def test_deaths_and_extra_edges_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="extra_edges=5"):
        build_sturdy(random_interest(5, 2, 1), survive=1, extra_edges=5)


def test_the_same_seed_gives_the_same_edges() -> None:
    interest = random_interest(60, 8, 3, seed=5)
    one, other = (build_sturdy(interest, survive=1, threads=t, work=2) for t in (1, 2))
    assert one.overlay.u.tolist() == other.overlay.u.tolist()
    assert one.overlay.v.tolist() == other.overlay.v.tolist()

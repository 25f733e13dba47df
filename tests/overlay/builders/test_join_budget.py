"""As many joins as N edges can make: against all sets of N edges, and the greedy rule as it reads."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.constrained_cases import cases
from naive.greedy import State, naive_gm
from naive.measures import topic_component_counts
from naive.overlays import overlay_on, random_interest
from strategies import interests
from topicloom.errors import TopicloomError, UsageError
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.builders.registry import run_builder
from topicloom.overlay.model.constraints import Constraints, NodePairs
from topicloom.overlay.model.interest import Interest

SHARE = 1 - 1 / math.e


def joined(interest: Interest, edges, rates) -> float:
    """The weight of the joins that edges make."""
    counts = topic_component_counts(interest, overlay_on(interest, list(edges)))
    sizes = interest.topic_sizes().tolist()
    return sum(rate * (size - count) for rate, size, count in zip(rates, sizes, counts, strict=True))


def edges_of(build) -> set[tuple[int, int]]:
    return set(zip(build.overlay.u.tolist(), build.overlay.v.tolist(), strict=True))


def naive_by_weight(interest: Interest, rates, most: int) -> list[tuple[int, int]]:
    """The pair of the largest weight each time; ties by the smallest nodes."""
    state, chosen = State(interest), []

    def weight(pair) -> float:
        return sum(rates[topic] for topic in sorted(state.joins(*pair)))

    for _ in range(most):
        free = [p for p in combinations(range(interest.n_nodes), 2) if p not in state.taken]
        best = min(free, key=lambda pair: (-weight(pair), pair), default=None)
        if best is None or weight(best) <= 0:  # what weighs nothing comes last
            best = min(free, key=lambda pair: (-len(state.joins(*pair)), pair), default=None)
        if best is None or not state.joins(*best):
            break
        state.add(*best)
        chosen.append(best)
    return chosen


@given(interest=interests(max_nodes=6, max_topics=5), most=st.integers(0, 5), seed=st.integers(0, 30))
@examples(60)
def test_at_least_its_share_of_what_any_set_of_edges_joins(interest: Interest, most: int, seed: int) -> None:
    lots = np.random.default_rng(seed)
    pairs = list(combinations(range(interest.n_nodes), 2))
    for rates in (None, np.round(lots.uniform(0, 9, interest.n_topics), 1)):
        limits = Constraints(rates=rates)
        weights = [1.0] * interest.n_topics if rates is None else rates.tolist()
        build = build_gm(interest, constraints=limits, max_edges=most)
        best = max(joined(interest, some, weights) for some in combinations(pairs, min(most, len(pairs))))
        mine = joined(interest, edges_of(build), weights)
        assert build.n_edges <= most and SHARE * best - 1e-9 <= mine <= best + 1e-9
        assert build.report["joins"] == joined(interest, edges_of(build), [1.0] * interest.n_topics)
        assert build.report["joins"] + build.report["joins_open"] == int(
            np.maximum(interest.topic_sizes() - 1, 0).sum()
        )
        if rates is not None:
            assert build.report["weight_joined"] == pytest.approx(mine)


@given(interest=interests(max_nodes=8), most=st.integers(0, 12), seed=st.integers(0, 30))
@examples(60)
def test_it_is_the_greedy_rule_exactly(interest: Interest, most: int, seed: int) -> None:
    steps = naive_gm(interest)[:most]
    build = build_gm(interest, max_edges=most)
    assert build.report["joins"] == sum(step[2] for step in steps)
    rates = np.round(np.random.default_rng(seed).uniform(0, 9, interest.n_topics))
    weighed = build_gm(interest, constraints=Constraints(rates=rates), max_edges=most)
    assert edges_of(weighed) == set(naive_by_weight(interest, rates, most))


@given(case=cases(max_nodes=8), seed=st.integers(0, 9))
@examples(40)
def test_constraints_hold_and_fixed_edges_count(case, seed: int) -> None:
    rates = np.random.default_rng(seed).uniform(0, 5, case.interest.n_topics)
    most = len(case.fixed) + 2
    weighed = replace(case.constraints, rates=rates, priced=NodePairs(), costs=np.zeros(0))
    for limits in (case.constraints, weighed):
        build = run_builder("gm", case.interest, constraints=limits, start=case.start, max_edges=most)
        edges, degrees = edges_of(build), build.overlay.degrees().tolist()
        assert case.fixed <= edges and not edges & case.forbidden and len(edges) <= most
        assert all(degrees[v] <= cap for v, cap in (case.caps or {}).items())
    if case.fixed:
        with pytest.raises(TopicloomError, match="max_edges=0"):
            run_builder("gm", case.interest, constraints=case.constraints, start=case.start, max_edges=0)


def test_all_of_the_edges_is_gm_and_odd_requests_are_refused() -> None:
    interest = random_interest(40, 8, 3, seed=1)
    whole = build_gm(interest)
    assert build_gm(interest, max_edges=10**6).n_edges == whole.n_edges
    with pytest.raises(UsageError, match="redundancy=2"):
        build_gm(interest, max_edges=3, redundancy=2)
    with pytest.raises(UsageError, match="without `max_edges`"):
        build_gm(interest, constraints=Constraints(rates=np.ones(interest.n_topics)))


def test_topics_without_a_rate_are_joined_by_the_edges_that_are_left() -> None:
    interest = random_interest(30, 6, 3, seed=4)
    rates = np.zeros(interest.n_topics)
    rates[2] = 5.0
    few = int(interest.topic_sizes()[2]) - 1
    first = build_gm(interest, constraints=Constraints(rates=rates), max_edges=few)
    assert first.report["weight_open"] == 0.0 and first.report["joins_open"] > 0
    whole = build_gm(interest, constraints=Constraints(rates=rates), max_edges=10**6)
    assert whole.report["joins_open"] == 0 and edges_of(first) <= edges_of(whole)


def test_costs_are_refused_where_joins_are_weighed() -> None:
    interest = random_interest(30, 6, 3, seed=4)
    names = interest.node_ids.to_pylist()
    rates = {interest.topic_ids[0].as_py(): 1.0}
    limits = Constraints.of(interest, rates=rates, costs={(names[0], names[1]): 2.0})
    with pytest.raises(TopicloomError, match="looks at no costs"):
        build_gm(interest, constraints=limits, max_edges=3)

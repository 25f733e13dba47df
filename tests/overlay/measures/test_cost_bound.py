"""The bound on costs: below every overlay there is, proved exactly; what is too much is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom
from drawing import examples
from naive.constrained_cases import cases
from naive.overlays import random_interest
from naive.weights import all_overlays, costs_of
from topicloom import Constraints, Interest
from topicloom.base.summaries import UNSET
from topicloom.errors import InputError, UsageError
from topicloom.overlay.jobs.certify import certificate_told, certify
from topicloom.overlay.measures.cost_bound import _prices, bound_cost, check_shares, topic_shares


@given(case=cases(max_nodes=5))
@examples(60)
def test_no_overlay_costs_less(case) -> None:
    costs, bound = costs_of(case.constraints), bound_cost(case.interest, case.constraints)
    allowed = (
        sum(costs.get(pair, 1.0) for pair in edges)
        for edges in all_overlays(case.interest, 10, 9)
        if not edges & case.forbidden
    )
    assert bound <= min(allowed, default=float("inf"))


@given(case=cases(max_nodes=7), node=st.integers(0, 6))
@examples(60)
def test_shares_are_proved_exactly_and_larger_ones_refused(case, node: int) -> None:
    """A planted fault: the dearest share a little larger than its part of the price."""
    interest, limits = case.interest, case.constraints
    node %= interest.n_nodes
    found = topic_shares(interest, _prices(limits, interest.n_nodes), node)
    # The bound takes a billionth off in the end; here each share comes down by as much.
    down = 1 - Fraction(1, 10**9)
    shares = dict(zip(interest.topics_of(node).tolist(), (Fraction(s) * down for s in found), strict=True))
    assert check_shares(interest, limits, node, shares)
    allowed = [
        other
        for other in range(interest.n_nodes)
        if other != node and (min(node, other), max(node, other)) not in case.forbidden
    ]
    topics = [t for t in shares if any(t in interest.topics_of(other) for other in allowed)]
    if topics:
        whole = {topic: Fraction(10) for topic in shares}
        assert not check_shares(interest, limits, node, whole)


def test_under_costs_nothing_is_called_optimal_and_the_bounds_say_what_they_leave_out() -> None:
    interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")])
    limits = Constraints.of(interest, caps=3, costs={("a", "b"): 5.0})
    edges = [("a", "b"), ("b", "c")]
    free = topicloom.measure(interest, edges, certify=True)
    assert "optimal" in "".join(certificate_told(certify(interest, free), free))
    found = topicloom.measure(interest, edges, certify=True, constraints=limits)
    assert found["cost_total"] == 6.0 and found["cost_bound"] == pytest.approx(6.0)
    assert found["bound_constraints"] == ["caps", "costs"]
    told = certificate_told(certify(interest, found, constraints=limits), found)
    assert "without constraints" in told[0] and "(caps, costs)" in told[0]
    assert not any(line.startswith("optimal") for line in told) and "no overlay costs less than 6" in told[-1]


def test_a_bound_on_a_table_of_some_size_is_near() -> None:
    interest = random_interest(60, 10, 3, seed=1)
    limits = Constraints.of(interest, costs={tuple(interest.node_ids.to_pylist()[:2]): 3.0})
    build = topicloom.improve(
        interest, topicloom.build(interest, "gm"), objective="cost", constraints=limits, rounds=4
    )
    assert 0.3 * build.report["objective"] < bound_cost(interest, limits) <= build.report["objective"]


def test_limits_of_another_interest_and_no_dictionaries_are_refused() -> None:
    interest = Interest.from_pairs([("a", "x"), ("b", "x")])
    other = Constraints.of(Interest.from_pairs([("p", "x"), ("q", "x")]), costs={("p", "q"): 5.0})
    with pytest.raises(InputError, match="other nodes than the interest's"):
        topicloom.measure(interest, [("a", "b")], constraints=other)
    for argument in ("rates", "rtt", "costs", "load_caps"):
        with pytest.raises(UsageError, match=f"`{argument}` takes a dictionary of numbers by"):
            Constraints.of(interest, **{argument: 5})


def test_there_is_no_gap_to_overlays_that_survive_and_rates_demand_nothing() -> None:
    interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    limits = Constraints.of(interest, rates={"x": 1.0})
    path = topicloom.measure(interest, [("a", "b"), ("b", "c"), ("c", "d")], constraints=limits)
    weak = certify(interest, path, survive=1, survives=False, constraints=limits)
    assert weak.gap is None and weak.degree_max_gap is None and weak.bound_constraints is UNSET
    (told,) = certificate_told(weak, path)
    assert "do not survive: any overlay that survives 1 death has at least 4 edges" in told
    assert certify(interest, path, survive=1, constraints=limits).gap is not None

"""Balanced under constraints: every limit respected, honest reports, costs heeded."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.constrained import possible
from naive.constrained_cases import cases
from naive.overlay_trees import is_connected
from strategies import interests
from topicloom.overlay.builders.balanced import build_balanced
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.builders.registry import run_builder
from topicloom.overlay.model.constraints import Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

pytestmark = pytest.mark.slow

RANDOM = generate_interest(workload_from_options(60, 15, "3:6", "zipf:1", 4))


def edges_of(overlay):
    return set(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))


def connected(interest, build):
    return is_connected(interest, edges_of(build.overlay))


@examples(80)
@given(case=cases(max_nodes=11), costs=st.sampled_from(["tie", "weight"]), work=st.sampled_from([0, "auto"]))
def test_every_limit_is_respected_and_the_report_tells_what_is_split(case, costs, work):
    build = run_builder(
        "balanced", case.interest, constraints=case.constraints, start=case.start, costs=costs, work=work
    )
    edges, degrees = edges_of(build.overlay), build.overlay.degrees().tolist()
    assert not edges & case.forbidden
    assert edges >= case.fixed
    assert all(degrees[v] <= cap for v, cap in (case.caps or {}).items())
    assert ("topics_split" in build.report) != connected(case.interest, build)
    if case.costs:
        assert build.report["cost_total"] == sum(case.costs.get(edge, 1.0) for edge in edges)
    json.dumps(build.report)


@examples(60)
@given(case=cases(max_nodes=6))
def test_what_is_said_to_be_impossible_is(case):
    build = run_builder("balanced", case.interest, constraints=case.constraints, start=case.start)
    if build.report.get("impossible"):
        assert not possible(case.interest, case.caps or {}, case.forbidden, case.fixed), build.report


def test_a_hub_that_is_capped_too_low_is_named():
    pairs = [(node, f"t{i}") for i in range(5) for node in ("hub", f"leaf{i}")]
    interest = Interest.from_pairs(pairs)
    build = run_builder("balanced", interest, constraints=Constraints.of(interest.node_ids, caps={"hub": 3}))
    assert build.overlay.n_edges == 3
    assert build.report["topics_split_count"] == 2
    assert build.report["nodes_at_cap"] == ["hub"]
    assert build.report["smallest_cap"] == 5
    assert build.report["impossible"] == "node 'hub' needs at least 5 edges for its topics, its cap is 3"
    assert build.parameters["constraints"] == {"caps": 1}


def test_forbidden_pairs_that_cut_a_topic_are_named_and_no_cap_is_promised():
    interest = Interest.from_pairs(
        [(node, topic) for node in "abcd" for topic in "xy"] + [("e", "z"), ("f", "z")]
    )
    wall = [(u, v) for u in "ab" for v in "cd"]
    build = run_builder(
        "balanced",
        interest,
        constraints=Constraints.of(interest.node_ids, caps=2, forbid=[*wall, ("e", "f")]),
    )
    assert build.report["topics_cut_by_forbidden"] == ["x", "y", "z"]
    assert build.report["smallest_cap"] is None
    assert build.report["impossible"] == "forbidden pairs cut topic 'x'"
    assert build.overlay.n_edges == 2


@examples(25)
@given(interest=interests(max_nodes=10, max_topics=6), cap=st.integers(1, 2))
def test_no_smaller_cap_would_do(interest, cap):
    """The builder itself, called with every cap from 0 on, first succeeds at the one that is reported."""
    caps = np.full(interest.n_nodes, cap, np.int32)
    build = run_builder("balanced", interest, constraints=Constraints(caps))
    if "topics_split" not in build.report:
        return

    def succeeds(at_least: int) -> bool:
        raised = Constraints(np.maximum(caps, np.int32(at_least)))
        return "topics_split" not in run_builder("balanced", interest, constraints=raised).report

    assert build.report["smallest_cap"] == next(c for c in range(interest.n_nodes + 1) if succeeds(c))


def test_a_start_with_a_hub_stays_and_everybody_else_keeps_the_cap():
    """The hub is far above any cap; that must neither raise the cap of others nor leave no room for them."""
    hub = Overlay.from_edges(RANDOM.node_ids, np.zeros(25, np.int32), np.arange(1, 26, dtype=np.int32))
    build = run_builder("balanced", RANDOM, start=hub)
    degrees = build.overlay.degrees()
    assert connected(RANDOM, build)
    assert edges_of(build.overlay) >= edges_of(hub)
    assert degrees[0] == 25
    assert degrees[1:].max() <= 6


@pytest.mark.parametrize(("n_nodes", "n_topics", "least", "instances"), [(8, 6, 2, 40), (40, 15, 3, 20)])
def test_where_gm_keeps_within_caps_balanced_mostly_does_too(n_nodes, n_topics, least, instances):
    """Over tight random instances; of the small ones an exhaustive search knows whether there is a way."""
    gm = ours = there = 0
    for seed in range(instances):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, least + 2, n_nodes)
        pairs = [
            (f"n{v:02}", f"t{t:02}")
            for v in range(n_nodes)
            for t in rng.choice(n_topics, sizes[v], replace=False)
        ]
        interest = Interest.from_pairs(pairs)
        caps = rng.integers(least, least + 2, n_nodes).astype(np.int32)
        build = build_balanced(interest, constraints=Constraints(caps))
        assert ("topics_split" in build.report) != connected(interest, build)
        ours += "topics_split" not in build.report
        gm += not build_gm(interest, constraints=Constraints(caps)).report
        there += n_nodes > 8 or possible(interest, dict(enumerate(caps.tolist())))
    assert 0 < gm < instances, "the instances are all too easy or too hard"
    assert 0.9 * gm <= ours <= there


# --- costs -------------------------------------------------------------------------------------------------


def test_costs_as_a_weight_pay_for_cheapness_with_edges():
    """a and b share both topics but are far apart; c and d are near everyone."""
    interest = Interest.from_pairs(
        [*((node, topic) for node in "ab" for topic in "xy"), ("c", "x"), ("d", "y")]
    )
    far = Constraints.of(interest.node_ids, costs={("a", "b"): 9.0})
    found = {
        costs: run_builder("balanced", interest, constraints=far, costs=costs) for costs in ("tie", "weight")
    }
    assert {key: build.overlay.n_edges for key, build in found.items()} == {"tie": 3, "weight": 4}
    assert {key: build.report["cost_total"] for key, build in found.items()} == {"tie": 11.0, "weight": 4.0}


def test_costs_are_heeded():
    """Half of all pairs cost ten times as much: the overlay mostly does without them."""
    rng = np.random.default_rng(1)
    names = RANDOM.node_ids.to_pylist()
    dear = {(u, v): 10.0 for i, u in enumerate(names) for v in names[i + 1 :] if rng.random() < 0.5}
    limits = Constraints.of(RANDOM.node_ids, costs=dear)
    heedless = limits.cost_of(build_balanced(RANDOM).overlay)
    tie, weight = (
        run_builder("balanced", RANDOM, constraints=limits, costs=costs).report["cost_total"]
        for costs in ("tie", "weight")
    )
    assert weight < tie < heedless

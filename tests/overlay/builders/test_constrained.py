"""Builders under constraints: every limit respected, honest reports, refusals by name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.constrained import possible
from naive.constrained_cases import cases
from naive.measures import topic_component_counts
from strategies import interests
from topicloom.base.progress import SILENT, Stopwatch
from topicloom.errors import InputError, UsageError
from topicloom.overlay.builders.constrained import ConstrainedTask, check_constraints, choose_constrained
from topicloom.overlay.builders.diagnosis import Demand, diagnose, is_cut, split_topics
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.builders.registry import BUILDERS, check_honours, run_builder
from topicloom.overlay.model.constraints import Constraints, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def edge_set(overlay):
    return set(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))


# --- every limit, always -----------------------------------------------------------------------------------


@examples(80)
@given(case=cases(max_nodes=12), redundancy=st.integers(1, 2))
def test_every_limit_is_respected(case, redundancy):
    for name, builder in BUILDERS.items():
        if set(case.constraints.kinds()) | {"start"} <= set(builder.honours):
            extra = {"redundancy": redundancy} if name == "gm" else {}
            build = run_builder(name, case.interest, constraints=case.constraints, start=case.start, **extra)
            edges, degrees = edge_set(build.overlay), build.overlay.degrees().tolist()
            assert not edges & case.forbidden
            assert edges >= case.fixed
            assert all(degrees[v] <= cap for v, cap in (case.caps or {}).items())
            connected = all(count <= 1 for count in topic_component_counts(case.interest, build.overlay))
            if case.constraints.kinds() or case.start is not None:
                assert ("topics_split" in build.report) != connected


@examples(60)
@given(case=cases(max_nodes=6))
def test_what_is_said_to_be_impossible_is(case):
    build = run_builder("gm", case.interest, constraints=case.constraints, start=case.start)
    if build.report.get("impossible"):
        assert not possible(case.interest, case.caps or {}, case.forbidden, case.fixed), build.report


# --- what stays split --------------------------------------------------------------------------------------


def star(n_leaves: int) -> Interest:
    """A hub that shares a topic of its own with each leaf: it needs as many edges as there are leaves."""
    return Interest.from_pairs([(node, f"t{i}") for i in range(n_leaves) for node in ("hub", f"leaf{i}")])


def test_the_report_names_topics_nodes_and_the_cap_that_would_do():
    interest = star(5)
    build = run_builder("gm", interest, constraints=Constraints.of(interest.node_ids, caps={"hub": 3}))
    assert build.overlay.n_edges == 3
    assert build.report["topics_split"] == ["t3", "t4"]
    assert build.report["topics_split_count"] == 2
    assert build.report["nodes_at_cap"] == ["hub"]
    assert build.report["smallest_cap"] == 5
    assert build.report["impossible"] == "node 'hub' needs at least 5 edges for its topics, its cap is 3"
    assert build.parameters["constraints"] == {"caps": 1}


def test_caps_of_one_leave_no_room_for_a_topic_of_three():
    interest = Interest.from_pairs([(node, "x") for node in "abc"])
    build = run_builder("gm-m", interest, constraints=Constraints.of(interest.node_ids, caps=1))
    assert (
        build.report["impossible"] == "topic 'x' needs 2 edges among its 3 nodes, their caps leave room for 1"
    )
    assert build.report["smallest_cap"] == 2
    assert build.report["nodes_at_cap"] == ["a", "b"]


def test_long_lists_are_cut_and_counted():
    interest = star(50)
    build = run_builder("gm", interest, constraints=Constraints.of(interest.node_ids, caps={"hub": 1}))
    assert (len(build.report["topics_split"]), build.report["topics_split_count"]) == (20, 49)


def test_forbidden_pairs_that_cut_a_topic_are_named_and_no_cap_is_promised():
    interest = Interest.from_pairs(
        [(node, topic) for node in "abcd" for topic in "xy"] + [("e", "z"), ("f", "z")]
    )
    wall = [(u, v) for u in "ab" for v in "cd"]
    build = run_builder(
        "gm", interest, constraints=Constraints.of(interest.node_ids, caps=2, forbid=[*wall, ("e", "f")])
    )
    assert build.report["topics_cut_by_forbidden"] == ["x", "y", "z"]
    assert build.report["smallest_cap"] is None
    assert build.report["impossible"] == "forbidden pairs cut topic 'x'"
    assert build.overlay.n_edges == 2


@examples(60)
@given(case=cases(max_nodes=7))
def test_a_cut_is_a_cut(case):
    for topic in range(case.interest.n_topics):
        only = Interest.from_codes(
            case.interest.node_ids,
            case.interest.topic_ids,
            case.interest.nodes_of(topic),
            np.full(len(case.interest.nodes_of(topic)), topic, np.int32),
        )
        assert is_cut(case.interest, case.constraints.forbidden, topic) != possible(only, {}, case.forbidden)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gm", "gm-m"])
@examples(30)
@given(interest=interests(max_nodes=10, max_topics=6), cap=st.integers(1, 2))
def test_no_smaller_cap_would_do(name, interest, cap):
    """The builder itself, called with every cap from 0 on, first succeeds at the one that is reported."""
    caps = np.full(interest.n_nodes, cap, np.int32)
    build = run_builder(name, interest, constraints=Constraints(caps))
    if not build.report:
        return

    def succeeds(at_least: int) -> bool:
        raised = Constraints(np.maximum(caps, np.int32(at_least)))
        return not run_builder(name, interest, constraints=raised).report

    assert build.report["smallest_cap"] == next(c for c in range(interest.n_nodes + 1) if succeeds(c))


@pytest.mark.slow
def test_a_wide_range_of_caps_is_halved():
    interest = star(20)
    caps = np.full(interest.n_nodes, 1, np.int32)
    tried = []

    def rebuild(raised):
        tried.append(int(raised.max()))
        return build_gm(interest, constraints=Constraints(raised)).overlay

    constraints = Constraints(caps)
    overlay = build_gm(interest, constraints=constraints).overlay
    # Without the proof that the hub needs 20 edges there is a range to search.
    from topicloom.overlay.builders import diagnosis

    demand = Demand(
        interest, np.zeros(interest.n_nodes, np.int32), np.zeros(interest.n_subscriptions, np.int32)
    )
    assert diagnosis._smallest_cap(interest, caps, demand, rebuild, SILENT) == 20
    assert len(tried) < 14
    task = ConstrainedTask.of(interest, constraints)
    report = diagnose(task, overlay, lambda other, _: rebuild(other.constraints.caps), Stopwatch(SILENT))
    assert report["smallest_cap"] == 20


def test_a_greedy_that_is_stuck_exchanges_edges():
    """Over many tight instances the build finds almost all overlays that exist, far more than one run."""
    plain = built = there = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        pairs = {
            (f"n{v}", f"t{t}") for v in range(8) for t in rng.choice(6, rng.integers(1, 4), replace=False)
        }
        interest = Interest.from_pairs(sorted(pairs))
        caps = rng.integers(2, 4, interest.n_nodes).astype(np.int32)
        constraints = Constraints(caps)
        build = build_gm(interest, constraints=constraints)
        task = ConstrainedTask.of(interest, constraints)
        first = choose_constrained(task, phases=False, progress=SILENT)
        plain += first.open_joins == 0
        built += not build.report
        there += possible(interest, dict(enumerate(caps.tolist())))
        assert bool(build.report) == bool(len(split_topics(interest, build.overlay)))
    assert plain < built <= there
    assert there - built <= 1


# --- refusals ----------------------------------------------------------------------------------------------

KINDS = {
    "caps": {"caps": 3},
    "forbid": {"forbid": [("a", "b")]},
    "require": {"require": [("a", "b")]},
    "costs": {"costs": {("a", "b"): 2.0}},
}
TRIANGLE = Interest.from_pairs([(node, "x") for node in "abc"])


@pytest.mark.parametrize("kind", [*KINDS, "start"])
@pytest.mark.parametrize("name", list(BUILDERS))
def test_a_builder_honours_a_kind_or_refuses_it_by_name(name, kind):
    constraints = Constraints.of(TRIANGLE.node_ids, **KINDS.get(kind, {}))
    start = Overlay.from_edges(TRIANGLE.node_ids, [0], [1]) if kind == "start" else None
    if kind in BUILDERS[name].honours:
        build = run_builder(name, TRIANGLE, constraints=constraints, start=start)
        assert list(build.parameters["constraints"]) == [kind]
    else:
        with pytest.raises(UsageError, match=f"^{name} does not honour `{kind}`; .*gm, gm-m.* do$"):
            run_builder(name, TRIANGLE, constraints=constraints, start=start)


def test_an_unknown_kind_is_honoured_by_nobody():
    with pytest.raises(UsageError, match="no builder"):
        check_honours("gm", ["weather"])


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"forbid": [("b", "a")], "require": [("a", "b")]}, "'a', 'b' is both required and forbidden"),
        (
            {"caps": {"a": 1}, "require": [("a", "b"), ("a", "c")]},
            "'a' has 2 required edges, above its cap of 1",
        ),
        ({"caps": {"z": 1}}, "'z' is not a node"),
        ({"forbid": [("a", "z")]}, "'z' is not a node"),
        ({"forbid": [("a", "a")]}, "paired with itself"),
        ({"caps": {"a": -1}}, "cap of 'a' is -1"),
        ({"caps": {"a": 1.5}}, "cap of 'a' is 1.5"),
        ({"caps": float("inf")}, "cap of all nodes is inf"),
        ({"costs": {("a", "b"): 0.0}}, "cost is a finite number above 0"),
        ({"costs": {("a", "b"): float("nan")}}, "cost is a finite number above 0"),
        ({"costs": {("a", "b"): 1.0, ("b", "a"): 2.0}}, "two different costs"),
    ],
)
def test_contradictions_are_refused_in_one_sentence(limits, message):
    with pytest.raises(InputError, match=message) as caught:
        check_constraints(TRIANGLE, Constraints.of(TRIANGLE.node_ids, **limits), None)
    assert "\n" not in str(caught.value)


def test_existing_edges_above_a_cap_are_a_contradiction_but_forbidden_ones_are_left_out():
    start = Overlay.from_edges(TRIANGLE.node_ids, [0, 0], [1, 2])
    with pytest.raises(InputError, match="'a' has 2 required or existing"):
        run_builder("gm", TRIANGLE, constraints=Constraints.of(TRIANGLE.node_ids, caps=1), start=start)
    wall = Constraints.of(TRIANGLE.node_ids, forbid=[("a", "b")])
    build = run_builder("gm", TRIANGLE, constraints=wall, start=start)
    assert edge_set(build.overlay) == {(0, 2), (1, 2)}
    assert build.report == {"start_left_out": 1}


def test_limits_for_another_interest_are_refused():
    other = Overlay.from_edges(star(3).node_ids, [0], [1])
    with pytest.raises(InputError, match="other nodes"):
        run_builder("gm", TRIANGLE, start=other)
    with pytest.raises(InputError, match="2 caps were given for 3 nodes"):
        run_builder("gm", TRIANGLE, constraints=Constraints(np.ones(2, np.int32)))
    with pytest.raises(InputError, match=r"outside 0\.\.2"):
        run_builder("gm", TRIANGLE, constraints=Constraints(forbidden=NodePairs.of([0], [7], 9)))


# --- what costs do -----------------------------------------------------------------------------------------


def test_costs_break_ties():
    interest = Interest.from_pairs([*((node, topic) for node in "abc" for topic in "xy"), ("d", "x")])
    costs = {("a", "b"): 9.0, ("a", "c"): 0.5, ("b", "c"): 0.5}
    build = run_builder("gm", interest, constraints=Constraints.of(interest.node_ids, costs=costs))
    assert edge_set(build.overlay) >= {(0, 2), (1, 2)}
    assert build.report["cost_total"] == 2.0


def test_costs_as_a_weight_pay_for_cheapness_with_edges():
    """a and b share both topics but are far apart; c and d are near everyone."""
    interest = Interest.from_pairs(
        [*((node, topic) for node in "ab" for topic in "xy"), ("c", "x"), ("d", "y")]
    )
    far = Constraints.of(interest.node_ids, costs={("a", "b"): 9.0})
    found = {costs: run_builder("gm", interest, constraints=far, costs=costs) for costs in ("tie", "weight")}
    assert {key: build.overlay.n_edges for key, build in found.items()} == {"tie": 3, "weight": 4}
    assert {key: build.report["cost_total"] for key, build in found.items()} == {"tie": 11.0, "weight": 4.0}


def test_required_edges_are_there_even_without_a_common_topic():
    interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")])
    build = run_builder("gm-m", interest, constraints=Constraints.of(interest.node_ids, require=[("d", "a")]))
    assert edge_set(build.overlay) == {(0, 1), (0, 3), (2, 3)}

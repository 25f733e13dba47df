"""Which builder runs when none is named: balanced, unless its time model says that it takes too long."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

import topicloom.overlay.builders.default as default
from topicloom import build
from topicloom.base.ids import numbered_ids
from topicloom.overlay.builders.balanced import Balance, build_balanced
from topicloom.overlay.builders.default import choose_default, expected_seconds, told_work
from topicloom.overlay.builders.registry import parse_parameters, run_builder
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.model.constraints import Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

SMALL = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")])
OF_BALANCED = parse_parameters("balanced", [])


@pytest.fixture
def in_a_hurry(monkeypatch):
    """Everything takes too long."""
    monkeypatch.setattr(default, "MOST_SECONDS", -1.0)


def crowded(n_nodes: int) -> Interest:
    """One topic that everybody wants: a scan of all rows compares everybody with everybody."""
    everybody = np.arange(n_nodes, dtype=np.int32)
    return Interest.from_codes(
        numbered_ids("n", n_nodes), numbered_ids("t", 1), everybody, np.zeros_like(everybody)
    )


def test_a_small_interest_gets_balanced_with_its_parameters():
    choice = choose_default(SMALL, OF_BALANCED, bound=False)
    assert (choice.algorithm, choice.parameters) == ("balanced", OF_BALANCED)
    assert choice.reason.startswith("balanced: no algorithm was named")


def test_an_interest_beyond_ten_minutes_gets_the_best_of_what_fits_and_is_told_so():
    """The parameters are those of the builder that runs, not of the one that does not."""
    names = ["balanced", "balanced with one cap", "gm-m", "dcbr-m"]
    choices = [
        choose_default(crowded(n), OF_BALANCED, bound=False) for n in (100_000, 200_000, 300_000, 500_000)
    ]
    assert [choice.name for choice in choices] == names
    assert [choice.algorithm for choice in choices] == ["balanced", "balanced", "gm-m", "dcbr-m"]
    one_cap = {"work": 0.0, "max_hops": "none", "max_degree": "first"}
    assert choices[1].parameters == {**OF_BALANCED, **one_cap}
    for choice in choices[2:]:
        assert choice.parameters == parse_parameters(choice.algorithm, [])
    for name, choice in zip(names[1:], choices[1:], strict=True):
        assert choice.reason.startswith(f"{name}: no algorithm was named")
        assert "min on this machine); `algorithm=balanced` runs it all the same" in choice.reason


def test_what_is_too_large_for_one_process_goes_to_spark():
    choice = choose_default(crowded(200_000), OF_BALANCED, bound=False, here=False)
    assert (choice.algorithm, choice.parameters) == ("dcbr-m", parse_parameters("dcbr-m", []))


def test_the_limit_is_ten_minutes_of_each_model():
    assert default.MOST_SECONDS == 600
    sizes = [1_000, 10_000, 50_000, 100_000, 200_000, 300_000, 400_000]
    seconds = [expected_seconds(crowded(n)) for n in sizes]
    assert seconds == sorted(seconds)
    for n, whole in zip(sizes, seconds, strict=True):
        models = {"balanced": whole} | {way.name: way.seconds(crowded(n)) for way in default.QUICKER}
        assert list(models.values()) == sorted(models.values(), reverse=True)
        fits = [name for name, model in models.items() if model <= 600]
        assert choose_default(crowded(n), OF_BALANCED, bound=False).name == [*fits, "dcbr-m"][0]


def test_one_cap_is_tried_and_nothing_else():
    """What the fallback runs has the edges that the first attempt of the whole build has."""
    way = default.QUICKER[0]
    interest = generate_interest(workload_from_options(300, 50, "3:8", "zipf:1", 1))
    tried = []
    capped = Balance._capped

    def noted(self, cap, dearest=1.08):
        tried.append(cap)
        return capped(self, cap, dearest)

    with patch.object(Balance, "_capped", noted):
        quick = run_builder(way.algorithm, interest, **parse_parameters(way.algorithm, way.settings))
        assert len(tried) == 1
        whole = build_balanced(interest, work=0, max_hops="none")
    assert len(tried) > 2 and tried[1] == tried[0]
    assert check_overlay(interest, quick.overlay).topic_connected
    assert quick.degree_max >= whole.degree_max


def test_the_first_line_tells_the_moves():
    drawn = generate_interest(workload_from_options(300, 50, "3:8", "zipf:1", 1))
    assert told_work(drawn).startswith("work=auto: 20 moves per edge, ")
    assert told_work(drawn, max_hops="none").startswith("work=auto: 840 moves per edge, about ")
    assert told_work(drawn, max_hops=12).startswith("work=auto: 20 to 80 moves per edge, ")
    assert told_work(drawn, time_limit=90) == "work=auto: as many moves as 90 s allow"
    assert told_work(drawn, 0).startswith("it takes ")


def test_work_counts_in_the_model():
    """Twice the moves take longer; none at all is the quickest."""
    none, some, more = (expected_seconds(SMALL, work) for work in (0, 20, 40.0))
    assert none < some < more
    assert expected_seconds(SMALL, "auto") == some


def test_parameters_and_constraints_of_balanced_are_not_thrown_away(in_a_hurry):
    choice = choose_default(SMALL, {"work": 3}, bound=True)
    assert (choice.algorithm, choice.parameters) == ("balanced", {"work": 3})
    assert choice.reason.startswith("balanced: parameters or constraints")


def test_python_takes_the_same_choice(in_a_hurry, monkeypatch):
    assert build(SMALL).algorithm == "dcbr-m"
    assert build(SMALL, work=1).algorithm == "balanced"
    assert build(SMALL, constraints=Constraints.of(SMALL.node_ids, caps=2)).algorithm == "balanced"
    assert build(SMALL, start=build(SMALL, "gm")).algorithm == "balanced"
    assert build(SMALL, "gm").algorithm == "gm"
    monkeypatch.undo()
    assert build(SMALL).algorithm == "balanced"


def test_surviving_deaths_and_saving_splits_count():
    """A cap on time between what the overlay takes and what surviving takes on top of it."""
    interest = crowded(60_000)
    plain, one, two, saving = (
        default.sturdy_seconds(interest, asked)
        for asked in ({}, {"survive": 1}, {"survive": 2}, {"extra_edges": 10.0})
    )
    assert plain == 0.0 < saving < one < two
    for asked in ({"survive": 2}, {"extra_edges": 5.0}):
        hurried = {**OF_BALANCED, "work": 0, "max_hops": "none"}
        assert choose_default(interest, hurried, bound=False).algorithm == "balanced"
        default_told = choose_default(interest, hurried | asked, bound=True).reason
        assert default_told != choose_default(interest, hurried, bound=True).reason

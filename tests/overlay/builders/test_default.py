"""Which builder runs when none is named: balanced, unless its time model says that it takes too long."""

from __future__ import annotations

import numpy as np
import pytest

import topicloom.overlay.builders.default as default
from topicloom import build
from topicloom.base.ids import numbered_ids
from topicloom.overlay.builders.default import choose_default, expected_seconds
from topicloom.overlay.builders.registry import parse_parameters
from topicloom.overlay.model.constraints import Constraints
from topicloom.overlay.model.interest import Interest

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


def test_an_interest_beyond_ten_minutes_gets_divide_and_conquer_and_is_told_so():
    """The parameters are those of the builder that runs, not of the one that does not."""
    choice = choose_default(crowded(300_000), OF_BALANCED, bound=False)
    assert (choice.algorithm, choice.parameters) == ("dcbr-m", parse_parameters("dcbr-m", []))
    assert choice.reason.startswith("dcbr-m: no algorithm was named")
    assert "min on this machine); `algorithm=balanced` runs it all the same" in choice.reason


def test_the_limit_is_ten_minutes_of_the_model():
    assert default.MOST_SECONDS == 600
    sizes = [1_000, 10_000, 50_000, 100_000, 200_000, 400_000]
    seconds = [expected_seconds(crowded(n)) for n in sizes]
    chosen = [choose_default(crowded(n), OF_BALANCED, bound=False).algorithm for n in sizes]
    assert seconds == sorted(seconds)
    assert chosen == ["balanced" if s <= 600 else "dcbr-m" for s in seconds]
    assert set(chosen) == {"balanced", "dcbr-m"}


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

"""Estimates of time are those of this machine; what is chosen never depends on them."""

from __future__ import annotations

import json

import pytest

import topicloom.base.machine_speed as machine_speed
from topicloom.cli.calibrate import calibrate
from topicloom.overlay.builders.default import choose_default, expected_seconds
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

DRAWN = generate_interest(
    workload_from_options(2000, topics=100, subscriptions="10", popularity="zipf:0.5", seed=1)
)


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(machine_speed, "kept_folder", lambda: tmp_path)
    return tmp_path / machine_speed.NAME


def test_a_speed_is_measured_once_and_again_only_if_asked(kept):
    assert machine_speed.known_speed() is None
    calibrate()
    first = kept.read_bytes()
    assert machine_speed.known_speed() == json.loads(first)["factor"] > 0
    machine_speed.keep_speed(2.0)
    calibrate()
    assert machine_speed.known_speed() == 2.0, "somebody measured it already"
    calibrate(again=True)
    assert machine_speed.known_speed() != 2.0


@pytest.mark.parametrize("text", ["", "{", "[]", '{"factor": 1}', '{"machine": "another", "factor": 1}'])
def test_what_is_not_of_this_machine_is_not_used(kept, text):
    kept.write_text(text)
    assert machine_speed.known_speed() is None


def test_estimates_follow_the_machine_and_choices_do_not(kept, monkeypatch):
    told = {}
    for factor in (1.0, 10.0):
        machine_speed.keep_speed(factor)
        choice = choose_default(DRAWN, {}, bound=False)
        told[factor] = choice.reason
        assert choice.algorithm == "balanced", "also where it takes minutes here"
    seconds = [int(reason.split("about ")[1].split(" ")[0]) for reason in told.values()]
    assert abs(seconds[1] - 10 * seconds[0]) <= 6, "both are rounded"
    monkeypatch.setattr("topicloom.overlay.builders.default.MOST_SECONDS", expected_seconds(DRAWN) - 0.1)
    machine_speed.keep_speed(0.05)
    assert choose_default(DRAWN, {}, bound=False).name != "balanced", "also where it is quick here"


def test_the_model_knows_what_was_measured():
    """Processor seconds of builds on the machine of the fit: the estimate is within 1.5 of them."""
    cases = {
        3.5: {"nodes": 1000, "topics": 200, "subscriptions": "10:90", "popularity": "uniform"},
        2.1: {"nodes": 2000, "topics": 100, "subscriptions": "10", "popularity": "zipf:0.5"},
        3.1: {"nodes": 1000, "topics": 1000, "subscriptions": "20", "popularity": "zipf:0.5"},
        0.59: {"nodes": 1000, "topics": 100, "subscriptions": "5", "popularity": "uniform"},
        0.62: {"nodes": 200, "topics": 200, "subscriptions": "10:90", "popularity": "uniform"},
    }
    for seconds, workload in cases.items():
        found = expected_seconds(generate_interest(workload_from_options(**workload, seed=1)))
        assert seconds / 1.5 < found < seconds * 1.5, workload

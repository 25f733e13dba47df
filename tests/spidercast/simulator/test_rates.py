"""Many events a second: nothing is lost by memory, and memory stays within its bound."""

from __future__ import annotations

import gc

import pytest

from topicloom.overlay.model.interest import Interest
from topicloom.spidercast.simulator.run import SimulationRun
from topicloom.spidercast.simulator.scenario import Scenario

NODES, RATE, START = 20, 5_000, 8.0


def burst(seconds: float, *settings: str, crash: tuple[int, ...] = (), payload: bytes = b"") -> SimulationRun:
    """All nodes publish by turns on one topic for `seconds`; in the middle some crash at once."""
    interest = Interest.from_pairs([(f"n{node:02}", "x") for node in range(NODES)])
    runner = SimulationRun(interest, Scenario.of("spidercast", settings, seed=1))
    world, people = runner.world, runner.population
    people.begin()

    def publish(now: float) -> None:
        last_words = now > START + seconds / 2 - 0.1  # what nobody else has got would die with them
        here = [node for node in people.joined if not (last_words and node in crash)]
        node = here[round(now * RATE) % len(here)]
        world.publish(node, 0, set(here), payload)

    for number in range(round(seconds * RATE)):
        world.call_at(START + number / RATE, publish)
    for node in crash:
        world.call_at(START + seconds / 2, lambda now, node=node: people._crash(node))
    gc.disable()  # as in every simulation
    try:
        world.run(START + seconds + 5.0)
    finally:
        gc.enable()
    return runner


@pytest.mark.slow
def test_at_5000_events_a_second_three_crashes_at_once_cost_the_survivors_nothing() -> None:
    runner = burst(0.6, crash=(3, 7, 11))
    counters = runner.world.counters
    assert counters.published == 3_000
    assert counters.missing == 0
    assert counters.delivered >= 3_000 * (NODES - 3)
    for _, node in runner.world.here():
        store = node._dissemination._store
        assert store is not None
        assert store.held_bytes <= 64 << 20


@pytest.mark.slow
def test_a_memory_that_does_fill_is_enough_as_long_as_repair_needs() -> None:
    """Events with payloads, and a memory for some heartbeats of them: older ones are gone."""
    most = 3_900_000
    runner = burst(1.8, f"keep_bytes={most}", crash=(3, 7, 11), payload=b"x" * 200)
    counters = runner.world.counters
    assert counters.published == 9_000
    assert counters.missing == 0
    for _, node in runner.world.here():
        store = node._dissemination._store
        assert store is not None
        assert 0.99 * most < store.held_bytes <= most
        assert len(store.held) < 9_000


@pytest.mark.slow
def test_a_memory_that_is_far_too_small_stays_within_its_bound() -> None:
    runner = burst(0.2, "keep_bytes=50000")
    for _, node in runner.world.here():
        store = node._dissemination._store
        assert store is not None
        assert 45_000 < store.held_bytes <= 50_000

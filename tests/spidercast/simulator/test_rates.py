"""Many events a second: nothing is lost by memory, and memory stays within its bound."""

from __future__ import annotations

import pytest
from benchmarks.bench_simulate import BURST_NODES as NODES
from benchmarks.bench_simulate import burst


@pytest.mark.slow
def test_at_5000_events_a_second_three_crashes_at_once_cost_the_survivors_nothing() -> None:
    runner = burst(0.6, crash=(3, 7, 11))
    counters = runner.world.counters
    assert counters.published == 3_000
    assert counters.missing == 0
    assert counters.delivered >= 3_000 * (NODES - 3)
    for _, node in runner.world.here():
        assert 0 < node.event_counts.held_bytes <= 64 << 20


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
        assert 45_000 < node.event_counts.held_bytes <= 50_000

"""The case of bursts, on fewer events."""

from __future__ import annotations

from benchmarks.bench_simulate import measure_burst


def test_a_burst_with_three_crashes_misses_nothing_and_keeps_to_its_memory() -> None:
    found = measure_burst(events=1_500, size=20, keep=60_000)
    assert 0.9 * 60_000 < found["held"] <= 60_000
    found = measure_burst(events=1_500, size=20, keep=64 << 20)
    assert found["missing"] == 0
    assert found["held"] >= 1_500 * 20
    assert found["waited"] > 0.1

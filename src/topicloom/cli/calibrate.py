"""Measure once how fast this machine is, so that printed estimates of time are right here.

A small build is timed by the processor time of this process, which other programs hardly change.
"""

from __future__ import annotations

import os
import time

from topicloom.base.machine_speed import keep_speed, known_speed

REFERENCE = 0.214  # processor seconds of the build below where the time model was fitted
RUNS = 3  # the quickest counts


def calibrate(*, again: bool = False) -> None:
    """Measure and keep the speed of this machine, unless that was done before."""
    if (known_speed() is not None and not again) or os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        return
    from topicloom.overlay.builders.balanced import build_balanced
    from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

    drawn = workload_from_options(200, topics=100, subscriptions="10", popularity="zipf:0.5", seed=1)
    interest = generate_interest(drawn)
    build_balanced(interest, work=1)  # compiled, or loaded from the disk
    taken = []
    for _ in range(RUNS):
        start = time.process_time()
        build_balanced(interest, threads=1)
        taken.append(time.process_time() - start)
    keep_speed(min(taken) / REFERENCE)

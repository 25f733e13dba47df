"""Runs one kernel over many slices on a few threads, and lets the user stop in between.

Kernels release the interpreter lock, so plain threads keep all cores busy. Slices are handed out in order;
each writes to places of its own, so the result never depends on who ran what.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from topicloom.model.progress import SILENT, Progress, check_stop


def default_threads() -> int:
    """All the cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def for_slices(
    work: Callable[[int, int], Any],
    n_items: int,
    *,
    slice_size: int,
    threads: int,
    progress: Progress = SILENT,
) -> list[Any]:
    """Call `work(start, stop)` for consecutive slices of `range(n_items)`; results in slice order.

    `progress` advances by the items done; a stop request is honoured between slices.
    """
    bounds = [(start, min(start + slice_size, n_items)) for start in range(0, n_items, slice_size)]
    results = []
    if threads <= 1 or len(bounds) <= 1:
        for start, stop in bounds:
            check_stop(progress)
            results.append(work(start, stop))
            progress.advance(stop - start)
        return results
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(work, start, stop) for start, stop in bounds]
        try:
            for (start, stop), future in zip(bounds, futures, strict=True):
                results.append(future.result())
                progress.advance(stop - start)
                check_stop(progress)
        except BaseException:
            for future in futures:
                future.cancel()
            raise
    return results

"""Runs one kernel over many slices on a few threads, and lets the user stop in between.

Kernels release the interpreter lock, so plain threads keep all cores busy. Slices are handed out in order;
each writes to places of its own, so the result never depends on who ran what.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from topicloom.base.arrays import Floats
from topicloom.base.progress import SILENT, Progress, check_stop


def default_threads() -> int:
    """Return all the cores this process may use."""
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
    cuts = [*range(0, n_items, slice_size), n_items]
    return for_bounds(work, list(pairwise(cuts)), threads=threads, progress=progress)


def cut_by_work(work: Floats, *, most: float, slices: int) -> list[tuple[int, int]]:
    """Return about `slices` consecutive slices of about equal work, more where one would exceed `most`.

    No slice exceeds that by more than its last item.

    >>> cut_by_work(np.array([1.0, 1.0, 5.0, 1.0]), most=3.0, slices=2)
    [(0, 3), (3, 4)]
    """
    if len(work) == 0:
        return []
    total = np.cumsum(work)
    step = min(most, total[-1] / slices)
    number = ((total - work) / max(step, 1e-9)).astype(np.int64)
    starts = np.flatnonzero(np.concatenate(([True], number[1:] != number[:-1]))).tolist()
    return list(pairwise([*starts, len(work)]))


def for_bounds(
    work: Callable[[int, int], Any],
    bounds: list[tuple[int, int]],
    *,
    threads: int,
    progress: Progress = SILENT,
) -> list[Any]:
    """Call `work(start, stop)` for the given slices; results in their order."""
    results = []
    if threads <= 1 or len(bounds) <= 1:
        for start, stop in bounds:
            check_stop(progress)
            results.append(work(start, stop))
            progress.advance(stop - start)
        return results
    pool = ThreadPoolExecutor(threads)
    try:
        futures = [pool.submit(work, start, stop) for start, stop in bounds]
        for (start, stop), future in zip(bounds, futures, strict=True):
            results.append(future.result())
            progress.advance(stop - start)
            check_stop(progress)
    finally:
        # After Ctrl-C nobody waits for the slices that still run.
        pool.shutdown(wait=False, cancel_futures=True)
    return results

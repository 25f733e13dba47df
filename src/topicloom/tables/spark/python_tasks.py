"""Python tasks: our functions on Arrow batches, inside Spark's workers."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Batches = Iterator[pa.RecordBatch]

_modules = 0  # that were loaded when this worker last set them aside


def map_batches(frame: DataFrame, task: Callable[[Batches], Batches], schema: str) -> DataFrame:
    """Return what `task` makes of the batches of each partition."""
    return frame.mapInArrow(partial(run_task, task), schema)


def run_task(task: Callable[[Batches], Batches], batches: Batches) -> Batches:
    """Run a task in a worker, and set the modules that it loaded aside.

    A worker collects garbage after every task. With numba loaded that takes as long as a small task, although
    modules are never garbage: what is frozen is not looked at.
    """
    global _modules
    yield from task(batches)
    if len(sys.modules) != _modules:
        _modules = len(sys.modules)
        gc.collect()
        gc.freeze()

"""Spark has its workers collect garbage after every task: they must not look at all modules each time."""

from __future__ import annotations

import gc
import json
import sys

import pyarrow as pa

from topicloom.tables.spark import python_tasks
from topicloom.tables.spark.python_tasks import map_batches


def look(batches):
    """Say how many objects this worker has set aside; load a module, so that the next time they are more."""
    import topicloom.base.kernels.jit  # noqa: F401

    list(batches)
    yield pa.RecordBatch.from_pydict({"found": [json.dumps([gc.get_freeze_count(), len(gc.get_objects())])]})


def test_what_a_worker_loads_is_set_aside_after_its_first_task(spark):
    for _ in range(2):
        tasks = map_batches(spark.range(8).repartition(8), look, "found string").collect()
    for frozen, watched in (json.loads(row.found) for row in tasks):
        assert frozen > 10 * watched


def test_nothing_is_set_aside_while_no_module_is_loaded(monkeypatch):
    """Else the garbage of tasks would pile up among what is never looked at."""
    frozen = []
    batch = pa.RecordBatch.from_pydict({"x": [1]})
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(True))
    monkeypatch.setattr(python_tasks, "_modules", len(sys.modules))
    assert list(python_tasks.run_task(iter, iter([batch]))) == [batch]
    assert frozen == []
    monkeypatch.setattr(python_tasks, "_modules", 0)
    assert list(python_tasks.run_task(iter, iter([batch]))) == [batch]
    assert frozen == [True]

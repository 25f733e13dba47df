"""What all tests share: one Spark session per process, how examples are drawn, who needs what, and the order.

Marks: `spark` (starts Spark; added to whatever asks for the session), `needs("program")` (skipped where the
program is absent, but a failure under CI), `slow` (left out of `make check`), `alone` (measures time or
memory of this machine, so `make test` runs it by itself, after the others), `many` (so many draws that
kernels must be compiled for them).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from brokers_present import missing
from drawing import examples

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Time limits per example would judge the machine. Health checks that depend on speed would do the same.
_CALM = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow],
    "database": None,
    "max_examples": examples(100).max_examples,
}
settings.register_profile("same", derandomize=True, **_CALM)
settings.register_profile("fuzz", derandomize=False, print_blob=True, **_CALM)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

SPARK_FIXTURES = {"spark", "cli", "cluster", "archive"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts Spark, and put the files with long tests first: all workers then end together.

    The files of this folder itself try whole products, in processes of their own: they are the longest.
    """
    for item in items:
        if SPARK_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("spark")
    long = {item.path for item in items if _is_long(item)}
    here = Path(__file__).parent
    items.sort(key=lambda item: (item.path.parent != here, item.path not in long))  # stable within a file


def _is_long(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("slow", "spark", "needs"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot run here."""
    if absent := missing(name for mark in item.iter_markers("needs") for name in mark.args):
        pytest.skip(f"{', '.join(absent)} not installed")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The product's own session with 2 shuffle partitions; starting one takes seconds, so it is shared."""
    from topicloom.tables.spark.session import get_session, stop_session

    yield get_session(master="local[2]", quick=True)
    stop_session()

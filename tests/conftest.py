"""What all tests share: one Spark session for the whole run, started only when a test asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The product's own session with 2 shuffle partitions; starting one takes seconds, so it is shared."""
    from topicloom.spark.session import get_session, stop_session

    yield get_session(
        master="local[2]",
        conf={"spark.sql.shuffle.partitions": "2", "spark.ui.enabled": "false"},
    )
    stop_session()

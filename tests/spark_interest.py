"""Read an interest in a test, its tables in a folder that ends with the session."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from topicloom.overlay.spark import encode
from topicloom.overlay.spark.encode import InterestRead
from topicloom.tables.source import TableSource
from topicloom.tables.spark.session import session_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_count = itertools.count(1)


def read_interest(spark: SparkSession, source: TableSource, **options: Any) -> InterestRead:
    """Read and number an interest; `options` as in the product."""
    folder = options.pop("work_dir", None) or session_folder(spark) / f"interest-{next(_count)}"
    return encode.read_interest(spark, source, work_dir=folder, **options)

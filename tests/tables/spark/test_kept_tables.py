"""Tables that executors keep: each use has its own, and nothing is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.base.progress import SILENT
from topicloom.tables.spark.kept_tables import kept_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_who_ends_first_takes_nothing_from_others(spark: SparkSession) -> None:
    """Two threads that judge the same DataFrame make the same plan, for which Spark has one cache."""
    from pyspark.sql import functions as sf

    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    names = spark.range(40).selectExpr("string(id) AS name")
    numbered = names.orderBy("name").withColumn("number", sf.monotonically_increasing_id())
    with kept_tables(SILENT) as one:
        mine = one.keep("one", numbered)
        with kept_tables(SILENT) as other:
            theirs = other.keep("other", numbered)
            assert spark.sparkContext._jsc.getPersistentRDDs().size() == before + 2
        assert mine.storageLevel.useDisk and not theirs.storageLevel.useDisk
        assert mine.orderBy("name").collect() == numbered.orderBy("name").collect()
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == before

"""How often Spark reads the rows of a file, by its own books."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from topicloom.tables.spark.spark_work import last_plan


def rows_read(spark: SparkSession, name: str, after: int) -> int:
    """How many rows of files with this name in their path were read by the queries after number `after`."""
    total = 0
    store: Any = spark._jsparkSession.sharedState().statusStore()
    for query in range(after + 1, last_plan(spark) + 1):
        values = store.executionMetrics(query)
        nodes = store.planGraph(query).allNodes()
        for node in (nodes.apply(place) for place in range(nodes.size())):
            if node.name().startswith("Scan ") and name in node.desc():
                metrics = node.metrics()
                for metric in (metrics.apply(place) for place in range(metrics.size())):
                    if metric.name() == "number of output rows":
                        found = values.get(metric.accumulatorId())
                        total += int(found.get().replace(",", "")) if found.isDefined() else 0
    return total

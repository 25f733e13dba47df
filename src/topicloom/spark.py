"""Overlays of Spark DataFrames, from notebooks and jobs.

    import topicloom
    built = topicloom.spark.build(subscriptions, "dcbr-m")
    topicloom.spark.verify(subscriptions, built.edges).topic_connected

All work is done in the DataFrame's own session, classic or Spark Connect, and nothing is set in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from topicloom.base.lazy_names import lazy_names

if TYPE_CHECKING:
    from topicloom.api.dataframes import build, improve, inspect, measure, read, verify
    from topicloom.api.frames import SparkBuilt

__all__ = ["SparkBuilt", "build", "improve", "inspect", "measure", "read", "verify"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "SparkBuilt": "topicloom.api.frames",
        **dict.fromkeys(
            ("build", "improve", "inspect", "measure", "read", "verify"), "topicloom.api.dataframes"
        ),
    },
)

"""A program that counts how often a DataFrame is evaluated through Spark Connect.

`test_spark_connect_frames.py` runs it and judges it. It reads settings, pairs, links, a folder and a time
limit as JSON, and writes what it found beside the folder.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import traceback
import uuid
import warnings
from typing import Any

from pyspark.sql import SparkSession

import topicloom
from topicloom.errors import UsageError
from topicloom.overlay.jobs import measure as measure_jobs
from topicloom.tables.spark import spark_choice

NAMES = "node string, topic string"


class Passes:
    """Counts by files how often tasks go through a table, since it was asked last."""

    def __init__(self, folder: str) -> None:
        self.folder, self.before = folder, 0

    def __call__(self, batches):
        open(f"{self.folder}/{uuid.uuid4()}", "w").close()
        yield from batches

    def since(self) -> int:
        before, self.before = self.before, len(os.listdir(self.folder))
        return self.before - before


def no_folder(*_, **__):
    raise AssertionError("a folder was asked for")


def frames(session, pairs, links, folder) -> dict[str, Any]:
    passes = Passes(folder)
    df = session.createDataFrame([*pairs, (None, "x")], NAMES).coalesce(1).mapInArrow(passes, NAMES)
    edges = session.createDataFrame(links, ["u", "v"])
    summary = topicloom.spark.build(df, "ring-pt").summary
    found: dict[str, Any] = {"build": [passes.since(), summary.rejected, summary.topic_connected]}
    built = topicloom.spark.build(df, "ring-pt")
    passes.since()
    better = topicloom.spark.improve(df, built.edges, rounds=1).summary
    found["improve"] = [passes.since(), better.edges <= built.summary.edges, better.topic_connected]
    found["verify"] = [topicloom.spark.verify(df, edges).edges, passes.since()]
    # As if the server were far away, and the table large.
    measure_jobs.LOCAL_SUBSCRIPTIONS = 1
    measure_jobs.shares_disk = lambda _: False
    spark_choice.SparkChoice.workspace = no_folder
    found["measure"] = [topicloom.spark.measure(df, edges)["degree_max"], passes.since()]
    found["inspect"] = [topicloom.spark.inspect(df).subscriptions, passes.since()]
    try:
        topicloom.spark.verify(df, session.newSession().createDataFrame(links, ["u", "v"]))
    except UsageError as error:
        found["other"] = str(error)
    return found


def main() -> None:
    conf, pairs, links, folder, seconds = json.loads(sys.stdin.read())
    faulthandler.dump_traceback_later(seconds, exit=True)
    warnings.simplefilter("ignore")
    builder = SparkSession.builder.remote("local[2]")
    for key, value in conf.items():
        builder = builder.config(key, value)
    found = frames(builder.getOrCreate(), pairs, links, folder)
    with open(f"{folder}.json", "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        traceback.print_exc()
        os._exit(1)  # threads of the session would keep a failed process
    os._exit(0)  # the server ends when nobody is left

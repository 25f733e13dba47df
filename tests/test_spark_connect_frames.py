"""Through Spark Connect: a DataFrame is evaluated once, and measured where no disk is shared."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import topicloom
from quick_spark import CLUSTER

pytestmark = [pytest.mark.spark, pytest.mark.alone]
PAIRS = [(f"n{i % 40}", f"t{(i * 7 + i // 40) % 11}") for i in range(160)]
LINKS = [(f"n{i}", f"n{i + 1}") for i in range(39)]

SCRIPT = """
import json, os, sys, traceback, uuid, warnings

def fail(*error):
    traceback.print_exception(*error)
    os._exit(1)  # threads of the session would keep a failed process
sys.excepthook = fail
from pyspark.sql import SparkSession

conf, pairs, links, folder = json.loads(sys.stdin.read())
builder = SparkSession.builder.remote("local[2]")
for key, value in conf.items():
    builder = builder.config(key, value)
session = builder.getOrCreate()

import topicloom
from topicloom.errors import UsageError
from topicloom.overlay.jobs import measure
from topicloom.tables.spark import spark_choice

warnings.simplefilter("ignore")
found, passes = {}, 0

def counting(batches):
    open(f"{folder}/{uuid.uuid4()}", "w").close()
    yield from batches

def passed():
    global passes
    before, passes = passes, len(os.listdir(folder))
    return passes - before

names = "node string, topic string"
df = session.createDataFrame([*pairs, (None, "x")], names).coalesce(1).mapInArrow(counting, names)
edges = session.createDataFrame(links, ["u", "v"])
built = topicloom.spark.build(df, "ring-pt")
found["build"] = [passed(), built.summary.rejected, built.summary.topic_connected]
found["verify"] = [topicloom.spark.verify(df, edges).edges, passed()]

# As if the server were far away, and the table large.
measure.LOCAL_SUBSCRIPTIONS = 1
measure.shares_disk = lambda _: False
def no_folder(*_, **__):
    raise AssertionError("a folder was asked for")
spark_choice.SparkChoice.workspace = no_folder
found["measure"] = [topicloom.spark.measure(df, edges)["degree_max"], passed()]
found["inspect"] = [topicloom.spark.inspect(df).subscriptions, passed()]
try:
    topicloom.spark.verify(df, session.newSession().createDataFrame(links, ["u", "v"]))
except UsageError as error:
    found["other"] = str(error)
with open(folder + ".json", "w") as file:
    json.dump(found, file)
os._exit(0)  # the server ends when nobody is left
"""


def test_a_dataframe_is_evaluated_once_and_needs_no_disk(tmp_path):
    root, seen = Path(__file__).parent.parent, tmp_path / "seen"
    seen.mkdir()
    given = json.dumps([{**CLUSTER, "spark.ui.showConsoleProgress": "false"}, PAIRS, LINKS, str(seen)])
    log = tmp_path / "log"
    with log.open("wb") as told:  # no pipe: Java would keep it open
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            input=given.encode(),
            stdout=told,
            stderr=told,
            env={
                **os.environ,
                "PYTHONPATH": str(root / "src"),
                "PYSPARK_PYTHON": sys.executable,  # the server starts its workers: a bare python3 else
                "SPARK_TESTING": "1",  # any free port
            },
            timeout=300,
        )
    assert done.returncode == 0, log.read_text()[-3000:]
    found = json.loads((tmp_path / "seen.json").read_text())
    wants = topicloom.Interest.from_pairs(PAIRS)
    assert found["build"] == [1, 1, True]
    assert found["verify"] == [len(LINKS), 1]
    assert found["measure"] == [2, 1]
    assert found["inspect"] == [wants.n_subscriptions, 1]
    assert found["other"].startswith("`edges` takes a DataFrame of the same session as `df`")

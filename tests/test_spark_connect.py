"""Through Spark Connect on loopback: build, verify, measure and read, in a process of their own.

A process has either classic sessions or such that go through Connect, never both.
"""

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
PAIRS = [(f"n{i % 60}", f"t{(i * 7 + i // 60) % 13}") for i in range(300)]

SCRIPT = """
import json, os, sys, threading, time, traceback, warnings

def fail(*error):
    traceback.print_exception(*error)
    os._exit(1)  # threads of the session would keep a failed process
sys.excepthook = fail
from pyspark.sql import SparkSession

conf, pairs, folder = json.loads(sys.stdin.read())
builder = SparkSession.builder.remote("local[2]")
for key, value in conf.items():
    builder = builder.config(key, value)
session = builder.getOrCreate()
session.conf.set("spark.sql.caseSensitive", "false")
session.conf.set("spark.sql.ansi.enabled", "false")

import topicloom
from topicloom.errors import Interrupted, TopicloomError
from topicloom.overlay.spark.verify import verify_tables
from topicloom.tables.spark.links import is_connect

warnings.simplefilter("ignore")
assert is_connect(session)
seen = []

class Seen:
    stop = False
    def now(self): return time.monotonic()
    def phase(self, name, total=None): seen.append(name)
    def advance(self, amount=1): seen.append(amount)
    def should_stop(self): return self.stop

def state():
    return (sorted(session.conf.getAll.items()), session.getTags(), session.client._progress_handlers)

df = session.createDataFrame([*pairs, *pairs[:3], (None, "x")], "Node string, topic string")
df = df.selectExpr("Node AS node", "topic", "topic AS TOPIC")
before = json.dumps(state(), default=str)
built = topicloom.spark.build(df, "dcbr-m", seed=3, progress=Seen())
assert built.edges.sparkSession is session
found = {
    "edges": [list(row) for row in built.edges.collect()],
    "summary": [built.summary.engine, built.summary.rejected, built.summary.duplicates],
    "rejects": built.rejects.count(),
    "verified": topicloom.spark.verify(df, built.edges).topic_connected,
    "degree_max": topicloom.spark.measure(df, built.edges)["degree_max"],
    "split": topicloom.spark.verify(df, built.edges.limit(3)).topics_partitioned,
}
bucketed = verify_tables(session, built.interest, built.edges, path="bucketed")
found["bucketed"] = [bucketed.topic_connected, bucketed.path]
here = topicloom.spark.build(df, "gm", out=folder)
found["gm"] = [here.summary.engine, here.edges.count(), topicloom.load_build(folder).n_edges]
found["files"] = topicloom.spark.read(folder + "/interest.parquet", session=session).count()
table = folder + ".csv"
with open(table, "w") as file:
    file.write("node,topic\\n" + "".join(f"{node},{topic}\\n" for node, topic in pairs))
found["text"] = topicloom.spark.read(table).count()
found["state"] = json.dumps(state(), default=str) == before

def paced(batches):
    time.sleep(1.5)
    yield from batches
seen.clear()
steady = session.createDataFrame(pairs, ["node", "topic"]).repartition(8)
steady = steady.mapInArrow(paced, "node string, topic string")
topicloom.spark.read(steady, progress=Seen())
found["progress"] = any(isinstance(one, float) and 0 < one < 1 for one in seen)

asked = Seen()
def forever(batches):
    for batch in batches:
        time.sleep(60)
        yield batch
slow = session.createDataFrame(pairs, ["node", "topic"]).mapInArrow(forever, "node string, topic string")
threading.Timer(3, lambda: setattr(asked, "stop", True)).start()
began = time.monotonic()
try:
    topicloom.spark.verify(slow, built.edges, progress=asked)
except Interrupted:
    found["stopped"] = time.monotonic() - began < 30
try:
    topicloom.spark.build(df, "ring-pt", out="s3a://bucket/o")
except TopicloomError as error:
    found["address"] = str(error)
try:
    topicloom.spark.inspect(session.table("no_such_table"))
except TopicloomError as error:
    found["table"] = str(error)
with open(folder + ".json", "w") as file:
    json.dump(found, file)
os._exit(0)  # the server ends when nobody is left
"""


def test_everything_works_through_connect(tmp_path):
    root = Path(__file__).parent.parent
    given = json.dumps([{**CLUSTER, "spark.ui.showConsoleProgress": "false"}, PAIRS, str(tmp_path / "o")])
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
    found = json.loads((tmp_path / "o.json").read_text())
    wants = topicloom.Interest.from_pairs(PAIRS)
    here = topicloom.build(wants, "dcbr-m", seed=3)
    assert found["edges"] == here.overlay.to_pandas().to_numpy().tolist()
    assert found["summary"] == ["spark", 1, len(PAIRS) + 3 - wants.n_subscriptions] and found["rejects"] == 1
    assert found["verified"] and found["degree_max"] == here.degree_max and found["split"] > 0
    assert found["bucketed"] == [True, "bucketed"]
    edges = topicloom.build(wants, "gm").n_edges
    assert found["gm"] == ["local", edges, edges]
    assert found["files"] == found["text"] == wants.n_subscriptions
    assert [found["progress"], found["state"], found["stopped"]] == [True, True, True]
    assert found["address"].startswith("s3a://bucket/o: Spark Connect cannot list")
    assert found["table"].startswith("there is no")

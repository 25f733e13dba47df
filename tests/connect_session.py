"""A program that works through Spark Connect on loopback; `test_spark_connect.py` runs it and judges it.

A process has either classic sessions or such that go through Connect, never both. It reads settings, pairs, a
folder and a time limit as JSON, and writes what it found beside the folder.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import threading
import time
import traceback
import warnings
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.connect.client.core import DefaultChannelBuilder
from pyspark.sql.connect.session import SparkSession as ConnectSession

import topicloom
from topicloom.errors import Interrupted, TopicloomError
from topicloom.overlay.jobs import measure as measure_jobs
from topicloom.overlay.spark.verify import verify_tables
from topicloom.tables.spark import file_plans
from topicloom.tables.spark.links import is_connect, shares_files

Found = dict[str, Any]


class Seen:
    """Hears of progress."""

    def __init__(self):
        self.heard, self.stop = [], False

    def now(self):
        return time.monotonic()

    def phase(self, name, total=None):
        self.heard.append(name)

    def advance(self, amount=1):
        self.heard.append(amount)

    def should_stop(self):
        return self.stop


class Elsewhere(DefaultChannelBuilder):
    """The way to a server as if it were on another machine; names other than localhost need certificates."""

    @property
    def host(self):
        return "spark.example"


def state(session) -> str:
    settings = sorted(session.conf.getAll.items())
    return json.dumps((settings, session.getTags(), session.client._progress_handlers), default=str)


def said(work) -> str | None:
    try:
        work()
    except TopicloomError as error:
        return str(error)
    return None


def rows(frame) -> list[list[str]]:
    return [list(row) for row in frame.collect()]


def frames(session, pairs, folder) -> Found:
    """DataFrames in and out."""
    df = session.createDataFrame([*pairs, *pairs[:3], (None, "x")], "Node string, topic string")
    df = df.selectExpr("Node AS node", "topic", "topic AS TOPIC")
    before = state(session)
    built = topicloom.spark.build(df, "dcbr-m", seed=3, certify=True, progress=Seen())
    assert built.edges.sparkSession is session
    bucketed = verify_tables(session, built.interest, built.edges, path="bucketed")
    here = topicloom.spark.build(df, "gm", out=folder)
    small = session.createDataFrame(pairs, ["node", "topic"])
    rings = topicloom.spark.build(small, "ring-pt")
    certified = topicloom.spark.measure(small, rings.edges, certify=True)
    wants = topicloom.Interest.from_spark(small)
    small.write.saveAsTable("wants")
    found = {
        "edges": rows(built.edges),
        "summary": [built.summary.engine, built.summary.rejected, built.summary.duplicates],
        "certificate": built.summary.certificate.edges_bound,
        "rejects": built.rejects.count(),
        "verified": topicloom.spark.verify(df, built.edges).topic_connected,
        "split": topicloom.spark.verify(df, built.edges.limit(3)).topics_partitioned,
        "bucketed": [bucketed.topic_connected, bucketed.path],
        "gm": [here.summary.engine, here.edges.count(), topicloom.load_build(folder).n_edges],
        "rings": rows(rings.edges),
        "measured": {key: certified[key] for key in ("degree_max", "edges_bound", "degree_max_bound")},
        "inspected": topicloom.spark.inspect(small).components,
        "here": [wants.n_subscriptions, topicloom.build(wants, "ring-pt", engine="spark").n_edges],
        "catalog": topicloom.spark.read(table="wants").count(),
        "no table": said(lambda: topicloom.spark.inspect(session.table("no_such_table"))),
        "address": said(lambda: topicloom.spark.build(df, "ring-pt", out="s3a://bucket/o")),
    }
    limit, measure_jobs.LOCAL_SUBSCRIPTIONS = measure_jobs.LOCAL_SUBSCRIPTIONS, 1
    large = topicloom.spark.measure(small, rings.edges, certify=True)
    found["large"] = [large["degree_max"], large["edges_bound"], large["bound_method"]]
    found["large profile"] = topicloom.spark.inspect(small).components
    measure_jobs.LOCAL_SUBSCRIPTIONS = limit
    found["state"] = state(session) == before
    return found


def files(session, folder) -> Found:
    """Files that only Spark sees."""
    names = ("wants.csv", "folder", "days", "built", "remote")
    counts = {name: topicloom.spark.read(f"file://{folder}/{name}").count() for name in names}
    found: Found = {"counts": counts, "shared": topicloom.spark.read(f"{folder}/wants.csv").count()}
    for name in ("built", "remote"):
        build = f"file://{folder}/{name}"
        wants = topicloom.spark.read(build)
        verdict, figures = topicloom.spark.verify(wants, build), topicloom.spark.measure(wants, build)
        found[name] = [verdict.topic_connected, verdict.edges, figures["edges"]]
    file_plans.HELD_BYTES = 50  # larger files no worker gets whole
    found["cut"] = topicloom.spark.read(f"file://{folder}/wants.csv").count()
    channels = Elsewhere(f"sc://{session.client._builder.endpoint}")
    elsewhere = ConnectSession.builder.channelBuilder(channels).create()
    assert shares_files(session) and not shares_files(elsewhere)
    found["elsewhere"] = topicloom.spark.read(f"{folder}/days", session=elsewhere).count()
    for name in ("nowhere.csv", "empty", "delta", "mixed"):
        told = said(lambda: topicloom.spark.read(f"file://{folder}/{name}"))  # noqa: B023
        found[name] = told and told.replace(folder, "")
    found["relative"] = said(lambda: topicloom.spark.read("wants.csv", session=elsewhere))
    return found


def running(session, pairs) -> Found:
    """Progress while Spark works, and a stop on request."""

    def paced(batches):
        time.sleep(1.5)
        yield from batches

    def forever(batches):
        for batch in batches:
            time.sleep(60)
            yield batch

    seen, df = Seen(), session.createDataFrame(pairs, ["node", "topic"])
    steady = df.repartition(8).mapInArrow(paced, "node string, topic string")
    topicloom.spark.read(steady, progress=seen)
    found: Found = {"progress": any(isinstance(one, float) and 0 < one < 1 for one in seen.heard)}
    asked, slow = Seen(), df.mapInArrow(forever, "node string, topic string")
    threading.Timer(3, lambda: setattr(asked, "stop", True)).start()
    began = time.monotonic()
    try:
        topicloom.spark.inspect(slow, progress=asked)
    except Interrupted:
        found["stopped"] = time.monotonic() - began < 30
    return found


def main() -> None:
    conf, pairs, folder, seconds = json.loads(sys.stdin.read())
    faulthandler.dump_traceback_later(seconds, exit=True)
    warnings.simplefilter("ignore")
    builder = SparkSession.builder.remote("local[2]")
    for key, value in conf.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.conf.set("spark.sql.caseSensitive", "false")
    session.conf.set("spark.sql.ansi.enabled", "false")
    assert is_connect(session)
    pairs = [tuple(pair) for pair in pairs]
    found = frames(session, pairs, f"{folder}/o") | files(session, folder) | running(session, pairs)
    with open(f"{folder}/found.json", "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        traceback.print_exc()
        os._exit(1)  # threads of the session would keep a failed process
    os._exit(0)  # the server ends when nobody is left

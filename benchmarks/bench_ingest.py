"""A large table of pairs from Parquet to the encoded interest on Spark, and on to memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.bench_generate import NODES, QUICK_NODES, SUBSCRIPTIONS, TOPICS
from benchmarks.harness import Broken, Figure, Options, Row, attempt, checked, in_child, json_of, run_command

TITLE = "a table of pairs into Spark"
ASKED_SECONDS, ASKED_MEGABYTES = 120.0, 8_000.0


def run(options: Options) -> Iterator[Row]:
    nodes = QUICK_NODES if options.quick else NODES
    case = f"{nodes * SUBSCRIPTIONS:,} pairs, {nodes:,} nodes, {TOPICS:,} topics"
    table = "Parquet to the encoded interest; memory is the peak over all processes, Java included"
    yield attempt(table, case, lambda: _cells(options, nodes))


def _cells(options: Options, nodes: int) -> dict[str, Figure | str]:
    source = options.scratch / f"generated-{nodes}.parquet"
    if not source.exists():
        in_child("bench_ingest:write_table", out=str(source), nodes=nodes)
    arguments = json.dumps({"source": str(source), "work": str(options.scratch / "ingest")})
    command = [sys.executable, "-m", "benchmarks", "--child", "bench_ingest:ingest", arguments]
    done = checked(run_command(command))
    answer = json_of(done)
    if answer["pairs"] != nodes * SUBSCRIPTIONS:
        raise Broken(f"{answer['pairs']:,} pairs came out instead of {nodes * SUBSCRIPTIONS:,}")
    return {
        "start of Spark": Figure(answer["start"], "s"),
        "encoded table": Figure(answer["encode"], "s", None if options.quick else ASKED_SECONDS),
        "on to memory": Figure(answer["load"], "s"),
        "memory of all processes": Figure(done.megabytes, "MB", None if options.quick else ASKED_MEGABYTES),
    }


def write_table(out: str, nodes: int) -> dict[str, Any]:
    """In a child: the table of the generate benchmark, when that one has not left it."""
    from topicloom.overlay.spark.generate import generate_table
    from topicloom.overlay.workloads.generate import workload_from_options
    from topicloom.tables.spark.session import get_session, stop_session

    workload = workload_from_options(nodes, TOPICS, SUBSCRIPTIONS, "zipf:0.5", seed=1)
    generate_table(get_session(), workload, out)
    stop_session()
    return {"nodes": nodes}


def ingest(source: str, work: str) -> dict[str, Any]:
    """In a child: start Spark, encode the table, load it; the seconds of each."""
    from time import perf_counter as now

    from topicloom.overlay.spark.encode import read_interest
    from topicloom.tables.source import interest_source
    from topicloom.tables.spark.session import get_session, stop_session

    times = [now()]
    spark = get_session()
    times.append(now())
    Path(work).mkdir(exist_ok=True)
    encoded = read_interest(spark, interest_source(source), work_dir=work).encoded
    times.append(now())
    interest = encoded.to_interest()
    times.append(now())
    stop_session()
    start, encode, load = (after - before for before, after in pairwise(times))
    return {"start": start, "encode": encode, "load": load, "pairs": interest.n_subscriptions}

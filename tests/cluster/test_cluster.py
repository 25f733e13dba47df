"""Builds on a real cluster: workers that do not have this package, executors, workers and drivers that die.

One file, because a cluster takes seconds to start: all is tried on the same one. The last test leaves it with
a single worker.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import topicloom
from cluster.faults import events_of, free_port, kill_a_worker, kill_in, kill_while, lost_tasks, wait_until
from cluster.standalone import SPARK_HOME, Cluster
from content_log import LOG, SUBSCRIPTIONS
from store.stores import store_conf, store_jar
from topicloom.overlay.model.build_folder import load_build
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options, write_text
from topicloom.tables.spark.java import find_java

CHECKOUT = Path(__file__).parent.parent.parent
PAIRS = [(f"n{i:03}", f"t{j}") for i in range(60) for j in range(20) if (i * 7 + j * j) % 5 < 2]
NAME = "shipped"

BUILD_THEN_LOOK = """
import json, sys
import pyarrow as pa
from topicloom.cli.main import execute
from topicloom.tables.spark.session import get_session

def look(batches):
    import os, numpy, topicloom
    list(batches)
    found = {"topicloom": topicloom.__file__, "numpy": numpy.__file__, "cwd": os.getcwd()}
    yield pa.RecordBatch.from_pydict({"found": [json.dumps(found)]})

code = execute(sys.argv[1:])
tasks = get_session().range(4).repartition(4).mapInArrow(look, "found string")
with open("found.json", "w") as out:
    json.dump([json.loads(row.found) for row in tasks.collect()], out)
sys.exit(code)
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a build on the cluster left behind."""

    folder: Path
    tasks: list[dict[str, str]]
    events: list[dict[str, Any]]
    executors: list[Path]


@pytest.fixture(scope="module")
def ran(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One build with the packed environment; then, in the same session, tasks that say where they are."""
    folder = tmp_path_factory.mktemp("ran")
    rows = "".join(f"{node},{topic}\n" for node, topic in PAIRS)
    (folder / "table.csv").write_text(f"node,topic\n{rows}")
    before = set(cluster.work_folders())
    words = [
        "build",
        "table.csv",
        "--algorithm",
        "dcbr-m",
        "--engine",
        "spark",
        "--out",
        "built",
        "--event-log",
        "events",
        "--quiet",
    ]
    answer = subprocess.run(
        [
            sys.executable,
            "-c",
            BUILD_THEN_LOOK,
            *words,
            *cluster.options(archives=f"{cluster.archive}#{NAME}"),
        ],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stderr == ""
    (log,) = (folder / "events").iterdir()
    return Ran(
        folder,
        json.loads((folder / "found.json").read_text()),
        [json.loads(line) for line in log.read_text().splitlines()],
        sorted(set(cluster.work_folders()) - before),
    )


def test_tasks_import_the_packed_package_and_not_the_checkout(ran: Ran) -> None:
    assert len(ran.tasks) == 4
    for found in ran.tasks:
        assert found["cwd"] in map(str, ran.executors)
        assert found["topicloom"] == f"{found['cwd']}/{NAME}/site-packages/topicloom/__init__.py"
        assert found["numpy"] == f"{found['cwd']}/{NAME}/site-packages/numpy/__init__.py"
        assert not Path(found["topicloom"]).is_relative_to(CHECKOUT)


def test_a_build_on_the_cluster_gives_the_edges_of_a_build_here(ran: Ran) -> None:
    edges = pq.read_table(ran.folder / "built" / "edges.parquet").to_pylist()
    here = topicloom.build(topicloom.Interest.from_pairs(PAIRS), algorithm="dcbr-m")
    assert edges == here.overlay.to_pandas().to_dict("records")
    assert json.loads((ran.folder / "built" / "summary.json").read_text())["topic_connected"] is True


def test_the_event_log_shows_that_both_workers_did_the_work(ran: Ran) -> None:
    tasks = [event for event in ran.events if event["Event"] == "SparkListenerTaskEnd"]
    assert {task["Task Info"]["Executor ID"] for task in tasks} == {"0", "1"}
    assert all(task["Task End Reason"]["Reason"] == "Success" for task in tasks)


def test_no_worker_compiled_a_kernel(cluster: Cluster, ran: Ran) -> None:
    """A compiled kernel is written beside its source: only those of the archive may be there."""
    with tarfile.open(cluster.archive) as archive:
        packed = {name for name in archive.getnames() if name.endswith((".nbi", ".nbc"))}
    for called in ("join_edges", "_scatter"):  # by the proof, and by rings in random order
        assert any(called in name for name in packed), called
    assert len(ran.executors) == 2
    for executor in ran.executors:
        unpacked = executor / NAME
        assert {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*.nb[ci]")} == packed


def test_no_executor_outlives_its_session(cluster: Cluster, ran: Ran) -> None:
    assert cluster.executors() == {}


def test_workers_without_the_package_are_told_of_in_one_sentence(
    cluster: Cluster, tmp_path: Path, run: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    (tmp_path / "table.csv").write_text("node,topic\na,x\nb,x\n")
    # Spark would try four times.
    options = cluster.options(archives="", task_maxFailures="1")
    # A small table is built without a Python worker: divide and conquer has tasks that need one.
    asked = ["--algorithm", "dcbr-m", "--engine", "spark"]
    answer = run("build", "table.csv", "--out", "built", *asked, *options)
    assert answer.returncode == 2
    (sentence,) = answer.stderr.splitlines()
    assert "the Spark workers do not have the Python package" in sentence
    assert "topicloom pack" in sentence
    assert "spark.archives" in sentence
    assert not (tmp_path / "built").exists()


# --- spark-submit ---------------------------------------------------------------------------------------

JOB = """
import sys
from topicloom.cli.main import execute
from topicloom.tables.spark.session import get_session

code = execute(sys.argv[1:])
spark = get_session()
print(spark.sparkContext.master, spark.sparkContext.appName, spark.conf.get("spark.sql.shuffle.partitions"))
sys.exit(code)
"""


def test_spark_submit_and_its_defaults_decide_where_a_job_runs(cluster: Cluster, tmp_path: Path) -> None:
    rows = "".join(f"{node},{topic}\n" for node, topic in PAIRS)
    (tmp_path / "table.csv").write_text(f"node,topic\n{rows}")
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "conf").mkdir()
    settings = cluster.conf(archives="", pyspark_python=sys.executable, sql_shuffle_partitions="3")
    lines = "".join(f"{key} {value}\n" for key, value in settings.items())
    (tmp_path / "conf" / "spark-defaults.conf").write_text(lines)
    home = str(find_java().home(tmp_path))
    environment = {**os.environ, "JAVA_HOME": home, "SPARK_CONF_DIR": str(tmp_path / "conf")}
    words = ["inspect", "table.csv", "--engine", "spark", "--json", "--quiet"]
    submit = [
        str(SPARK_HOME / "bin" / "spark-submit"),
        "--master",
        cluster.master,
        "--name",
        "mine",
        "job.py",
    ]
    answer = subprocess.run(
        [*submit, *words],
        env={**environment, "PYSPARK_DRIVER_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    found, _, told = answer.stdout.strip().rpartition("\n")
    assert told == f"{cluster.master} mine 3"
    assert json.loads(found)["subscriptions"] == len(PAIRS)


# --- workers that share no disk ---------------------------------------------------------------------------


JUDGE_THEN_BUILD = """
import sys
import topicloom.overlay.spark.encode as encode
import topicloom.overlay.spark.verify as judge
from topicloom.cli.main import execute

# As for large tables: small ones are numbered and judged on the driver.
judge.verify_tables.__kwdefaults__["driver_rows"] = encode.SMALL_ROWS = 0
out, *options = sys.argv[1:]
for words in ("verify table.csv edges.csv", "measure table.csv edges.csv", "inspect table.csv"):
    print(execute([*words.split(), *options]), flush=True)
print(execute(["build", "table.csv", "--algorithm", "ring-pt", "--out", out, *options]))
"""


def test_only_results_need_a_disk_that_is_shared(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever judges keeps tables with the executors; a build that would lose rows ends with a sentence."""
    if cluster.private is None:
        pytest.skip("mount namespaces are not allowed here")
    monkeypatch.setenv("TMPDIR", str(cluster.private))
    (tmp_path / "table.csv").write_text("node,topic\n" + "".join(f"{n},{t}\n" for n, t in PAIRS))
    ring = topicloom.build(topicloom.Interest.from_pairs(PAIRS), algorithm="ring-pt").overlay
    ring.to_pandas().to_csv(tmp_path / "edges.csv", index=False)
    options = ["--engine", "spark", "--quiet", *cluster.options(archives="", pyspark_python=sys.executable)]
    out = cluster.private / "out"
    answer = subprocess.run(
        [sys.executable, "-c", JUDGE_THEN_BUILD, str(out), *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.findall("^[0-9]$", answer.stdout, re.MULTILINE) == ["0", "0", "0", "2"], answer.stderr
    assert "this machine sees 0 of them" in answer.stderr
    assert f"{out}/" in answer.stderr and "on a disk that all machines share" in answer.stderr
    assert not out.exists()


# --- executors, workers and drivers that die ---------------------------------------------------------------

# Half of the nodes are bulk, so that the combine phase has work enough to be killed in.
BUILD = ["--algorithm", "dcbr-m", "--set", "kernel_nodes=600", "--set", "eta=20", "--seed", "3"]
GROUPS = ("conquer", "combine 1")  # phases with a task for each group
WORKLOAD = workload_from_options(6_000, topics=300, subscriptions="10:30", popularity="zipf:0.5", seed=1)
# A table as large ones are read: its rows are numbered on Spark.
RUN = """
import sys
import topicloom.overlay.spark.encode as encode
from topicloom.cli.main import execute

encode.SMALL_ROWS = 0
sys.exit(execute(sys.argv[1:]))
"""
# An executor that takes another's place would unpack the archive first: here all use one Python.
PYTHON = {"archives": "", "pyspark_python": sys.executable}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    write_text(WORKLOAD, path)
    return path


def started(*words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RUN, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={key: value for key, value in os.environ.items() if not key.startswith("PYSPARK_")},
    )


def test_killed_executors_change_nothing(cluster: Cluster, table: Path, tmp_path: Path) -> None:
    """One in each kind of phase, while Spark also starts second attempts at tasks that seem slow."""
    port = free_port()
    # The page must not lag behind what the executors do.
    page = {"ui_enabled": "true", "ui_port": str(port), "ui_liveUpdate_period": "0"}
    twice = {"speculation": "true", "speculation_interval": "20ms", "speculation_multiplier": "1.01"}
    twice |= {"speculation_quantile": "0.1", "speculation_minTaskRuntime": "1ms"}
    twice |= {"speculation_efficiency_enabled": "false"}
    out, events = tmp_path / "out", tmp_path / "events"
    process = started(
        "build", table, *BUILD, "--engine", "spark", *cluster.options(**page, **PYTHON, **twice), "--json",
        "--event-log", events, "--out", out,
    )  # fmt: skip
    try:
        kill_while(out / ".phases" / ".tmp-ingest", cluster, process, port)
        killed = {phase: kill_in(phase, cluster, process, port) for phase in GROUPS}
        for phase in ("write", "verify"):
            kill_while(out / ".phases" / f".tmp-{phase}", cluster, process, port)
        stdout, stderr = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, stderr
    summary = json.loads(stdout)
    assert summary["topic_connected"]
    told = events_of(events)
    # Of the last one the driver may not hear before it ends.
    assert sum(event["Event"] == "SparkListenerExecutorRemoved" for event in told) >= 4
    assert any(event.get("Task Info", {}).get("Speculative") for event in told), "no task was started twice"
    groups = {level["phase"]: level["groups"] for level in summary["report"]["levels"]}
    for phase in GROUPS:
        assert groups[phase] > 2
        # The event log must show a task that the executor took with it, and that was done by another.
        lost = lost_tasks(told, phase, killed[phase])
        assert lost, f"no task of {phase} was lost: the test killed nobody at work"
        assert all(lost.values()), "a lost task was not done by another executor"
        # Where a second attempt was under way already there is nothing to do again.
        if any(min(begun) > 0 for begun in lost.values()):
            assert summary["spark"][phase.replace(" ", "-")]["retries"] >= 1
    interest = generate_interest(WORKLOAD)
    here = topicloom.build(interest, algorithm="dcbr-m", kernel_nodes=600, eta=20, seed=3)
    assert load_build(out).overlay == here.overlay


SMALL = workload_from_options(600, topics=40, subscriptions="2:9", popularity="zipf:0.5", seed=1)
THEN = """
import sys
from topicloom.cli.main import execute

out, table, *options = sys.argv[1:]
for words in (
    ["build", table, *sys.stdin.read().split(), "--out", out, "--resume"],
    ["verify", table, out, "--quiet"],
    ["inspect", out, "--quiet"],
    ["build", table, "--algorithm", "ring-pt", "--out", out + "-ring", "--quiet"],
    ["content", "traffic", "--log", "log.csv", "--subscriptions", "subs.csv", "--out", "traffic", "--quiet"],
):
    print("code", execute([*words, "--engine", "spark", *options]), flush=True)
"""


@pytest.mark.needs("javac")
def test_a_lost_worker_and_a_killed_driver_change_nothing_behind_an_address(
    cluster: Cluster, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No rename, no shared disk for results: what is whole stays whole, whoever dies in the middle."""
    root, out, table = tmp_path / "root", "store://bucket/out", tmp_path / "table.csv"
    write_text(SMALL, table)
    asked = ["--algorithm", "dcbr-m", "--set", "kernel_nodes=200", "--seed", "3"]
    settings = store_conf(store_jar(tmp_path_factory.getbasetemp()), root)
    options = [
        *cluster.options(**PYTHON),
        *(f"--spark-conf={key}={value}" for key, value in settings.items()),
    ]
    process = started("build", table, *asked, "--engine", "spark", *options, "--out", out)
    try:
        wait_until(process, lambda: any(root.glob("out/tables/conquer-*")), "conquer")
        kill_a_worker(cluster)
        wait_until(process, lambda: any(root.glob("out/tables/write-*")), "write")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    whole = {path.stem for path in (root / "out" / "phases").iterdir()}
    assert {"ingest", "split", "conquer", "combine-1"} <= whole and not (root / "out/summary.json").exists()
    (tmp_path / "log.csv").write_text(LOG)
    (tmp_path / "subs.csv").write_text(SUBSCRIPTIONS)
    answer = subprocess.run(
        [sys.executable, "-c", THEN, out, str(table), *options],
        input=" ".join(asked),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.findall(r"^code (\d)$", answer.stdout, re.MULTILINE) == ["0"] * 5, answer.stderr
    assert "going on after: ingest, split, " in answer.stderr and "conquer, combine 1" in answer.stderr
    interest = generate_interest(SMALL)
    here = topicloom.build(interest, algorithm="dcbr-m", kernel_nodes=200, seed=3)
    assert load_build(root / "out").overlay == here.overlay
    ring = topicloom.build(interest, algorithm="ring-pt")
    assert load_build(root / "out-ring").overlay == ring.overlay

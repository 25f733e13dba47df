"""Workers that do not have this package run the packed one, or say in a sentence what they lack."""

from __future__ import annotations

import json
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
from cluster.standalone import Cluster

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
    answer = run("build", "table.csv", "--out", "built", *options)
    assert answer.returncode == 2
    (sentence,) = answer.stderr.splitlines()
    assert "the Spark workers do not have the Python package" in sentence
    assert "topicloom pack" in sentence
    assert "spark.archives" in sentence
    assert not (tmp_path / "built").exists()

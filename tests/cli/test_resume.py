"""A build on Spark that is killed goes on where it was, and gives the edges of one that was not.

The run is killed as the system does it: SIGKILL to the whole process group, Java and Python workers included.
Runs that go on from the end of a phase use the session of the tests: only who is killed needs a process.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from topicloom.cli.main import execute
from topicloom.files.build_folder import is_build
from topicloom.files.run_folder import whole_phases
from topicloom.workloads.generate import workload_from_options
from topicloom.workloads.text import write_text

SETTINGS = ["--algorithm", "dcbr-m", "--set", "kernel_nodes=150", "--set", "lambda=2", "--seed", "5"]
SPARK = [
    "--engine", "spark", "--master", "local[2]", "--spark-conf", "spark.sql.shuffle.partitions=2",
    # Some twenty runs are started here: Java that starts fast counts for more than Java that runs fast.
    "--spark-conf", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
]  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("resume") / "table.csv"
    workload = workload_from_options(1_200, topics=60, subscriptions="2:9", popularity="zipf:0.5", seed=2)
    write_text(workload, path)
    return path


def start(table: Path, out: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "topicloom", "build", str(table), *SETTINGS, *SPARK, "--resume"]
    return subprocess.Popen(
        [*command, "--out", str(out), "--quiet"],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_when(process: subprocess.Popen[str], happened: Callable[[], bool], what: str) -> None:
    """SIGKILL to everybody as soon as something `happened`."""
    while not happened():
        assert process.poll() is None, f"it ended before {what}: {process.communicate()[1]}"
        time.sleep(0.001)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def kill_inside(table: Path, out: Path, phase: str, before: list[str]) -> None:
    """Killed while the tables of a phase are half-written (reading and proving write none for seconds).

    A phase that was over before it was seen half-done is taken away, with what came after, and tried again.
    """
    root = out / ".phases"
    folder = root / f".tmp-{phase}"

    def begun() -> bool:
        if phase in ("ingest", "verify") and folder.exists():
            time.sleep(0.3)
            return True
        with suppress(OSError):  # it may be renamed while we look
            return any(folder.rglob("_temporary"))  # where Spark's tasks write to
        return False

    for _ in range(5):
        over = root / phase / "record.json"
        kill_when(start(table, out), lambda over=over: begun() or over.exists(), f"the middle of {phase}")
        if folder.exists() and not over.exists():
            return
        for name in set(whole_phases(root)) - set(before):
            shutil.rmtree(root / name)
    pytest.fail(f"{phase} was never seen half-done")


def edges(build: Path) -> list[tuple[str, str]]:
    found = pq.read_table(build / "edges.parquet")
    return list(zip(found["u"].to_pylist(), found["v"].to_pylist(), strict=True))


def phases_of(summary: Path) -> list[str]:
    """The phases that a build with this plan has, in their order."""
    levels = json.loads(summary.read_text())["report"]["levels"]
    assert len(levels) >= 3, "the test needs a level between the first and the last"
    groups = [str(level["groups"]) for level in levels[:-1]]
    represent = ["-".join(["represent", *groups[: count + 1]]) for count in range(len(groups))]
    build = [level["phase"].replace(" ", "-") for level in levels]
    return ["ingest", "split", *represent, *build, "write", "verify"]


def test_a_killed_run_goes_on_from_every_phase(table, tmp_path, spark, capsys):
    """Killed inside each phase, one run after the other in one folder; and once at the very end."""
    local, out, ends = tmp_path / "local", tmp_path / "out", tmp_path / "ends"
    root = out / ".phases"
    assert execute(["build", str(table), *SETTINGS, "--engine", "local", "--out", str(local)]) == 0
    phases = phases_of(local / "summary.json")
    for number, phase in enumerate(phases):
        kill_inside(table, out, phase, phases[:number])
        # Half a phase is there, and must not count: neither for this test nor for the run that follows.
        assert whole_phases(root) == phases[:number]
        assert not is_build(out)
        shutil.copytree(out, ends / phase)
    ended = (root / "verify" / "record.json").exists
    kill_when(start(table, out), lambda: ended() or is_build(out), "the end")
    assert whole_phases(root) == phases or is_build(out)
    last = start(table, out)
    assert last.wait(timeout=120) == 0, last.communicate()[1]
    last.communicate()
    assert_whole(out, local)
    assert execute(["verify", str(table), str(out)]) == 0
    for phase in phases:
        # As a run leaves it that is killed between two phases: nothing of the second one is there.
        shutil.rmtree(ends / phase / ".phases" / f".tmp-{phase}")
        resume = ["build", str(table), *SETTINGS, "--engine", "spark", "--resume"]
        assert execute([*resume, "--out", str(ends / phase)]) == 0, capsys.readouterr().err
        assert_whole(ends / phase, local)
    assert sorted(path.name for path in ends.iterdir()) == sorted(phases)  # nothing was left beside them
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ends", "local", "out"]
    capsys.readouterr()


def assert_whole(out: Path, local: Path) -> None:
    """A finished build with the edges of the local one, and nothing of the way there."""
    assert is_build(out) and not (out / ".phases").exists()
    names = ["edges.parquet", "interest.parquet", "summary.json"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert edges(out) == edges(local)

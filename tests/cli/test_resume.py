"""A build on Spark that is killed goes on where it was, and gives the edges of one that was not.

A run is killed as the system does it: SIGKILL to the whole process group, Java and Python workers included.
What a kill inside each of the phases leaves on disk is taken from a run that is stopped there (SIGSTOP),
copied and let go on: a stopped process writes as little as a dead one.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq
import pytest

import quick_spark
from topicloom.cli.main import execute
from topicloom.errors import InputError
from topicloom.overlay.model.build_folder import is_build
from topicloom.overlay.model.run_folder import RunFolder, whole_phases
from topicloom.overlay.workloads.generate import workload_from_options, write_text

SETTINGS = ["--algorithm", "dcbr-m", "--set", "kernel_nodes=150", "--set", "lambda=2", "--seed", "5"]
SPARK = ["--engine", "spark", *quick_spark.OPTIONS]
ROUNDS = 5  # a phase may pass too fast to be seen half-done; another run is then watched


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


def half_done(root: Path, phase: str) -> bool:
    """Are the tables of a phase half-written?"""
    folder = root / f".tmp-{phase}"
    with suppress(OSError):  # it may be renamed while we look
        # Spark's tasks write to `_temporary`; the first and the last phase have none of them for long.
        return folder.exists() if phase in ("ingest", "verify") else any(folder.rglob("_temporary"))
    return False


def wait_until(process: subprocess.Popen[str], happened: Callable[[], bool], what: str) -> None:
    while not happened():
        assert process.poll() is None, f"it ended before {what}: {process.communicate()[1]}"
        time.sleep(0.001)


def kill(process: subprocess.Popen[str]) -> None:
    """SIGKILL to everybody."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@contextmanager
def stopped(process: subprocess.Popen[str]) -> Iterator[None]:
    """Nobody in the process group does anything inside the block."""
    os.killpg(process.pid, signal.SIGSTOP)
    leader = psutil.Process(process.pid)
    group = [one for one in [leader, *leader.children(recursive=True)] if os.getpgid(one.pid) == leader.pid]
    while any(one.status() not in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE) for one in group):
        time.sleep(0.001)
    yield
    os.killpg(process.pid, signal.SIGCONT)


def copy_half_done(table: Path, out: Path, phases: list[str], states: Path) -> None:
    """Watch one run to its end, and kill it there; copy its folder inside each phase that has no copy yet."""
    root = out / ".phases"
    process = start(table, out)
    for number, phase in enumerate(phases):
        over = root / phase / "record.json"
        wait_until(process, lambda phase=phase, over=over: half_done(root, phase) or over.exists(), phase)
        with stopped(process):
            half = (root / f".tmp-{phase}").exists() and whole_phases(root) == phases[:number]
            if half and not (states / phase).exists():
                shutil.copytree(out, states / phase)
    wait_until(process, lambda: over.exists() or is_build(out), "the end")
    kill(process)


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
    return ["ingest", "split", *represent, *build, "polish", "write", "verify"]


@pytest.fixture(scope="module")
def local(table, tmp_path_factory) -> Path:
    """The build that nobody kills."""
    out = tmp_path_factory.mktemp("whole") / "local"
    assert execute(["build", str(table), *SETTINGS, "--engine", "local", "--out", str(out), "--quiet"]) == 0
    return out


def resume(table: Path, out: Path) -> int:
    return execute(["build", str(table), *SETTINGS, "--engine", "spark", "--resume", "--out", str(out)])


def test_a_run_goes_on_from_inside_every_phase(table, local, tmp_path, spark, capsys, monkeypatch):
    """Half a phase must not count, neither as done nor as something in the way: it is done again."""
    states = tmp_path / "states"
    phases = phases_of(local / "summary.json")
    for number in range(ROUNDS):
        out = tmp_path / f"out-{number}"
        copy_half_done(table, out, phases, states)
        if all((states / phase).exists() for phase in phases):
            break
    assert sorted(path.name for path in states.iterdir()) == sorted(phases), "some were never seen half-done"
    whole = Path(shutil.copytree(states / "verify", tmp_path / "whole")) / ".phases"
    between = Path(shutil.copytree(states / "conquer", tmp_path / "between"))
    for number, phase in enumerate(phases[:-1]):
        root = states / phase / ".phases"
        assert whole_phases(root) == phases[:number]
        assert not is_build(states / phase)
        with monkeypatch.context() as patch:
            patch.setattr(RunFolder, "keep", keep_until(root / phase))
            assert resume(table, states / phase) == 2
        assert whole_phases(root) == phases[: number + 1]
        assert rows_of(root / phase) == rows_of(whole / phase)
    assert resume(table, states / "verify") == 0
    assert_whole(states / "verify", local)
    # As a run leaves it that is killed between two phases: nothing of the second one is there.
    shutil.rmtree(between / ".phases" / ".tmp-conquer")
    assert resume(table, between) == 0
    assert_whole(between, local)
    # What was watched was killed at the very end. Its last phases are all there.
    assert resume(table, out) == 0
    assert_whole(out, local)
    assert sorted(path.name for path in states.iterdir()) == sorted(phases)  # nothing was left beside them
    capsys.readouterr()


def keep_until(folder: Path) -> Callable[..., Any]:
    """`RunFolder.keep` that fails as soon as a phase is whole."""
    keep = RunFolder.keep

    def kept(self: RunFolder, *arguments: Any) -> Any:
        record = keep(self, *arguments)
        if (folder / "record.json").exists():
            raise InputError("enough")
        return record

    return kept


def rows_of(phase: Path) -> dict[str, list[str]]:
    """All rows of the tables of a phase; their order is the tasks' own."""
    tables = {path.parent for path in phase.rglob("*.parquet") if path.is_file()}
    return {
        str(table.relative_to(phase)): sorted(map(repr, pq.read_table(table).to_pylist())) for table in tables
    }


def test_a_run_that_is_killed_inside_a_phase_goes_on(table, local, tmp_path, spark, capsys):
    """As the system kills: everybody, with whatever they have in hand."""
    out = tmp_path / "out"
    root = out / ".phases"
    phases = phases_of(local / "summary.json")
    process = start(table, out)
    wait_until(process, lambda: half_done(root, "conquer") or "conquer" in whole_phases(root), "conquer")
    kill(process)
    done = whole_phases(root)
    assert "split" in done and done == phases[: len(done)]
    assert resume(table, out) == 0
    assert_whole(out, local)
    assert execute(["verify", str(table), str(out)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    capsys.readouterr()


def assert_whole(out: Path, local: Path) -> None:
    """A finished build with the edges of the local one, and nothing of the way there."""
    assert is_build(out) and not (out / ".phases").exists()
    names = ["edges.parquet", "interest.parquet", "summary.json"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert edges(out) == edges(local)

"""Executors die in the middle of a build, and the result is that of a build in which nobody died."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import topicloom
from cluster.standalone import Cluster
from topicloom.overlay.model.build_folder import load_build
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options
from topicloom.overlay.workloads.text import write_text

# Half of the nodes are bulk, so that the combine phase has work enough to be killed in.
BUILD = ["--algorithm", "dcbr-m", "--set", "kernel_nodes=1500", "--set", "eta=20", "--seed", "3"]
PHASES = ("conquer", "combine 1")
WORKLOAD = workload_from_options(12_000, topics=300, subscriptions="10:30", popularity="zipf:0.5", seed=1)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    write_text(WORKLOAD, path)
    return path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def asked(port: int, question: str) -> list[dict[str, Any]]:
    """What the driver's own page answers; nothing while it is not up."""
    base = f"http://127.0.0.1:{port}/api/v1/applications"
    with suppress(OSError, ValueError, IndexError):
        with urllib.request.urlopen(base, timeout=5) as answer:
            name = json.load(answer)[0]["id"]
        with urllib.request.urlopen(f"{base}/{name}/{question}", timeout=5) as answer:
            return list(json.load(answer))
    return []


def kill_in(phase: str, cluster: Cluster, process: subprocess.Popen[str], port: int) -> None:
    """SIGKILL to an executor while it builds a group of `phase`, with more of them to come.

    An executor that ends its group just before it dies is given the next one, so a task always dies with it.
    After an earlier kill the other one may still be starting: it is not the one to kill.
    """
    while True:
        assert process.poll() is None, f"the build ended before {phase}: {process.communicate()}"
        for stage in asked(port, "stages?status=active"):
            more = stage["numTasks"] > stage["numCompleteTasks"] + stage["numActiveTasks"]
            if stage.get("description") != phase or stage["numTasks"] <= 2 or not more:
                continue
            at_work = [one["id"] for one in asked(port, "executors") if one["activeTasks"]]
            processes = cluster.executors()
            for name in at_work:
                if name in processes:
                    os.kill(processes[name], signal.SIGKILL)
                    return
        time.sleep(0.02)


def events_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in folder.iterdir() for line in path.read_text().splitlines()]


def test_killed_executors_change_nothing(cluster: Cluster, table: Path, tmp_path: Path):
    port = free_port()
    # The page must not lag behind what the executors do.
    page = {"ui_enabled": "true", "ui_port": str(port), "ui_liveUpdate_period": "0"}
    # An executor that takes another's place would unpack the archive first: here all use one Python.
    python = {"archives": "", "pyspark_python": sys.executable}
    command = [sys.executable, "-m", "topicloom", "build", str(table), *BUILD]
    process = subprocess.Popen(
        [*command, "--engine", "spark", *cluster.options(**page, **python), "--json",
         "--event-log", str(tmp_path / "events"), "--out", str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={key: value for key, value in os.environ.items() if not key.startswith("PYSPARK_")},
    )  # fmt: skip
    try:
        for phase in PHASES:
            kill_in(phase, cluster, process, port)
        stdout, stderr = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, stderr
    summary = json.loads(stdout)
    assert summary["topic_connected"]
    groups = {level["phase"]: level["groups"] for level in summary["report"]["levels"]}
    lost = lost_tasks(events_of(tmp_path / "events"))
    for phase in PHASES:
        assert groups[phase] > 2
        # The event log must show a task that an executor took with it, and that was done by another.
        assert lost[phase], f"no task of {phase} was lost: the test killed nobody at work"
        assert all(retried for retried in lost[phase].values())
    interest = generate_interest(WORKLOAD)
    here = topicloom.build(interest, algorithm="dcbr-m", kernel_nodes=1500, eta=20, seed=3)
    assert load_build(tmp_path / "out").overlay == here.overlay


def lost_tasks(events: list[dict[str, Any]]) -> dict[str, dict[tuple[int, int], bool]]:
    """For each phase the tasks (stage, index) that ended because their executor was lost: done later?"""
    phases: dict[int, str] = {}
    lost: dict[str, dict[tuple[int, int], bool]] = {phase: {} for phase in PHASES}
    for event in events:
        if event["Event"] == "SparkListenerStageSubmitted":
            label = event.get("Properties", {}).get("spark.job.description", "")
            phases[event["Stage Info"]["Stage ID"]] = label
        if event["Event"] != "SparkListenerTaskEnd" or phases.get(event["Stage ID"]) not in PHASES:
            continue
        of_phase = lost[phases[event["Stage ID"]]]
        task = (event["Stage ID"], event["Task Info"]["Index"])
        reason = event["Task End Reason"]["Reason"]
        if reason == "ExecutorLostFailure":
            of_phase[task] = False
        elif reason == "Success" and task in of_phase:
            of_phase[task] = True
    return lost

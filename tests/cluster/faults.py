"""Killing parts of a cluster at the right moment, and what Spark's event log tells of it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from cluster.standalone import Cluster


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


def kill_while(folder: Path, cluster: Cluster, process: subprocess.Popen[str], port: int) -> None:
    """SIGKILL to an executor at work while this folder is there: that of a phase that is not whole yet."""

    def killed() -> bool:
        at_work = [one["id"] for one in asked(port, "executors") if one["activeTasks"]]
        processes = cluster.executors()
        for name in at_work:
            if name in processes and folder.exists():
                os.kill(processes[name], signal.SIGKILL)
                return folder.exists()
        return False

    wait_until(process, lambda: folder.exists() and killed(), f"a kill in {folder.name}")


def kill_a_worker(cluster: Cluster) -> None:
    """SIGKILL to a worker of the cluster and its executors: nobody takes their place."""
    worker = psutil.Process(cluster.workers[0])
    for one in [worker, *worker.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            one.kill()


def wait_until(process: subprocess.Popen[str], happened: Callable[[], bool], what: str) -> None:
    """Look again and again while the process runs."""
    while not happened():
        assert process.poll() is None, f"it ended before {what}: {process.communicate()}"
        time.sleep(0.01)


def lost_tasks(events: list[dict[str, Any]], wanted: Sequence[str]) -> dict[str, dict[tuple[int, int], bool]]:
    """For each phase the tasks (stage, index) that were lost with an executor: was another attempt done?"""
    phases: dict[int, str] = {}
    ended: dict[str, set[tuple[str, int, int]]] = {"ExecutorLostFailure": set(), "Success": set()}
    for event in events:
        if event["Event"] == "SparkListenerStageSubmitted":
            label = event.get("Properties", {}).get("spark.job.description", "")
            phases[event["Stage Info"]["Stage ID"]] = label
        if event["Event"] == "SparkListenerTaskEnd":
            stage, reason = event["Stage ID"], event["Task End Reason"]["Reason"]
            ended.setdefault(reason, set()).add((phases.get(stage, ""), stage, event["Task Info"]["Index"]))
    lost = ended["ExecutorLostFailure"]
    return {
        phase: {task[1:]: task in ended["Success"] for task in lost if task[0] == phase} for phase in wanted
    }

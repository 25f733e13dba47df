"""Killing parts of a cluster at the right moment, and what Spark's event log tells of it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable
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


def kill_in(phase: str, cluster: Cluster, process: subprocess.Popen[str], port: int) -> str:
    """SIGKILL to an executor while it builds a group of `phase`; return Spark's name of it.

    It is stopped first, and killed only if it still has a task then: nothing that it does can end in between.
    What it had sent before may end a task yet; but then it is given the next one, as long as there are more.
    After an earlier kill the other one may still be starting: it is not the one to kill.
    """
    while True:
        assert process.poll() is None, f"the build ended before {phase}: {process.communicate()}"
        for stage in asked(port, "stages?status=active"):
            more = stage["numTasks"] > stage["numCompleteTasks"] + stage["numActiveTasks"]
            if stage.get("description") != phase or stage["numTasks"] <= 2 or not more:
                continue
            processes = cluster.executors()
            for name in _at_work(stage, port) & processes.keys():
                os.kill(processes[name], signal.SIGSTOP)
                time.sleep(0.1)  # for the driver to take in what was sent before
                if name in _at_work(stage, port):
                    os.kill(processes[name], signal.SIGKILL)
                    return name
                os.kill(processes[name], signal.SIGCONT)
        time.sleep(0.02)


def _at_work(stage: dict[str, Any], port: int) -> set[str]:
    """The executors that have a task of this stage."""
    question = f"stages/{stage['stageId']}/{stage['attemptId']}/taskList?status=running&length=1000"
    return {task["executorId"] for task in asked(port, question)}


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


def lost_tasks(events: list[dict[str, Any]], phase: str, executor: str) -> dict[tuple[int, int], list[int]]:
    """The tasks (stage, index) of a phase that a killed executor took with it, and when others began them.

    Only attempts that were successful count there. The times are milliseconds after the loss: below zero if
    Spark had begun a second attempt before it knew of it.
    """
    stages: set[int] = set()
    lost: dict[tuple[int, int], int] = {}
    begun: dict[tuple[int, int], list[int]] = {}
    for event in events:
        if event.get("Properties", {}).get("spark.job.description") == phase and "Stage Info" in event:
            stages.add(event["Stage Info"]["Stage ID"])
        if event["Event"] == "SparkListenerTaskEnd" and event["Stage ID"] in stages:
            task, reason = event["Task Info"], event["Task End Reason"]["Reason"]
            place = (event["Stage ID"], task["Index"])
            if reason == "Success":
                begun.setdefault(place, []).append(task["Launch Time"])
            elif reason == "ExecutorLostFailure" and task["Executor ID"] == executor:
                lost[place] = task["Finish Time"]
    return {place: [began - at for began in begun.get(place, [])] for place, at in lost.items()}

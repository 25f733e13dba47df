"""A real standalone Spark cluster on loopback: one master, two workers that know nothing of this checkout.

All three run from the pip install with an environment made from nothing. Their Python is a bare one: what
tasks need beyond it must come with the session (`Cluster.conf`).
"""

from __future__ import annotations

import ctypes
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyspark

import quick_spark
from topicloom.tables.spark.java import find_java

SPARK_HOME = Path(pyspark.__file__).parent
START_WITHIN = 60  # seconds; it takes about five
WORKERS = 2


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where the cluster is, and who belongs to it."""

    master: str
    folder: Path
    workers: tuple[int, ...]
    archive: Path
    private: Path | None  # a folder that is another one on each worker and here; None: not allowed here

    def conf(self, **more: str) -> dict[str, str]:
        """Settings of a session here, with the packed environment: `spark.` and `more`, _ for a dot."""
        settings = {"archives": str(self.archive), **more}
        return quick_spark.CLUSTER | {
            f"spark.{key.replace('_', '.')}": value for key, value in settings.items()
        }

    def options(self, **more: str) -> list[str]:
        """The same for a command line."""
        settings = self.conf(**more).items()
        return ["--master", self.master, *(f"--spark-conf={key}={value}" for key, value in settings)]

    def executors(self) -> dict[str, int]:
        """The process of each executor, by Spark's name of it: kill one and its worker starts another."""
        found = {}
        for worker in self.workers:
            with suppress(psutil.NoSuchProcess):
                for child in psutil.Process(worker).children():
                    if name := _executor_name(child):
                        found[name] = child.pid
        return found

    def work_folders(self) -> list[Path]:
        """Where executors ran, one folder each: their output, and the archive as Spark unpacked it."""
        return sorted(self.folder.glob("work-*/app-*/[0-9]*"))


def _executor_name(process: psutil.Process) -> str | None:
    with suppress(psutil.Error):
        words = process.cmdline()
        if any("CoarseGrainedExecutorBackend" in word for word in words):
            return words[words.index("--executor-id") + 1]
    return None


@contextmanager
def running_cluster(folder: Path, archive: Path) -> Iterator[Cluster]:
    """A cluster that works in `folder`; everything it started ends with the block, whatever happens in it."""
    environment = _environment(folder)
    daemons: list[subprocess.Popen[bytes]] = []

    private = folder / "private"
    private.mkdir()
    hiding = _hiding(private)

    def start(name: str, role: str, *arguments: str) -> Path:
        log = folder / f"{name}.log"
        command = [str(SPARK_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{role}", *arguments]
        if role == "worker.Worker":
            command = [*hiding, *command]
        with log.open("wb") as sink:
            daemons.append(
                subprocess.Popen(
                    command,
                    env=environment,
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=sink,
                    stderr=sink,
                    start_new_session=True,  # Ctrl-C at the tests must not reach it before we do
                    preexec_fn=_end_with_parent,
                )
            )
        return log

    try:
        log = start("master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        (master,) = _wait_for(log, r"Starting Spark master at (spark://\S+)", 1, daemons)
        for number in range(WORKERS):
            # Two hosts: on the one that runs a task Spark starts no second attempt at it.
            host = f"127.0.0.{number + 1}"
            work = ["--work-dir", str(folder / f"work-{number}"), "--webui-port", "0", "--host", host]
            start(f"worker-{number}", "worker.Worker", *work, "--cores", "1", "--memory", "2g", master)
        _wait_for(log, r"Registering worker (\S+)", WORKERS, daemons)
        workers = tuple(daemon.pid for daemon in daemons[1:])
        yield Cluster(master, folder, workers, archive, private if hiding else None)
    finally:
        _end(daemons)
        shutil.rmtree(folder, ignore_errors=True)  # each executor unpacked half a gigabyte there


def _hiding(folder: Path) -> list[str]:
    """How to start a process that has a disk of its own at this folder; empty where that is not allowed."""
    words = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]
    words += ['mount -t tmpfs none "$0" && exec "$@"', str(folder)]
    with suppress(OSError):
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
            return words
    return []


def _end_with_parent() -> None:
    """Where the system can: a daemon ends when the tests are killed; its executors end with it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _environment(folder: Path) -> dict[str, str]:
    """All that the cluster's processes get to know: not this checkout, not its virtual environment."""
    python = folder / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(python)], check=True)
    for name in ("java", "tmp"):
        (folder / name).mkdir()
    return {
        "PATH": f"{python / 'bin'}:/usr/bin:/bin",
        "HOME": str(folder),
        "TMPDIR": str(folder / "tmp"),
        "LANG": "C.UTF-8",
        "JAVA_HOME": str(find_java().home(folder / "java")),
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_DIRS": str(folder / "tmp"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "512m",
        "SPARK_DAEMON_JAVA_OPTS": quick_spark.JAVA,
    }


def _wait_for(log: Path, pattern: str, count: int, daemons: list[subprocess.Popen[bytes]]) -> list[str]:
    give_up = time.monotonic() + START_WITHIN
    while len(found := re.findall(pattern, log.read_text(errors="replace"))) < count:
        if time.monotonic() > give_up or any(daemon.poll() is not None for daemon in daemons):
            raise RuntimeError(
                "\n".join(path.read_text(errors="replace") for path in log.parent.glob("*.log"))
            )
        time.sleep(0.1)
    return found


def _end(daemons: list[subprocess.Popen[bytes]]) -> None:
    """End the daemons and all that they started; Python workers have left the process group by themselves."""
    family = []
    for daemon in daemons:
        with suppress(psutil.NoSuchProcess):
            parent = psutil.Process(daemon.pid)
            family += [*parent.children(recursive=True), parent]
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    for daemon in daemons:
        daemon.wait()
    _, alive = psutil.wait_procs(family, timeout=60)
    assert not alive, f"still running: {alive}"

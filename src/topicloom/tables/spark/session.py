"""The one Spark session of this process: created when first asked for, silent, removed without a trace.

Only this file starts or ends a JVM. What Spark's faults mean to a user stands in `failures.py`.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicloom.errors import UsageError
from topicloom.tables.spark.class_archive import MAKING, using_archive
from topicloom.tables.spark.java import Java, find_java
from topicloom.tables.spark.pack_manifest import PYTHON, worker_python
from topicloom.tables.spark.scratch import new_scratch
from topicloom.tables.spark.settings import (
    JAVA_OPTIONS,
    QUICK_JAVA,
    check_reachable,
    checked_settings,
    default_conf,
    folder_conf,
    is_local,
    java_options,
    stays_here,
)

if TYPE_CHECKING:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

LOG_VARIABLE = "TOPICLOOM_SPARK_LOG"
_START_WITHIN = 60.0  # seconds that Java gets to start, so that an interrupted start can be ended


@dataclass(slots=True)
class _Running:
    spark: SparkSession
    folder: Path
    process: subprocess.Popen[bytes] | None = None
    ours: bool = True
    quick: bool = False  # nothing of it lies outside of the folder, so it may be ended at once
    asked: dict[str, str] = field(default_factory=dict)


_running: _Running | None = None
_lock = threading.Lock()


def get_session(
    *, master: str | None = None, conf: Mapping[str, str] | None = None, quick: bool = False
) -> SparkSession:
    """Return the session of this process, started on the first call (a few seconds).

    `quick` suits a process that reads small inputs only. `conf` wins over every default. A session that the
    caller's program started itself is used as it is and never stopped from here.
    """
    global _running
    asked = checked_settings(master, conf)
    with _lock:
        if _running is None or _stopped(_running.spark):
            _forget()
            _running = _adopt() or _start(asked, quick)
            _running.asked.update(asked)
        else:
            _apply(_running, asked)
        return _running.spark


def session_runs() -> bool:
    """Return whether there is a session already, so that asking for one takes no time."""
    return _running is not None and not _stopped(_running.spark)


def stop_session() -> None:
    """End the session and its JVM and remove its folder; a session started elsewhere is left alone."""
    with _lock:
        _forget()


def session_folder(spark: SparkSession) -> Path:
    """Return a folder on the driver for this session's own temporary files; removed with the session."""
    with _lock:
        global _running
        if _running is None:
            _running = _Running(spark, new_scratch(), ours=False)
        return _running.folder


# --- starting ------------------------------------------------------------------------------------------


def _start(asked: dict[str, str], quick: bool) -> _Running:
    master = asked.get("spark.master", "local[*]")
    check_reachable(master)
    java = find_java()
    folder = new_scratch()
    try:
        defaults = default_conf(master, quick=quick) | folder_conf(master, folder)
        settings = {"spark.master": master, **defaults, **asked}
        quick = quick and is_local(master)
        ours = [*_fast_start(asked, java, quick)]
        kept = quick and " " not in str(folder) and not _writes_at_end(asked)
        settings[JAVA_OPTIONS] = java_options(asked, *ours, *([f"-Djava.io.tmpdir={folder}"] if kept else []))
        with _environment(_variables(settings, folder, java)), _own_interrupt_handler():
            running = _launch(settings, folder)
        running.quick = kept
        return running
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _launch(settings: dict[str, str], folder: Path) -> _Running:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    from topicloom.tables.spark.failures import first_line

    conf = SparkConf(loadDefaults=False)
    for key, value in settings.items():
        conf.set(key, value)
    log = folder / "spark.log"
    gateway: Any = None
    try:
        with log.open("wb") as sink:
            # The JVM never sees the terminal: its own start-up chatter comes before any log setting.
            loud = LOG_VARIABLE in os.environ
            streams = {"stdout": sink, "stderr": None if loud else sink}
            gateway = _gateway(conf, streams)
        SparkContext(conf=conf, gateway=gateway)
        spark = SparkSession.builder.getOrCreate()
        spark.conf.get("spark.sql.ansi.enabled")  # a wrong SQL setting shows itself only when one is read
    except (PySparkException, Py4JError, OSError, ValueError) as error:
        # Once the JVM answers, errors come from there; before, only its output tells.
        reason = (_reason_in(log) if gateway is None else "") or first_line(error)
        _stop_quietly(SparkContext._active_spark_context)
        _end_jvm(getattr(gateway, "proc", None))
        raise UsageError(
            f"Spark did not start with master {settings['spark.master']!r}: {reason}; "
            "check `master` and `spark_conf`"
        ) from None
    except BaseException:  # Ctrl-C: Java itself does not hear it
        _end_jvm(getattr(gateway, "proc", None))
        raise
    return _Running(spark, folder, gateway.proc)


def _gateway(conf: SparkConf, streams: dict[str, Any]) -> Any:
    """Start Java and connect to it.

    In a thread of its own: pyspark forgets a Java whose start is interrupted, and nobody would end it.
    """
    from pyspark.java_gateway import launch_gateway

    started: Future[Any] = Future()

    def launch() -> None:
        try:
            started.set_result(launch_gateway(conf, streams))  # type: ignore[no-untyped-call]
        except BaseException as error:
            started.set_exception(error)

    thread = threading.Thread(target=launch, daemon=True)
    thread.start()
    try:
        return started.result()
    except BaseException:
        thread.join(timeout=_START_WITHIN)
        if started.done() and not started.exception():
            _end_jvm(started.result().proc)
        raise


def _fast_start(asked: dict[str, str], java: Java, quick: bool) -> Iterator[str]:
    """Yield options that make Java start faster; a garbage collector only if the caller may have no other."""
    if not _makes_archive(asked):
        yield using_archive(java)
    if quick and JAVA_OPTIONS not in asked:
        yield QUICK_JAVA


def _makes_archive(asked: dict[str, str]) -> bool:
    return MAKING in asked.get(JAVA_OPTIONS, "")


def _variables(settings: dict[str, str], folder: Path, java: Java) -> dict[str, str]:
    """Return what Spark reads from the environment; which Python the tasks run it reads only there."""
    master = settings["spark.master"]
    variables = {"JAVA_HOME": str(java.home(folder))}
    if stays_here(master):
        variables["SPARK_LOCAL_IP"] = "127.0.0.1"
    if is_local(master):
        import pyspark

        variables |= {
            "SPARK_HOME": str(Path(pyspark.__file__).parent),
            "PYSPARK_PYTHON": settings.get(PYTHON, sys.executable),
            "PYSPARK_DRIVER_PYTHON": sys.executable,
        }
        return variables
    if python := worker_python(settings):
        variables["PYSPARK_PYTHON"] = python
    if "spark.local.dir" not in settings and "SPARK_LOCAL_DIRS" not in os.environ:
        # The driver unpacks archives too. The setting would also move the workers' files, the variable not.
        variables["SPARK_LOCAL_DIRS"] = str(folder / "local")
    return variables


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set variables that Spark reads while it starts; restore the caller's environment afterwards."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _own_interrupt_handler() -> Iterator[None]:
    """Restore the handler of Ctrl-C, which pyspark replaces when a context starts."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _reason_in(log: Path) -> str:
    """Return what the JVM said before it gave up, in one line; empty when it said nothing of use."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    told = [line.strip().rstrip(".") for line in lines if line.strip() and not line.startswith("WARNING")]
    for pattern in (
        r"^(Invalid .+|Too small .+|Unrecognized .+)",
        r"(?:Exception|Error)(?: in \S+ \S+)?: (.+)",
    ):
        found = next((match[1] for line in told if (match := re.search(pattern, line))), None)
        if found:
            return found
    return told[-1] if told else ""


# --- running and ending --------------------------------------------------------------------------------


def _adopt() -> _Running | None:
    """Return the session of the program that calls us, if it has one."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is None and SparkContext._active_spark_context is not None:
        active = SparkSession.builder.getOrCreate()  # in another thread none is active
    return None if active is None or _stopped(active) else _Running(active, new_scratch(), ours=False)


def _stopped(spark: SparkSession) -> bool:
    return spark.sparkContext._jsc is None


def _apply(running: _Running, asked: dict[str, str]) -> None:
    for key, value in asked.items():
        if running.asked.get(key) == value or running.spark.conf.get(key, None) == value:
            continue
        if not running.spark.conf.isModifiable(key):
            raise UsageError(f"{key} cannot become {value!r} while Spark runs: call stop_session() first")
        running.spark.conf.set(key, value)
        running.asked[key] = value


def _forget(*, at_end: bool = False) -> None:
    """End our session; `at_end` of the process nobody needs what pyspark itself remembers of it."""
    global _running
    running, _running = _running, None
    if running is None:
        return
    if not running.ours:
        shutil.rmtree(running.folder, ignore_errors=True)
        return
    # A stuck task must not keep the user waiting: after a while the JVM is ended as it is.
    patience = _patience(running.asked)
    _hush(running.spark)
    if at_end and running.quick and not _writes_at_end(running.asked):
        _end_jvm(running.process, 0.0)
        shutil.rmtree(running.folder, ignore_errors=True)
        return
    stopper = threading.Thread(target=_stop_quietly, args=(running.spark,), daemon=True)
    stopper.start()
    stopper.join(timeout=patience)
    _end_jvm(running.process, patience)
    shutil.rmtree(running.folder, ignore_errors=True)


def _writes_at_end(asked: dict[str, str]) -> bool:
    """Return whether Spark or Java has something to write when it ends."""
    return _makes_archive(asked) or asked.get("spark.eventLog.enabled") == "true"


def _patience(asked: dict[str, str]) -> float:
    """Return the seconds that Spark gets to end: more with executors or with something to write."""
    if _makes_archive(asked):
        return 120.0
    logs = asked.get("spark.eventLog.enabled") == "true"
    return 15.0 if logs or not is_local(asked.get("spark.master", "local")) else 3.0


def _hush(spark: SparkSession) -> None:
    """Silence the thread that takes counts from Java: it shows a traceback when Java ends first."""
    with suppress(Exception):
        server: Any = spark.sparkContext._accumulatorServer
        server.handle_error = lambda *_: None


def _stop_quietly(spark: SparkSession | SparkContext | None) -> None:
    with suppress(Exception):
        if spark is not None:
            spark.stop()


def _end_jvm(process: subprocess.Popen[bytes] | None, patience: float = 3.0) -> None:
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    if gateway is not None and gateway.proc is process:
        # pyspark keeps the gateway for a next context; ours ends, so the next session starts a new one.
        with suppress(Exception):
            gateway.shutdown()
        SparkContext._gateway = None
        SparkContext._jvm = None
    if process is None:
        return
    if patience:
        process.terminate()
    else:
        process.kill()
    try:
        process.wait(timeout=patience or None)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _end_of_process() -> None:
    """End the session as quickly as it may be ended."""
    with _lock:
        _forget(at_end=True)


atexit.register(_end_of_process)

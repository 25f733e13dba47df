"""The one Spark session of this process: created when first asked for, silent, removed without a trace.

A session that the caller's program has started, or Java that `spark-submit` has, is used and left alone.
Java itself: `jvm.py`.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicloom.errors import UsageError
from topicloom.tables.spark.class_archive import MAKING, using_archive
from topicloom.tables.spark.given import SUBMITTED, conf_folder, given_settings
from topicloom.tables.spark.java import Java, find_java
from topicloom.tables.spark.jvm import (
    end_jvm,
    environment,
    hush,
    java_runs,
    java_settings,
    launch,
    own_interrupt_handler,
    stop_quietly,
)
from topicloom.tables.spark.links import check_version, is_connect, is_stopped, master_of
from topicloom.tables.spark.pack_manifest import PYTHON, worker_python
from topicloom.tables.spark.scratch import new_scratch, remove_scratch
from topicloom.tables.spark.settings import (
    JAVA_OPTIONS,
    JAVA_STARTED_WITH,
    QUICK_JAVA,
    RULES,
    check_reachable,
    checked_settings,
    default_conf,
    folder_conf,
    is_local,
    java_options,
    size_in_bytes,
    stays_here,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


@dataclass(slots=True)
class _Running:
    spark: SparkSession
    folder: Path
    process: subprocess.Popen[bytes] | None = None  # of Java, if we started it
    ours: bool = True
    quick: bool = False  # nothing of it lies outside of the folder, so it may be ended at once
    asked: dict[str, str] = field(default_factory=dict)


_running: _Running | None = None
_lock = threading.Lock()
_activating = threading.Lock()
_passing = 0  # blocks of `passing_session` that are open
_loose: Path | None = None  # a folder for sessions of callers, where there is none of ours
_stays = False  # a session ran before the first of them


def get_session(
    *, master: str | None = None, conf: Mapping[str, str] | None = None, quick: bool = False
) -> SparkSession:
    """Return the session of this process, started on the first call (a few seconds).

    `quick` suits a process that reads small inputs only. `conf` wins over every default. Where the caller's
    program has a session of its own, this is a second one on the same Spark, with the SQL settings that our
    rules need; what cannot be applied there is refused, and it is never stopped from here.
    """
    global _running
    asked = checked_settings(master, conf)
    with _lock:
        if _running is None or is_stopped(_running.spark):
            _forget()
            _running = _adopt(asked) or _start(asked, quick)
            try:
                check_version(_running.spark)
            except UsageError:
                _forget()
                raise
        else:
            _apply(_running, asked)
        return _running.spark


def active_session() -> SparkSession | None:
    """Return the session that the caller's program works in, classic or Connect, if there is one."""
    if "pyspark" not in sys.modules:
        return None
    from pyspark.sql import SparkSession

    found = SparkSession.getActiveSession()
    ours = _running is not None and _running.ours
    return None if found is None or ours or is_stopped(found) else found


def session_runs() -> bool:
    """Return whether there is a session already, so that asking for one takes no time."""
    return _running is not None and not is_stopped(_running.spark)


@contextmanager
def passing_session() -> Iterator[None]:
    """End a session that starts in this block with it: it must not become the caller's next one.

    Blocks may overlap in several threads: the last one to end ends it.
    """
    global _passing, _stays
    with _lock:
        _stays = _stays if _passing else session_runs()
        _passing += 1
    try:
        yield
    finally:
        with _lock:
            _passing -= 1
            if not _passing and not _stays:
                _forget()


def stop_session() -> None:
    """End the session and its JVM and remove its folder; a session started elsewhere is left alone."""
    with _lock:
        _forget()


def may_collect(spark: SparkSession, most: int) -> int:
    """Return how many bytes of rows may come to the driver: `most`, or half of what this session lets pass.

    The session may be the program's own, or that of a small machine.
    """
    passes = size_in_bytes(str(spark.conf.get("spark.driver.maxResultSize", "1g")), plain=1)
    return min(most, passes // 2) if passes else most  # zero: no limit


def session_folder(spark: SparkSession) -> Path:
    """Return a folder on the driver for this session's own temporary files; removed with the session."""
    global _loose
    with _lock:
        if _running is not None:
            return _running.folder
        _loose = _loose or new_scratch()
        return _loose


# --- starting ------------------------------------------------------------------------------------------


def _start(asked: dict[str, str], quick: bool) -> _Running:
    running = java_runs()
    given = java_settings() if running else given_settings(os.environ)
    if running:
        _refuse_late(asked, given)
    known = {**given, **asked}
    master = known.get("spark.master", "local[*]")
    check_reachable(master)
    java = None if running else find_java()
    folder = new_scratch()
    try:
        quick = quick and is_local(master)
        ours = default_conf(master, quick=quick, given=known)
        ours |= {key: value for key, value in folder_conf(master, folder).items() if key not in known}
        settings = {"spark.master": master, **ours, **asked}
        kept = quick and java is not None and " " not in str(folder) and not _writes_at_end(known)
        if java is None:
            settings = {key: value for key, value in settings.items() if key not in JAVA_STARTED_WITH}
        else:
            fast = [*_fast_start(known, java, quick), *([f"-Djava.io.tmpdir={folder}"] if kept else [])]
            settings[JAVA_OPTIONS] = java_options(known, *fast)
        variables = _variables({**given, **settings}, folder, java)
        with environment(variables), own_interrupt_handler():
            spark, process = launch(settings, master, folder)
        hush(spark)  # Java may be ended by the system; the error of whoever waits for it says so
        return _Running(spark, folder, None if running else process, quick=kept, asked=known)
    except BaseException:
        remove_scratch(folder)
        raise


def _refuse_late(asked: Mapping[str, str], given: Mapping[str, str]) -> None:
    """Refuse what was decided when Java started: its memory, and with spark-submit where Spark runs."""
    for key in ("spark.master", *JAVA_STARTED_WITH):
        if (
            key in asked
            and asked[key] != given.get(key)
            and (key != "spark.master" or SUBMITTED in os.environ)
        ):
            what = f"`master={asked[key]}`" if key == "spark.master" else f"`spark_conf={key}={asked[key]}`"
            now = f"Spark runs with {given[key]!r}" if key in given else "Spark's Java runs already"
            raise UsageError(f"{what} comes too late, {now}: give it to spark-submit, or to your own session")


def _fast_start(asked: Mapping[str, str], java: Java, quick: bool) -> Iterator[str]:
    """Yield options that make Java start faster; a garbage collector only if the caller may have no other."""
    if not _makes_archive(asked):
        yield using_archive(java)
    if quick and JAVA_OPTIONS not in asked:
        yield QUICK_JAVA


def _makes_archive(asked: Mapping[str, str]) -> bool:
    return MAKING in asked.get(JAVA_OPTIONS, "")


def _variables(settings: Mapping[str, str], folder: Path, java: Java | None) -> dict[str, str]:
    """Return what Spark reads from the environment; which Python the tasks run it reads only there."""
    master = settings["spark.master"]
    variables = {} if java is None else {"JAVA_HOME": str(java.home(folder))}
    if stays_here(master):
        variables["SPARK_LOCAL_IP"] = "127.0.0.1"
    if is_local(master):
        import pyspark

        conf = conf_folder(os.environ)
        return variables | {
            "SPARK_HOME": str(Path(pyspark.__file__).parent),
            # Another home, but the same settings.
            **({"SPARK_CONF_DIR": str(conf)} if conf is not None else {}),
            "PYSPARK_PYTHON": settings.get(PYTHON, sys.executable),
            "PYSPARK_DRIVER_PYTHON": sys.executable,
        }
    if python := worker_python(settings):
        variables["PYSPARK_PYTHON"] = python
    if "spark.local.dir" not in settings and "SPARK_LOCAL_DIRS" not in os.environ:
        # The driver unpacks archives too. The setting would also move the workers' files, the variable not.
        variables["SPARK_LOCAL_DIRS"] = str(folder / "local")
    return variables


# --- running and ending --------------------------------------------------------------------------------


def _adopt(asked: dict[str, str]) -> _Running | None:
    """Return a session beside that of the program that calls us, if it has one."""
    from pyspark import SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    context = SparkContext._active_spark_context
    if context is None or context._jsc is None:
        return None
    try:
        theirs = SparkSession.active()
    except PySparkRuntimeError:  # a context and no session
        theirs = SparkSession.builder.getOrCreate()
    running = _Running(theirs.newSession(), new_scratch(), ours=False)
    try:
        for key, value in RULES.items():
            running.spark.conf.set(key, value)
        _apply(running, asked)
    except BaseException:
        remove_scratch(running.folder)
        raise
    return running


def _apply(running: _Running, asked: dict[str, str]) -> None:
    """Apply settings to a session that runs; refuse those that it cannot take any more."""
    from pyspark.errors import PySparkException

    spark = running.spark
    for key, value in asked.items():
        now = master_of(spark) if key == "spark.master" else spark.conf.get(key, None)
        if value in (running.asked.get(key), now):
            continue
        if not spark.conf.isModifiable(key):
            what = f"`master={value}`" if key == "spark.master" else f"`spark_conf={key}={value}`"
            ours = "call topicloom.stop_session() first"
            how = ours if running.ours else "set it where the program starts its session"
            raise UsageError(f"{what}: {key} cannot become {value!r} while Spark runs: {how}")
        try:
            spark.conf.set(key, value)
        except PySparkException as error:
            raise UsageError(f"`spark_conf={key}={value}`: {str(error).splitlines()[0]}") from None
        running.asked[key] = value


def arrow_frame(spark: SparkSession, table: pa.Table) -> DataFrame:
    """Return a small table as a DataFrame; the caller's session stays active, which pyspark would change."""
    from pyspark.sql import SparkSession

    if is_connect(spark):
        return spark.createDataFrame(table)
    with _activating:  # what pyspark notes of the active session is of the whole process
        before, known = SparkSession.getActiveSession(), SparkSession._activeSession
        try:
            return spark.createDataFrame(table)
        finally:
            java: Any = spark._jvm
            if before is None:
                java.SparkSession.clearActiveSession()
            else:
                java.SparkSession.setActiveSession(before._jsparkSession)
            SparkSession._activeSession = known


def _forget(*, at_end: bool = False) -> None:
    """End our session; `at_end` of the process nobody needs what pyspark itself remembers of it."""
    global _running
    running, _running = _running, None
    if running is None:
        return
    if not running.ours:
        remove_scratch(running.folder)
        return
    # A stuck task must not keep the user waiting: after a while the JVM is ended as it is.
    patience = _patience(running.asked)
    if at_end and running.quick and not _writes_at_end(running.asked):
        end_jvm(running.process, 0.0)
        remove_scratch(running.folder)
        return
    stopper = threading.Thread(target=stop_quietly, args=(running.spark,), daemon=True)
    stopper.start()
    stopper.join(timeout=patience)
    if running.process is not None:
        end_jvm(running.process, patience)
    remove_scratch(running.folder)


def _writes_at_end(asked: Mapping[str, str]) -> bool:
    """Return whether Spark or Java has something to write when it ends."""
    return _makes_archive(asked) or asked.get("spark.eventLog.enabled") == "true"


def _patience(asked: Mapping[str, str]) -> float:
    """Return the seconds that Spark gets to end: more with executors or with something to write."""
    if _makes_archive(asked):
        return 120.0
    logs = asked.get("spark.eventLog.enabled") == "true"
    return 15.0 if logs or not is_local(asked.get("spark.master", "local")) else 3.0


def _end_of_process() -> None:
    """End the session as quickly as it may be ended."""
    with _lock:
        _forget(at_end=True)
        if _loose is not None:
            remove_scratch(_loose)


atexit.register(_end_of_process)

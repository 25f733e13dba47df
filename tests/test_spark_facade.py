"""`topicloom.spark` on real Spark: DataFrames in and out, and the session of the caller stays as it was."""

from __future__ import annotations

import gc
import json
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

import topicloom
from topicloom.cli.main import execute
from topicloom.errors import InputError, UsageError
from topicloom.overlay.jobs import interest_table
from topicloom.overlay.jobs import measure as measure_job
from topicloom.overlay.spark import encode
from topicloom.tables.spark import links, read
from topicloom.tables.spark.spark_choice import SparkChoice

NAMES = ['"', "a\nb", "\r\n", "`x.y`", "é", "e\u0301", "🚀", " x ", "\\", "\x00", "null", "A", "a", "7"]
PAIRS = [(node, topic) for place, node in enumerate(NAMES) for topic in (NAMES[place - 1], "all")]
LINKS = [("a", "b"), ("b", "c")]
WANTS = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")]
COLUMNS = {"node_column": "who.is", "topic_column": "`what`"}

pytestmark = pytest.mark.filterwarnings("ignore:.* refused in the DataFrame")


def another(spark, *, loose):
    """A session of a program with settings of its own."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
    session.conf.set("spark.sql.ansi.enabled", str(not loose).lower())
    session.conf.set("spark.sql.caseSensitive", str(not loose).lower())
    session.conf.set("spark.sql.execution.arrow.useLargeVarTypes", str(loose).lower())
    session.conf.set("spark.sql.shuffle.partitions", "3")
    return session


def state(session):
    """What a program could notice of a session."""
    settings = {row.key: row.value for row in session.sql("SET").collect()}
    views = sorted(table.name for table in session.catalog.listTables())
    java = session.sparkContext._jsc
    return (
        {key: value for key, value in settings.items() if not key.startswith("spark.app.")},
        session.catalog.currentCatalog(),
        session.catalog.currentDatabase(),
        views,
        session.getActiveSession(),
        java.sc().getLocalProperty("spark.jobGroup.id"),
        session.streams.active,
        session._jsparkSession.sharedState().cacheManager().isEmpty(),
    )


def frame(session, rows=PAIRS):
    """Rows, some of them twice or useless, under names of columns that need care."""
    useless = [(None, "x"), ("n", None), ("", "x")]
    table = session.createDataFrame([*rows, *rows[:5], *useless], "n string, t string")
    return table.selectExpr("t AS `WHO.IS x`", "n AS `who.is`", "t AS ```what```")


def test_spark_builds_what_this_process_builds_and_leaves_no_trace(spark):
    own = another(spark, loose=True)
    wants = topicloom.Interest.from_pairs(PAIRS)
    df = frame(own)
    before, kept = state(own), own.sparkContext._jsc.getPersistentRDDs().size()
    built = topicloom.spark.build(df, "ring-pt", seed=3, **COLUMNS)
    assert state(own) == before
    here = topicloom.build(wants, "ring-pt", seed=3)
    assert built.edges.sparkSession is own and built.edges.columns == ["u", "v"]
    rows = sorted(map(tuple, built.edges.collect()))
    assert rows == sorted(map(tuple, here.overlay.to_pandas().to_numpy().tolist()))
    assert sorted((row["node"], row["topic"]) for row in built.interest.collect()) == sorted(PAIRS)
    summary = built.summary
    assert (summary.engine, summary.rejected, summary.duplicates, summary.topic_connected) == (
        "spark", 3, 5, True,
    )  # fmt: skip
    assert [row["reason"] for row in built.rejects.orderBy("reason").collect()] == [
        "the node is empty",
        "the node is missing",
        "the topic is missing",
    ]
    assert topicloom.spark.verify(df, built.edges, **COLUMNS).topic_connected
    # What is left belongs to the result: edges, interest, rejects.
    assert own.sparkContext._jsc.getPersistentRDDs().size() <= kept + 3
    assert "SparkBuilt" in repr(built) and "<table" in built._repr_html_()


@pytest.mark.parametrize("loose", [True, False])
def test_a_name_is_the_same_name_whatever_the_session_thinks_of_letters(spark, loose):
    own = another(spark, loose=loose)
    numbered = topicloom.spark.read(frame(own), **COLUMNS)
    assert numbered.columns == ["node", "topic", "node_number", "topic_number"]
    assert {row["node"]: row["node_number"] for row in numbered.collect()} == {
        name: place for place, name in enumerate(sorted(NAMES, key=lambda name: name.encode()))
    }
    folded = own.sql("SELECT collate(n, 'UTF8_LCASE') node, 1.50 topic FROM VALUES ('a'), ('A') AS t(n)")
    found = topicloom.spark.read(folded).orderBy("node").collect()
    assert [(row["node"], row["topic"]) for row in found] == [("A", "1.50"), ("a", "1.50")]
    assert topicloom.read(folded) == topicloom.Interest.from_pairs([("A", "1.50"), ("a", "1.50")])


def test_a_builder_of_one_process_gets_the_rows(spark, monkeypatch):
    df = spark.createDataFrame(WANTS, ["node", "topic"])
    for algorithm in (None, "gm"):
        built = topicloom.spark.build(df, algorithm)
        assert built.summary.engine == "local" and built.rejects is None
        assert sorted(map(tuple, built.edges.collect())) == LINKS
    monkeypatch.setattr(read, "COLLECTED_BYTES", 10)
    monkeypatch.setattr(interest_table, "COLLECTED_BYTES", 10 << 20)
    with pytest.raises(UsageError, match=r"too large to be collected.* 10 MiB.*`algorithm=gm` builds in one"):
        topicloom.spark.build(df, "gm")
    with pytest.raises(InputError, match="the DataFrame is too large to be collected"):
        topicloom.spark.measure(df, LINKS)


def test_a_folder_is_taken_up_again_for_the_same_rows_only(spark, tmp_path):
    df = spark.createDataFrame(WANTS, ["node", "topic"])
    built = topicloom.spark.build(df, "ring-pt", out=tmp_path / "o")
    assert sorted(map(tuple, built.edges.collect())) == LINKS
    assert topicloom.load_build(tmp_path / "o").interest == topicloom.Interest.from_pairs(WANTS)
    again = topicloom.spark.build(
        spark.createDataFrame(WANTS[::-1], ["node", "topic"]), "ring-pt", out=tmp_path / "o", resume=True
    )
    assert again.summary == built.summary
    other = spark.createDataFrame([*WANTS, ("d", "y")], ["node", "topic"])
    with pytest.raises(InputError, match="holds a finished build of another request"):
        topicloom.spark.build(other, "ring-pt", out=tmp_path / "o", resume=True)
    with pytest.raises(UsageError, match="`resume` goes on with the unfinished build in `out`"):
        topicloom.spark.build(df, "ring-pt", resume=True)
    assert pq.read_table(tmp_path / "o" / "edges.parquet").num_rows == 2


def test_a_build_at_an_address_is_edges_and_may_have_bounds(spark, tmp_path):
    df, out = spark.createDataFrame(WANTS, ["node", "topic"]), f"file://{tmp_path}/o"
    built = topicloom.spark.build(df, "ring-pt", out=out, certify=True)
    assert built.summary.certificate.gap == 0.0 and "on Spark" in built.summary.certificate.bound_method
    assert topicloom.spark.verify(df, out).edges == 2 and topicloom.spark.measure(df, out)["edges"] == 2
    other = spark.createDataFrame([*WANTS, ("d", "y")], ["node", "topic"])
    with pytest.raises(InputError, match="was made for another interest"):
        topicloom.spark.verify(other, out)
    assert topicloom.spark.build(df, "gm", certify=True).summary.certificate.edges_bound == 2


def test_edges_that_prove_nothing_are_counted(spark):
    df = spark.createDataFrame(WANTS, ["node", "topic"])
    odd = [*LINKS, ("b", "a"), ("a", "a"), ("a", "nobody"), (None, "a")]
    edges = spark.createDataFrame(odd, "v string, u string")
    with pytest.warns(UserWarning, match="1 row was refused in the DataFrame of edges"):
        found = topicloom.spark.verify(df, edges)
    assert (found.topic_connected, found.duplicate_edges, found.self_loops, found.unknown_nodes) == (
        True, 1, 1, 1,
    )  # fmt: skip
    split = topicloom.verify(df, edges.limit(1))
    assert not split.topic_connected and split.witnesses[0].topic == "y"
    assert not topicloom.spark.verify(df, edges.limit(0)).topic_connected
    assert topicloom.spark.verify(df, LINKS).edges == 2
    with pytest.raises(InputError, match="1 row was refused in the DataFrame of edges"):
        topicloom.spark.verify(df, edges, strict=True)


def test_a_dataframe_is_an_interest_and_may_be_edges_everywhere(spark):
    df = spark.createDataFrame(WANTS, ["node", "topic"])
    edges = spark.createDataFrame(LINKS, ["u", "v"])
    wants = topicloom.Interest.from_pairs(WANTS)
    assert topicloom.read(df) == wants
    df.createOrReplaceTempView("wants")
    assert topicloom.read(table="wants") == wants
    assert topicloom.read(sql="SELECT topic, node FROM wants -- all\n;") == wants
    spark.catalog.dropTempView("wants")
    made = topicloom.build(df, "gm")
    assert sorted(made.overlay.to_pandas().itertuples(index=False)) == LINKS and made.interest == wants
    assert topicloom.verify(df, edges).topic_connected and topicloom.verify(wants, edges).edges == 2
    assert topicloom.measure(df, edges) == topicloom.measure(wants, LINKS)
    assert topicloom.spark.measure(df, edges, certify=True)["gap"] == 0.0
    assert topicloom.inspect(df) == topicloom.spark.inspect(df) == topicloom.inspect(wants)
    there = topicloom.build(wants, "ring-pt", engine="spark")
    assert there.overlay == topicloom.build(wants, "ring-pt").overlay
    with pytest.raises(UsageError, match="`start` needs the interest in memory"):
        topicloom.build(df, "ring-pt", engine="spark", start=LINKS)
    with pytest.raises(UsageError, match="`engine=spark`: gm runs on local only"):
        topicloom.build(wants, "gm", engine="spark")


def test_a_large_dataframe_is_measured_where_it_is(spark, monkeypatch):
    """What is counted is the same; what needs the whole overlay in one place is null, with a reason."""
    session = another(spark, loose=False)
    df, edges = (
        frame(session),
        session.createDataFrame([(NAMES[0], name) for name in NAMES[1:]], "u string, v string"),
    )
    here, told = topicloom.spark.measure(df, edges, **COLUMNS), topicloom.spark.inspect(df, **COLUMNS)
    before = state(session)
    monkeypatch.setattr(measure_job, "LOCAL_SUBSCRIPTIONS", len(PAIRS) - 1)
    there = topicloom.spark.measure(df, edges, **COLUMNS)
    reasons = there.pop("unknown")
    assert "diameter_overlay" in reasons
    assert {key: there[key] for key in here if there[key] is not None} == {
        key: here[key] for key in here if there[key] is not None
    }
    assert {key for key in here if there[key] is None} <= set(reasons)
    assert topicloom.spark.inspect(df, **COLUMNS).subscription_size == told.subscription_size
    assert state(session) == before


def test_no_folder_is_needed_to_measure_where_executors_may_see_none(spark, monkeypatch, tmp_path):
    """A remote Connect server has another disk, and so have the workers of a cluster."""
    df = spark.createDataFrame(WANTS, ["node", "topic"])
    kept = spark.sparkContext._jsc.getPersistentRDDs().size()
    monkeypatch.setattr(measure_job, "LOCAL_SUBSCRIPTIONS", 1)
    monkeypatch.setattr(measure_job, "shares_disk", lambda _: False)
    monkeypatch.setattr(encode, "SMALL_ROWS", 0)
    monkeypatch.setattr(SparkChoice, "workspace", lambda *_, **__: pytest.fail("a folder was asked for"))
    assert topicloom.spark.measure(df, LINKS)["degree_max"] == 2
    profile = topicloom.spark.inspect(df)
    # The time model of the builders has read the sizes of topics too.
    told, same = (
        next(line for line in found.advice if line.startswith("Builders"))
        for found in (profile, topicloom.inspect(topicloom.Interest.from_pairs(WANTS)))
    )
    assert told == same
    wants, links = tmp_path / "wants.parquet", tmp_path / "links.parquet"
    pq.write_table(topicloom.Interest.from_pairs(WANTS).to_arrow(), wants)
    pq.write_table(topicloom.Overlay.from_pairs(LINKS).to_arrow(), links)
    assert execute(["measure", str(wants), str(links), "--engine", "spark", "--quiet"]) == 0
    assert execute(["inspect", str(wants), "--engine", "spark", "--quiet"]) == 0
    assert spark.sparkContext._jsc.getPersistentRDDs().size() <= kept


@pytest.mark.parametrize("large", [True, False])
def test_what_was_kept_goes_where_a_warning_is_an_error(spark, monkeypatch, large):
    df = frame(spark)
    gc.collect()
    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    if large:
        monkeypatch.setattr(measure_job, "LOCAL_SUBSCRIPTIONS", 1)
    for call in (
        topicloom.spark.read,
        topicloom.spark.inspect,
        lambda df, **columns: topicloom.spark.build(df, "ring-pt", **columns),
        lambda df, **columns: topicloom.spark.verify(df, LINKS, **columns),
        lambda df, **columns: topicloom.spark.measure(df, LINKS, **columns),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning, match="3 rows were refused"):
                call(df, **COLUMNS)
    gc.collect()
    assert spark.sparkContext._jsc.getPersistentRDDs().size() <= before


@pytest.mark.parametrize(
    ("query", "columns", "said"),
    [
        ("SELECT 'a' AS node", {}, "the DataFrame has 1 column and two are needed: node"),
        ("SELECT 'a' AS x, 'b' AS y, 'c' AS z", {}, "has 3 columns and none is called node or topic"),
        ("SELECT 'a' AS node, 'b' AS topic", {"node_column": "no"}, "has no column 'no' .*columns are node"),
        ("SELECT 'a' AS node, 'b' AS topic, 'c' AS node", {}, "column 'node' more than once"),
        ("SELECT named_struct('i', 1) AS node, 'b' AS topic", {}, "column 'node' of the DataFrame has"),
        ("SELECT 1.5D AS node, 'b' AS topic", {}, "column 'node' of the DataFrame has type double"),
        ("SELECT array('a') AS node, 'b' AS topic", {}, "column 'node' of the DataFrame has type array"),
        ("SELECT 'a' AS node, true AS topic", {}, "column 'topic' of the DataFrame has type boolean"),
        ("SELECT current_timestamp() AS node, 'b' AS topic", {}, "column 'node' .* has type timestamp"),
        ("SELECT X'61' AS node, 'b' AS topic", {}, "column 'node' of the DataFrame has type binary"),
        ("SELECT 'a' AS Node, 'b' AS topic, 1 AS z", {}, "called node: .*; case counts, so 'Node' is an"),
        ("SELECT 'a' AS n, 'b' AS t", {"node_column": "N"}, "no column 'N' .* n, t; case counts, so 'n' is"),
        ("SELECT 'a' AS node, 'b' AS topic WHERE false", {}, "the DataFrame holds no subscription"),
        ("SELECT CAST(NULL AS string) AS node, 'b' AS topic", {}, "no subscription .1 row was refused"),
        ("SELECT string(raise_error('sad')) node, 'b' topic", {}, "Spark failed on the DataFrame: .*sad"),
        ("SELECT 'a' AS node, 'b' AS topic", {"node_column": ("a",)}, "`node_column` takes the name"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_said_in_one_sentence(spark, query, columns, said):
    for call in (topicloom.spark.build, topicloom.spark.inspect, topicloom.spark.read):
        with pytest.raises((InputError, UsageError), match=said) as told:
            call(spark.sql(query), **columns)
        assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("query", "columns", "said"),
    [
        ("SELECT 'a' AS u", {}, "the DataFrame of edges has 1 column and two are needed: u"),
        ("SELECT 'a' AS u, 'b' AS v", {"u_column": "w"}, "the DataFrame of edges has no column 'w' .`u_col"),
        ("SELECT 'a' AS u, 'b' AS v, 'c' AS u", {}, "DataFrame of edges has the column 'u' more than once"),
        ("SELECT array('a') AS u, 'b' AS v", {}, "column 'u' of the DataFrame of edges has type array"),
        ("SELECT 'a' AS u, true AS v", {}, "column 'v' of the DataFrame of edges has type boolean"),
        ("SELECT 'a' AS u, X'62' AS v", {}, "column 'v' of the DataFrame of edges has type binary"),
        ("SELECT 'a' AS u, 'b' AS v", {"v_column": 7}, "has 2 columns: `v_column` 7 is not a position"),
        ("SELECT string(raise_error('sad')) u, 'b' v", {}, "Spark failed on the DataFrame of edges: .*sad"),
    ],
)  # fmt: skip
def test_edges_that_cannot_be_used_are_told_in_one_sentence(spark, query, columns, said):
    df = spark.createDataFrame(WANTS, ["node", "topic"])
    for call in (topicloom.spark.verify, topicloom.spark.measure):
        with pytest.raises((InputError, UsageError), match=said) as told:
            call(df, spark.sql(query), **columns)
        assert "\n" not in str(told.value)


def test_edges_may_be_of_another_session_on_the_same_spark(spark):
    df = spark.createDataFrame(WANTS, ["node", "topic"])
    edges = another(spark, loose=True).createDataFrame(LINKS, ["u", "v"])
    assert topicloom.spark.verify(df, edges).topic_connected
    assert topicloom.spark.measure(df, edges)["edges"] == 2


def test_publishers_may_be_left_out(spark):
    rows = [("a", "x", None), ("b", "x", "sub"), ("c", "x", "pub")]
    df = spark.createDataFrame(rows, "node string, topic string, role string")
    assert not topicloom.spark.verify(df, [("a", "b")]).topic_connected
    assert topicloom.spark.verify(df, [("a", "b")], subscribers_only=True).topic_connected
    assert topicloom.spark.measure(df, [("a", "b")], subscribers_only=True)["nodes"] == 2
    assert topicloom.spark.inspect(df, subscribers_only=True).subscriptions == 2
    with pytest.raises(UsageError, match="subscribers_only"):
        topicloom.spark.inspect(df, subscribers_only="yes")


class StopAt:
    """Asks to stop when a phase of this name begins."""

    def __init__(self, name):
        self.name, self.stop = name, False

    def now(self):
        return 0.0

    def phase(self, name, total=None):
        self.stop |= name.startswith(self.name)

    def advance(self, amount=1.0):
        """Do nothing."""

    def should_stop(self):
        return self.stop


def test_an_unfinished_build_goes_on_for_the_same_rows_only(spark, tmp_path):
    rows = [(f"n{i % 60:02}", f"t{(i * 7 + i // 60) % 13:02}") for i in range(300)]
    df = spark.createDataFrame(rows, ["node", "topic"])
    asked = {"out": tmp_path / "o", "p": 3, "seed": 2}
    with (
        pytest.warns(UserWarning, match="finished phases are kept in .* with `resume` goes on"),
        pytest.raises(topicloom.errors.Interrupted),
    ):
        topicloom.spark.build(df, "dcbr-m", progress=StopAt("combine"), **asked)
    assert (tmp_path / "o" / ".phases" / "conquer").exists() and not (
        tmp_path / "o" / "summary.json"
    ).exists()
    other = spark.createDataFrame([*rows[1:], ("n00", "t12")], ["node", "topic"])
    with pytest.raises(InputError, match="was begun with another interest rows") as told:
        topicloom.spark.build(other, "dcbr-m", resume=True, **asked)
    assert "\n" not in str(told.value)
    conquered = (tmp_path / "o" / ".phases" / "conquer").stat().st_ino
    turned = spark.createDataFrame(rows[::-1], ["node", "topic"])
    stopped = StopAt("write")
    with (
        pytest.warns(UserWarning, match="with `resume` goes on"),
        pytest.raises(topicloom.errors.Interrupted),
    ):
        topicloom.spark.build(turned, "dcbr-m", resume=True, progress=stopped, **asked)
    assert (tmp_path / "o" / ".phases" / "conquer").stat().st_ino == conquered
    built = topicloom.spark.build(turned, "dcbr-m", resume=True, **asked)
    here = topicloom.build(topicloom.Interest.from_pairs(rows), "dcbr-m", p=3, seed=2)
    assert topicloom.load_build(tmp_path / "o").overlay == here.overlay
    assert built.summary.topic_connected


def test_a_table_and_a_format_of_files_are_not_both_meant():
    with pytest.raises(UsageError, match="`format=csv` is for files at `path`, not for `table`: give one"):
        topicloom.spark.read(table="sales.wants", format="csv")
    with pytest.raises(UsageError, match="`format=json` is for files at `path`, not for `sql`: give one"):
        topicloom.spark.read(sql="SELECT 1", format="json")


def test_measures_with_bounds_are_json(spark):
    df = spark.createDataFrame(WANTS, ["node", "topic"])
    for found in (
        topicloom.spark.measure(df, LINKS, certify=True),
        topicloom.measure(topicloom.Interest.from_pairs(WANTS), LINKS, certify=True),
    ):
        assert json.loads(json.dumps(found)) == found and found["edges_bound"] == 2
        assert "bound_survive" not in found


def test_frames_that_are_none_are_refused(spark, monkeypatch):
    from pyspark.sql.functions import udf

    @udf("string")
    def fail(name):
        raise ValueError(f"no luck with {name}")

    df = spark.createDataFrame(WANTS, ["node", "topic"])
    with pytest.raises(InputError, match="Spark failed on the DataFrame: ValueError: no luck with"):
        topicloom.spark.build(df.select(fail("node").alias("node"), "topic"), "ring-pt")
    stream = spark.readStream.format("rate").load().selectExpr("value AS node", "value AS topic")
    with pytest.raises(InputError, match="the DataFrame is a stream"):
        topicloom.spark.verify(stream, LINKS)
    with pytest.raises(UsageError, match="`df` takes a DataFrame of Spark; it got"):
        topicloom.spark.build(WANTS)
    with pytest.raises(UsageError, match="`algorithm=nonsense`: choose one of"):
        topicloom.spark.build(df, "nonsense")
    with monkeypatch.context() as patch:
        patch.setattr("topicloom.api.frames.is_stopped", lambda _: True)
        with pytest.raises(UsageError, match="its own was stopped"):
            topicloom.spark.inspect(df)
    monkeypatch.setattr(links, "LEAST", (9, 0))
    for call in (
        lambda: topicloom.spark.inspect(df),
        lambda: topicloom.spark.read("x.parquet", session=spark),
        lambda: topicloom.Interest.from_spark(df),
        lambda: topicloom.Overlay.from_pairs(LINKS).to_spark(spark),
    ):
        with pytest.raises(UsageError, match="is too old: topicloom needs 9.0"):
            call()


def test_threads_may_ask_at_once_and_a_progress_may_stop_it(spark):
    df = spark.createDataFrame(WANTS, ["node", "topic"])
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: topicloom.spark.verify(df, LINKS), range(2)))
    assert all(one.topic_connected for one in found)
    asks = SimpleNamespace(
        now=lambda: 0.0, phase=lambda *_: None, advance=lambda *_: None, should_stop=lambda: True
    )
    with pytest.raises(topicloom.errors.Interrupted):
        topicloom.spark.build(df, "ring-pt", progress=asks)


def test_nothing_is_said_of_a_sound_table_and_nothing_stays(spark):
    gc.collect()
    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        df = spark.createDataFrame(WANTS, ["node", "topic"])
        topicloom.spark.verify(df, spark.createDataFrame(LINKS, ["u", "v"]))
    assert spark.sparkContext._jsc.getPersistentRDDs().size() <= before

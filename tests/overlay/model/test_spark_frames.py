"""DataFrames of Spark mean what frames of pandas mean, and their session stays as it was."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pandas
import pytest

from topicloom.errors import InputError, UsageError
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

HOSTILE = [
    '"', "'", "a\nb", "\r\n", "`x.y`", "a,b", "é", "e\u0301", "🚀", " x ", "\\", "\x00", "null", "A", "a",
]  # fmt: skip
PAIRS = [(node, topic) for place, node in enumerate(HOSTILE) for topic in (HOSTILE[place - 1], "all")]


@pytest.fixture(scope="module")
def own(spark):
    """A program's own session, whose settings are not those of topicloom."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
    session.conf.set("spark.sql.ansi.enabled", "false")
    session.conf.set("spark.sql.caseSensitive", "true")
    return session


def settings(session):
    return {
        row.key: row.value for row in session.sql("SET").collect() if not row.key.startswith("spark.app.")
    }


def test_a_dataframe_means_what_a_frame_of_pandas_means(own):
    rows = PAIRS + PAIRS[:7]
    before = settings(own)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = Interest.from_spark(own.createDataFrame(rows, ["node", "topic"]))
    assert found == Interest.from_pandas(pandas.DataFrame(rows, columns=["node", "topic"]))
    assert set(found.node_ids.to_pylist()) == set(HOSTILE) and found.roles is None and found.rates is None
    assert settings(own) == before
    assert own.conf.get("spark.sql.session.timeZone") == "Asia/Kathmandu"


def test_rows_without_a_name_are_counted_and_told(own):
    rows = [("a", "x"), ("b", "x"), (None, "x"), (None, "x"), ("", "y"), ("c", None)]
    frame = own.createDataFrame(rows, ["who", "what"])
    columns = {"node_column": "who", "topic_column": "what"}
    with pytest.warns(
        UserWarning, match=r"4 rows are refused \(the who or what is missing.*, e.g. who"
    ) as told:
        found = Interest.from_spark(frame, **columns)
    assert found == Interest.from_pairs([("a", "x"), ("b", "x")])
    assert [Path(one.filename) for one in told] == [Path(__file__)]
    with pytest.raises(InputError, match="4 rows are refused .*leave out `strict`"):
        Interest.from_spark(frame, **columns, strict=True)
    with pytest.raises(InputError, match="no row is left"):
        Interest.from_spark(frame.where("who IS NULL"), **columns)
    assert Interest.from_spark(frame.limit(0), **columns).n_nodes == 0


def test_roles_and_rates_come_along(own):
    rows = [
        ("a", "x", "pub", 2.5), ("a", "x", "sub", 1.0), ("b", "x", None, None), ("b", "x", None, None),
        ("b", "y", "king", 1.0), ("b", "y", "king", 1.0), ("c", "y", "sub", -1.0),
    ]  # fmt: skip
    frame = own.createDataFrame(rows, "node string, topic string, role string, rate double")
    with pytest.warns(UserWarning, match="3 rows are refused .*the role is none of .*the rate is not"):
        found = Interest.from_spark(frame)
    with pytest.warns(UserWarning, match="3 rows are refused"):
        same = Interest.from_pandas(pandas.DataFrame(rows, columns=frame.columns))
    assert found.to_arrow().equals(same.to_arrow())


@pytest.mark.parametrize("kind", ["tinyint", "smallint", "int", "bigint", "decimal(20,0)"])
def test_whole_numbers_are_names_in_digits(own, kind):
    values = [(Decimal(one) if "decimal" in kind else one, "x") for one in (1, 10, 2, 2)]
    found = Interest.from_spark(own.createDataFrame(values, f"node {kind}, topic string"))
    assert found == Interest.from_pairs([(1, "x"), (2, "x"), (10, "x")])


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("node double, topic string", "column 'node' has type double; .*cast it to string or bigint"),
        ("node string, topic timestamp", "column 'topic' has type timestamp"),
        ("node string, topic array<string>", "column 'topic' has type array<string>"),
        ("node boolean, topic string", "column 'node' has type boolean"),
        ("node binary, topic string", "column 'node' has type binary"),
        ("node string, topic string, rate date", "column 'rate' has type date; rates are numbers"),
        ("node string, Topic string", r"no column 'topic'; its columns are \['node', 'Topic'\]"),
    ],
)
def test_a_column_that_is_no_name_is_refused_by_name(own, kind, said):
    with pytest.raises(InputError, match=said) as told:
        Interest.from_spark(own.createDataFrame([], kind))
    assert "\n" not in str(told.value)


def test_names_of_columns_may_be_anything(spark, own):
    rows = [("a", "x", "u"), ("b", "x", "u")]
    wants = Interest.from_pairs([("a", "x"), ("b", "x")])
    for node, topic, other in (
        ("a.b", "`t`", "a"),
        ("count", "rate", "x0"),
        ("Node", "node", "c1"),
        ("", " ", "n"),
    ):
        for session in (spark, own):  # one of them knows no case
            frame = session.createDataFrame(rows, [node, topic, other])
            assert Interest.from_spark(frame, node_column=node, topic_column=topic) == wants
    twice = own.createDataFrame(rows, ["node", "topic", "node"])
    with pytest.raises(InputError, match="'node' more than once"):
        Interest.from_spark(twice)
    with pytest.raises(UsageError, match="are both 'node'"):
        Interest.from_spark(twice, topic_column="node")
    with pytest.raises(UsageError, match="`node_column` takes the name of a column"):
        Interest.from_spark(twice, node_column=1)


def test_what_is_no_table_of_text_is_refused(own):
    with pytest.raises(UsageError, match="`df` takes a DataFrame of Spark"):
        Interest.from_spark(pandas.DataFrame(PAIRS, columns=["node", "topic"]))
    with pytest.raises(InputError, match="column 'node' has text that is no UTF-8"):
        Interest.from_spark(own.sql("SELECT CAST(X'ff41' AS string) AS node, 'x' AS topic"))
    with pytest.raises(InputError, match="is a stream"):
        Interest.from_spark(
            own.readStream.format("rate").load(), node_column="value", topic_column="timestamp"
        )


def test_names_that_a_collation_calls_equal_stay_apart(own):
    frame = own.sql("SELECT collate(n, 'UTF8_LCASE') AS node, 'x' AS topic FROM VALUES ('a'), ('A') AS t(n)")
    assert Interest.from_spark(frame).node_ids.to_pylist() == ["A", "a"]


def test_threads_of_a_pool_may_ask(own):
    frame = own.createDataFrame(PAIRS, ["node", "topic"])
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: Interest.from_spark(frame), range(3)))
    assert all(one == Interest.from_pairs(PAIRS) for one in found)


def test_edges_go_to_spark_and_come_back(own):
    interest = Interest.from_pairs(PAIRS)
    overlay = Overlay.from_pairs(list(pairwise(HOSTILE)), interest)
    before = settings(own)
    frame = overlay.to_spark(own)
    assert frame.sparkSession is own and frame.columns == ["u", "v"] and settings(own) == before
    assert sorted(map(tuple, frame.collect())) == sorted(map(tuple, overlay.to_pandas().to_numpy().tolist()))
    told = overlay.to_spark(own, topics=True)
    assert dict(told.dtypes) == {
        "u": "string",
        "v": "string",
        "topics": "array<string>",
        "n_topics": "bigint",
    }
    assert [row.asDict() for row in told.collect()] == overlay.to_pandas(topics=True).to_dict("records")
    empty = Overlay.from_edges(["a"], [], []).to_spark(own)
    assert empty.dtypes == [("u", "string"), ("v", "string")] and empty.count() == 0
    with pytest.raises(UsageError, match="`session` takes a SparkSession"):
        overlay.to_spark(SimpleNamespace(createDataFrame=print))
    with pytest.raises(UsageError, match="with_interest"):
        Overlay.from_pairs([("a", "b")]).to_spark(own, topics=True)

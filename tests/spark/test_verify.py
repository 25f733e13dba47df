"""The judge on Spark, both ways, against the definition; every refusal on inputs broken on purpose."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import networkx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from naive.connectivity import verdict as naive_verdict
from topicloom.errors import Interrupted, UsageError
from topicloom.measures.connectivity import check_overlay
from topicloom.model.interest import Interest
from topicloom.model.overlay import Overlay
from topicloom.model.progress import Silent
from topicloom.model.verdict import Verdict
from topicloom.spark.verify import verify_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Pair = tuple[str, str]
WAYS = ("broadcast", "bucketed")
NODES, TOPICS = "abcdefgh", "rstuv"


def judge(
    spark: SparkSession, pairs: list[Pair], rows: list[Pair], work_dir: Path, way: str, **options: object
) -> Verdict:
    interest = spark.createDataFrame(_table(pairs, "node", "topic"))
    edges = spark.createDataFrame(_table(rows, "u", "v"))
    return verify_tables(spark, interest, edges, work_dir=work_dir, path=way, **options)  # type: ignore[arg-type]


def _table(rows: list[Pair], *names: str) -> pa.Table:
    return pa.table({name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(names)})


def random_rows(seed: int, n_nodes: int, n_topics: int, n_pairs: int, n_edges: int) -> tuple[list[Pair], ...]:
    """Pairs with repeats; edges with loops, repeats in both directions and nodes nobody knows."""
    rng = random.Random(seed)
    pairs = [(f"n{rng.randrange(n_nodes)}", f"t{rng.randrange(n_topics)}") for _ in range(n_pairs)]
    ends = [f"n{rng.randrange(n_nodes + n_nodes // 10)}" for _ in range(2 * n_edges)]
    rows = list(zip(ends[::2], ends[1::2], strict=True))
    rows += [(v, u) for u, v in rows[: n_edges // 10]] + [(u, u) for u, _ in rows[: n_edges // 20]]
    rng.shuffle(rows)
    return pairs, rows


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("seed", "n_nodes", "n_topics", "n_pairs", "n_edges"), [(1, 300, 40, 1500, 900), (2, 60, 200, 900, 400)]
)
def test_random_tables_are_judged_by_the_definition(
    spark: SparkSession,
    tmp_path: Path,
    way: str,
    seed: int,
    n_nodes: int,
    n_topics: int,
    n_pairs: int,
    n_edges: int,
) -> None:
    """Any difference from one search per topic is a false proof, a false alarm or a wrong witness."""
    pairs, rows = random_rows(seed, n_nodes, n_topics, n_pairs, n_edges)
    verdict = judge(spark, pairs, rows, tmp_path, way, n_witnesses=1000)
    expected = naive_verdict(pairs, rows)
    assert 0 < expected["topics_partitioned"] < expected["topics"]  # type: ignore[operator]
    assert verdict.to_json() == expected
    assert verdict.path == way
    unknown = {name for row in rows for name in row} - {node for node, _ in pairs}
    assert verdict.unknown_names == tuple(sorted(unknown)[:5])


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pairs=st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(TOPICS)), min_size=1, max_size=30),
    rows=st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=20),
)
def test_both_ways_and_memory_agree(
    spark: SparkSession, tmp_path: Path, pairs: list[Pair], rows: list[Pair]
) -> None:
    """Three implementations, one verdict."""
    expected = naive_verdict(pairs, rows)
    verdicts = [judge(spark, pairs, rows, tmp_path, way, n_witnesses=99) for way in WAYS]
    assert [verdict.to_json() for verdict in verdicts] == [expected, expected]
    assert replace(verdicts[0], path="") == replace(verdicts[1], path="")


@pytest.mark.parametrize("way", WAYS)
def test_a_tree_without_one_edge_is_refuted_by_a_true_witness(
    spark: SparkSession, tmp_path: Path, way: str
) -> None:
    """One missing edge of a path of 200 nodes must not go unseen, nor be blamed on the wrong nodes."""
    pairs = [(f"n{i:03}", "all") for i in range(200)] + [("n007", "lone")]
    path = [(f"n{i:03}", f"n{i + 1:03}") for i in range(199)]
    whole = judge(spark, pairs, path, tmp_path, way)
    assert whole.topic_connected
    assert whole.clean
    assert (whole.topics, whole.topic_components, whole.edges) == (2, 2, 199)
    rest = path[:120] + path[121:]
    broken = judge(spark, pairs, rest, tmp_path, way)
    assert (broken.topic_connected, broken.topics_partitioned, broken.topic_components) == (False, 1, 3)
    (witness,) = broken.witnesses
    assert (witness.topic, witness.component_sizes) == ("all", (121, 79))
    assert not networkx.has_path(networkx.Graph(rest), *witness.nodes)


@pytest.mark.parametrize("way", WAYS)
def test_loops_repeats_and_strangers_prove_nothing(spark: SparkSession, tmp_path: Path, way: str) -> None:
    """A path through an unknown node, or one edge given three times, must not count as a connection."""
    pairs = [("a", "x"), ("b", "x"), ("c", "x"), ("a", "x")]
    rows = [("a", "b"), ("b", "a"), ("a", "b"), ("c", "c"), ("b", "?"), ("?", "c"), ("?", "?"), ("!", "c")]
    verdict = judge(spark, pairs, rows, tmp_path, way)
    assert verdict.to_json() == naive_verdict(pairs, rows)
    assert (verdict.edges, verdict.duplicate_edges, verdict.self_loops, verdict.unknown_nodes) == (1, 2, 1, 4)
    assert verdict.unknown_names == ("!", "?")
    assert not verdict.clean


@pytest.mark.parametrize("way", WAYS)
def test_a_missing_end_is_an_unknown_node(spark: SparkSession, tmp_path: Path, way: str) -> None:
    """An edge row with a null end must neither vanish nor become a loop."""
    verdict = judge(spark, [("a", "x"), ("b", "x")], [("a", None), (None, None), ("b", "a")], tmp_path, way)  # type: ignore[list-item]
    assert (verdict.edges, verdict.unknown_nodes, verdict.self_loops) == (1, 2, 0)
    assert verdict.topic_connected


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rows", [[], [("x", "y")]])
def test_no_edge_that_counts(spark: SparkSession, tmp_path: Path, way: str, rows: list[Pair]) -> None:
    """Topics that no edge touches are judged too; one subscriber alone is connected."""
    pairs = [("a", "t"), ("b", "t"), ("c", "t"), ("a", "s"), ("b", "r"), ("c", "q"), ("a", "q")]
    verdict = judge(spark, pairs, rows, tmp_path, way)
    assert verdict.to_json() == naive_verdict(pairs, rows)
    assert [witness.topic for witness in verdict.witnesses] == ["t", "q"]


@pytest.mark.parametrize("way", WAYS)
def test_an_edge_between_strangers_to_each_other_joins_nothing(
    spark: SparkSession, tmp_path: Path, way: str
) -> None:
    """a-c-b connects a and b in the overlay, but c does not want the topic."""
    pairs = [("a", "x"), ("b", "x"), ("c", "y")]
    verdict = judge(spark, pairs, [("a", "c"), ("c", "b")], tmp_path, way)
    assert (verdict.topics_partitioned, verdict.edges) == (1, 2)
    assert verdict.witnesses[0].nodes == ("a", "b")


ODD = [
    "tab\there",
    'quote"s',
    "\U0001f600",
    "e\u0301",
    "\u00e9",
    " x",
    "x ",
    "08001",
    "NaN",
    "a,b",
    "\uffff",
    "\\",
]


@pytest.mark.parametrize("way", WAYS)
def test_odd_identifiers_stay_apart(spark: SparkSession, tmp_path: Path, way: str) -> None:
    """Composed and decomposed letters, padded names and emoji are different nodes and topics."""
    pairs = [(node, topic) for i, node in enumerate(ODD) for topic in (ODD[i], ODD[i - 1], "all")]
    rows = [(ODD[i], ODD[i - 1]) for i in range(3, len(ODD))]
    verdict = judge(spark, pairs, rows, tmp_path, way, n_witnesses=99)
    assert verdict.to_json() == naive_verdict(pairs, rows)
    assert verdict.topics_partitioned > 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["all.jsonl", "all.json", "all.parquet"])
def test_all_witnesses_go_to_a_file(spark: SparkSession, tmp_path: Path, way: str, name: str) -> None:
    """The verdict lists the worst; the file has every one, in the same order."""
    pairs, rows = random_rows(3, 40, 30, 300, 40)
    out = tmp_path / name
    verdict = judge(spark, pairs, rows, tmp_path / "work", way, n_witnesses=2, witnesses_file=out)
    if out.suffix == ".parquet":
        written = pq.read_table(out).to_pylist()
    elif out.suffix == ".json":
        written = json.loads(out.read_text())
    else:
        written = [json.loads(line) for line in out.read_text().splitlines()]
    assert written == naive_verdict(pairs, rows)["witnesses"]
    assert [witness.to_json() for witness in verdict.witnesses] == written[:2]
    assert len(written) == verdict.topics_partitioned > 2


@pytest.mark.parametrize("name", ["all.jsonl", "all.json", "all.parquet"])
def test_a_file_without_witnesses_is_still_a_whole_file(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    """A script that reads the file must not stumble over a proof that succeeded."""
    out = tmp_path / name
    judge(spark, [("a", "x")], [], tmp_path / "work", "broadcast", witnesses_file=out)
    if out.suffix == ".parquet":
        assert pq.read_table(out).num_rows == 0
    else:
        assert json.loads(out.read_text() or "[]") == []


def test_the_limit_decides_the_way(spark: SparkSession, tmp_path: Path) -> None:
    """Recorded in the verdict; an interest above the limit must not be sent to the tasks."""
    pairs, rows = [("a", "x"), ("b", "x")], [("a", "b")]
    ways = [judge(spark, pairs, rows, tmp_path, "auto", broadcast_limit=limit).path for limit in (2, 1)]
    assert ways == ["broadcast", "bucketed"]


def test_unusable_options_are_refused_before_any_work(spark: SparkSession, tmp_path: Path) -> None:
    """Minutes of work must not end in a file that cannot be written."""
    with pytest.raises(UsageError, match="--all"):
        judge(spark, [("a", "x")], [], tmp_path, "auto", witnesses_file=tmp_path / "all.xls")
    with pytest.raises(UsageError, match="broadcast, bucketed"):
        judge(spark, [("a", "x")], [], tmp_path, "sideways")


@pytest.mark.parametrize("way", WAYS)
def test_a_stop_request_is_honoured(spark: SparkSession, tmp_path: Path, way: str) -> None:
    """Ctrl-C during a long proof."""

    class Stopping(Silent):
        def should_stop(self) -> bool:
            return True

    with pytest.raises(Interrupted):
        judge(spark, [("a", "x")], [], tmp_path, way, progress=Stopping())


def test_memory_says_the_same_as_spark(spark: SparkSession, tmp_path: Path) -> None:
    """The Python interface needs no JVM and must not have an opinion of its own."""
    pairs, rows = random_rows(4, 80, 30, 400, 150)
    interest = Interest.from_pairs(pairs)
    known = set(interest.node_ids.to_pylist())
    sound = [(u, v) for u, v in rows if u != v and {u, v} <= known]
    overlay = Overlay.from_arrow(interest.node_ids, _table(sound, "u", "v"))
    named = [(row["u"], row["v"]) for row in overlay.to_arrow().to_pylist()]
    memory = check_overlay(interest, overlay)
    assert replace(memory, path="broadcast") == judge(spark, pairs, named, tmp_path, "broadcast")

"""The judge on Spark, both ways, against the definition; every refusal on inputs broken on purpose."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx
import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from drawing import examples
from naive.connectivity import verdict as naive_verdict
from topicloom.base.progress import Silent
from topicloom.base.summaries import plain
from topicloom.errors import Interrupted, UsageError
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.verdict import Verdict, check_witness_file, write_witnesses
from topicloom.overlay.spark import verify_salted
from topicloom.overlay.spark.verify import verify_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Pair = tuple[str, str]
WAYS = ("driver", "bucketed")
NODES, TOPICS = "abcdefgh", "rstuv"


def judge(
    spark: SparkSession, pairs: list[Pair], rows: list[Pair], work_dir: Path, way: str, **options: object
) -> Verdict:
    interest = spark.createDataFrame(_table(pairs, "node", "topic"))
    edges = spark.createDataFrame(_table(rows, "u", "v"))
    return verify_tables(spark, interest, edges, path=way, **options)  # type: ignore[arg-type]


def _table(rows: list[Pair], *names: str) -> pa.Table:
    return pa.table({name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(names)})


def random_rows(
    seed: int, n_nodes: int, n_topics: int, n_pairs: int, n_edges: int
) -> tuple[list[Pair], list[Pair]]:
    """Pairs with repeats; edges with loops, repeats in both directions and nodes nobody knows."""
    rng = random.Random(seed)
    pairs = [(f"n{rng.randrange(n_nodes)}", f"t{rng.randrange(n_topics)}") for _ in range(n_pairs)]
    ends = [f"n{rng.randrange(n_nodes + n_nodes // 10)}" for _ in range(2 * n_edges)]
    rows = list(zip(ends[::2], ends[1::2], strict=True))
    rows += [(v, u) for u, v in rows[: n_edges // 10]] + [(u, u) for u, _ in rows[: n_edges // 20]]
    rng.shuffle(rows)
    return pairs, rows


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
PATH = [(f"n{i:03}", f"n{i + 1:03}") for i in range(199)]
ON_PATH = [(f"n{i:03}", "all") for i in range(200)]

# Each is a small world of its own; a test lays them side by side in one table, under prefixed names.
SCENARIOS: dict[str, tuple[list[Pair], list[Pair]]] = {
    "random, dense": random_rows(1, 100, 12, 300, 500),
    "random, thin": random_rows(2, 60, 200, 900, 400),
    "a whole path": ([*ON_PATH, ("n007", "one subscriber")], PATH),
    "a path without one edge": (ON_PATH, PATH[:120] + PATH[121:]),
    "loops, repeats and strangers": (
        [("a", "x"), ("b", "x"), ("c", "x"), ("a", "x")],
        [("a", "b"), ("b", "a"), ("a", "b"), ("c", "c"), ("b", "?"), ("?", "c"), ("?", "?"), ("!", "c")],
    ),
    "a path through a node that does not want the topic": (
        [("a", "x"), ("b", "x"), ("c", "y")],
        [("a", "c"), ("c", "b")],
    ),
    "no edges": ([("a", "t"), ("b", "t"), ("c", "t"), ("a", "s"), ("b", "r"), ("c", "q"), ("a", "q")], []),
    "odd identifiers": (
        [(node, topic) for i, node in enumerate(ODD) for topic in (ODD[i], ODD[i - 1], "all")],
        [(ODD[i], ODD[i - 1]) for i in range(3, len(ODD))],
    ),
}


def side_by_side(worlds: dict[str, tuple[list[Pair], list[Pair]]]) -> tuple[list[Pair], list[Pair]]:
    """All worlds in one table of pairs and one of edges; names get their world as a prefix."""
    both = []
    for part in (0, 1):
        rows = [(f"{name}/{a}", f"{name}/{b}") for name, world in worlds.items() for a, b in world[part]]
        random.Random(part).shuffle(rows)
        both.append(rows)
    return both[0], both[1]


@pytest.fixture(scope="module")
def judged(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    """All scenarios judged both ways, every partitioned topic listed."""
    pairs, rows = side_by_side(SCENARIOS)
    work = tmp_path_factory.mktemp("verify")
    return {way: judge(spark, pairs, rows, work, way, n_witnesses=10_000) for way in WAYS}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("world", SCENARIOS)
def test_each_scenario_is_judged_by_the_definition(judged: dict[str, Verdict], way: str, world: str) -> None:
    """A topic missing here is a false proof, one too many a false alarm, another node a wrong witness."""
    pairs, rows = side_by_side({world: SCENARIOS[world]})
    ours = [plain(one) for one in judged[way].witnesses if one.topic.startswith(f"{world}/")]
    assert ours == naive_verdict(pairs, rows)["witnesses"]
    assert bool(ours) == (world != "a whole path")


@pytest.mark.parametrize("way", WAYS)
def test_every_row_is_accounted_for(judged: dict[str, Verdict], way: str) -> None:
    """Rows that prove nothing are counted, never dropped in silence; totals cover untouched topics too."""
    pairs, rows = side_by_side(SCENARIOS)
    verdict = judged[way]
    assert plain(verdict.summary()) == naive_verdict(pairs, rows)
    assert verdict.path == way
    counts = (verdict.edges, verdict.unknown_nodes, verdict.self_loops, verdict.duplicate_edges)
    assert sum(counts) == len(rows)
    assert min(counts) > 0
    assert not verdict.clean
    unknown = {name for row in rows for name in row} - {node for node, _ in pairs}
    assert verdict.unknown_names == tuple(sorted(unknown)[:5])


@pytest.mark.parametrize("way", WAYS)
def test_a_witness_names_nodes_that_really_are_apart(judged: dict[str, Verdict], way: str) -> None:
    """One missing edge of a path of 200 nodes must not be blamed on the wrong nodes."""
    (witness,) = (one for one in judged[way].witnesses if one.topic == "a path without one edge/all")
    assert witness.component_sizes == (121, 79)
    _, rows = side_by_side({"a path without one edge": SCENARIOS["a path without one edge"]})
    assert not networkx.has_path(networkx.Graph(rows), *witness.nodes)


@pytest.mark.parametrize("way", WAYS)
def test_a_sound_overlay_is_proved(spark: SparkSession, tmp_path: Path, way: str) -> None:
    """The proof must succeed where it should, with nothing to report."""
    pairs, rows = side_by_side({"a whole path": SCENARIOS["a whole path"]})
    verdict = judge(spark, pairs, rows, tmp_path, way)
    assert verdict.topic_connected
    assert verdict.clean
    assert (verdict.topics, verdict.topic_components, verdict.edges, verdict.witnesses) == (2, 2, 199, ())


@pytest.mark.parametrize("way", WAYS)
def test_no_edges_at_all(spark: SparkSession, tmp_path: Path, way: str) -> None:
    """An empty edge table: topics that no edge touches are judged too."""
    pairs, _ = SCENARIOS["no edges"]
    verdict = judge(spark, pairs, [], tmp_path, way)
    assert plain(verdict.summary()) == naive_verdict(pairs, [])
    assert [witness.topic for witness in verdict.witnesses] == ["t", "q"]


@pytest.mark.parametrize("way", WAYS)
def test_a_missing_end_is_an_unknown_node(spark: SparkSession, tmp_path: Path, way: str) -> None:
    """An edge row with a null end must neither vanish nor become a loop."""
    rows: list[Any] = [("a", None), (None, None), (None, "?"), ("b", "a")]
    verdict = judge(spark, [("a", "x"), ("b", "x")], rows, tmp_path, way)
    assert (verdict.edges, verdict.unknown_nodes, verdict.self_loops) == (1, 3, 0)
    assert verdict.unknown_names == ("?",)
    assert verdict.topic_connected


@examples(
    4,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would take a session of Spark jobs
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    worlds=st.lists(
        st.tuples(
            st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(TOPICS)), min_size=1, max_size=30),
            st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=20),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_both_ways_agree(
    spark: SparkSession, tmp_path: Path, worlds: list[tuple[list[Pair], list[Pair]]]
) -> None:
    """Two implementations, one verdict: that of the definition."""
    pairs, rows = side_by_side({str(number): world for number, world in enumerate(worlds)})
    expected = naive_verdict(pairs, rows)
    verdicts = [judge(spark, pairs, rows, tmp_path, way, n_witnesses=999) for way in WAYS]
    assert [plain(verdict.summary()) for verdict in verdicts] == [expected, expected]
    assert replace(verdicts[0], path="") == replace(verdicts[1], path="")


@pytest.mark.parametrize(
    ("way", "name"),
    [
        ("driver", "all.jsonl"),
        ("driver", "all.json"),
        ("driver", "all.parquet"),
        ("bucketed", "all.jsonl"),
    ],
)
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
    assert [plain(witness) for witness in verdict.witnesses] == written[:2]
    assert len(written) == verdict.topics_partitioned > 2


@pytest.mark.parametrize("name", ["all.jsonl", "all.json", "all.parquet"])
def test_a_file_without_witnesses_is_still_a_whole_file(tmp_path: Path, name: str) -> None:
    """A script that reads the file must not stumble over a proof that succeeded."""
    schema = pa.schema(
        [
            ("topic", pa.string()),
            ("component_sizes", pa.list_(pa.int64())),
            ("nodes", pa.list_(pa.string())),
        ]
    )
    out = tmp_path / name
    write_witnesses(schema.empty_table(), out)
    if out.suffix == ".parquet":
        assert pq.read_table(out).num_rows == 0
    else:
        assert json.loads(out.read_text() or "[]") == []


def test_the_limit_decides_the_way(spark: SparkSession, tmp_path: Path) -> None:
    """Recorded in the verdict; tables above the limit must not be collected."""
    pairs, rows = [("a", "x"), ("b", "x")], [("a", "b")]
    ways = [judge(spark, pairs, rows, tmp_path, "auto", driver_rows=limit).path for limit in (3, 2)]
    assert ways == ["driver", "bucketed"]


def test_long_identifiers_count_against_the_limit(spark: SparkSession, tmp_path: Path) -> None:
    """The names travel to the driver as they are: few rows of long names can be too much for it."""
    short, long = [("a", "x"), ("b", "x")], [("a" * 100, "é" * 50), ("b" * 100, "é" * 50)]
    ways = [judge(spark, pairs, [], tmp_path, "auto", driver_bytes=400).path for pairs in (short, long)]
    assert ways == ["driver", "bucketed"]
    assert judge(spark, [], [], tmp_path, "auto", driver_bytes=0).path == "driver"


def test_unusable_options_are_refused_before_any_work(spark: SparkSession, tmp_path: Path) -> None:
    """Minutes of work must not end in a file that cannot be written."""
    with pytest.raises(UsageError, match="`all="):
        judge(spark, [("a", "x")], [], tmp_path, "auto", witnesses_file=tmp_path / "all.xls")
    (tmp_path / "all.json").mkdir()
    with pytest.raises(UsageError, match=r"all\.json'` is a folder"):
        check_witness_file(tmp_path / "all.json")
    with pytest.raises(UsageError, match="driver, bucketed"):
        judge(spark, [("a", "x")], [], tmp_path, "sideways")


@pytest.mark.parametrize("way", WAYS)
def test_a_stop_request_is_honoured(spark: SparkSession, tmp_path: Path, way: str) -> None:
    """Ctrl-C in the middle of a long proof: the first phase is done, no other begins."""

    class Stopping(Silent):
        def __init__(self) -> None:
            super().__init__()
            self.phases: list[str] = []
            self.done = 0.0

        def phase(self, name: str, total: float | None = None) -> None:
            self.phases.append(name)

        def advance(self, amount: float = 1) -> None:
            self.done += amount

        def should_stop(self) -> bool:
            return self.done >= 1

    progress = Stopping()
    with pytest.raises(Interrupted):
        judge(spark, [("a", "x")], [], tmp_path, way, progress=progress)
    assert progress.phases == ["verify: read interest" if way == "driver" else "verify: topics"]
    assert progress.done == pytest.approx(1)


def test_memory_says_the_same_as_spark(spark: SparkSession, tmp_path: Path) -> None:
    """The Python interface needs no JVM and must not have an opinion of its own."""
    pairs, rows = random_rows(4, 80, 30, 400, 150)
    interest = Interest.from_pairs(pairs)
    known = set(interest.node_ids.to_pylist())
    sound = [(u, v) for u, v in rows if u != v and {u, v} <= known]
    overlay = Overlay.from_arrow(interest.node_ids, _table(sound, "u", "v"))
    named = [(row["u"], row["v"]) for row in overlay.to_arrow().to_pylist()]
    memory = check_overlay(interest, overlay)
    assert replace(memory, path="driver") == judge(spark, pairs, named, tmp_path, "driver")


def test_threads_may_judge_the_same_tables_at_once(spark: SparkSession) -> None:
    interest = spark.createDataFrame([(f"n{i % 30}", f"t{i % 7}") for i in range(210)], ["node", "topic"])
    ring = spark.createDataFrame([(f"n{i}", f"n{(i + 1) % 30}") for i in range(30)], ["u", "v"])

    def judged(_: int) -> Verdict:
        return verify_tables(spark, interest, ring, path="bucketed")

    with ThreadPoolExecutor(3) as pool:
        first, *others = pool.map(judged, range(3))
    assert first.topic_connected and first.edges == 30 and all(other == first for other in others)


def test_topics_too_large_for_one_task_are_judged_the_same(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their joins are dealt out to several tasks, which keep a forest each; with and without one split."""
    import topicloom.overlay.spark.verify_bucketed as bucketed

    monkeypatch.setattr(bucketed, "BUCKET_ROWS", 20)
    pairs, rows = random_rows(5, 60, 3, 400, 150)
    found = judge(spark, pairs, rows, tmp_path, "bucketed", n_witnesses=999)
    assert plain(found.summary()) == naive_verdict(pairs, rows)
    assert found.topics_partitioned


def test_the_joins_of_one_large_topic_are_dealt_out(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No task may have to hold all joins of a topic that everybody wants."""

    def rows_of_task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        task, count = TaskContext.get(), sum(batch.num_rows for batch in batches)
        columns = [[7], [task.partitionId()], [count]]
        yield pa.RecordBatch.from_arrays([pa.array(column) for column in columns], ["topic", "a", "b"])

    monkeypatch.setattr(verify_salted, "star_batches", rows_of_task)
    monkeypatch.setattr(verify_salted, "FAN_IN", 99)  # one round
    joins = spark.range(400).selectExpr("cast(7 as bigint) topic", "id a", "id + 1 b")
    found = verify_salted.thinned_joins(joins, 50, 400).collect()
    tasks = {row["a"]: row["b"] for row in found if row["b"]}
    assert sum(tasks.values()) == 400 and len(tasks) >= 4 and max(tasks.values()) <= 200


@pytest.mark.parametrize("seed", range(5))
def test_stars_connect_what_the_joins_connect(seed: int) -> None:
    from topicloom.overlay.spark.verify_salted import stars

    rng = np.random.default_rng(seed)
    topic, a, b = rng.integers(0, 4, 60), rng.integers(0, 30, 60) * 7, rng.integers(0, 30, 60) * 7
    thin = stars(topic, a, b)
    for one in range(4):
        before, after = (nx.Graph(), nx.Graph())
        for graph, joins in ((before, (topic, a, b)), (after, thin)):
            here = joins[0] == one
            graph.add_nodes_from([*a[topic == one].tolist(), *b[topic == one].tolist()])
            graph.add_edges_from(zip(joins[1][here].tolist(), joins[2][here].tolist(), strict=True))
        assert sorted(map(sorted, nx.connected_components(before))) == sorted(
            map(sorted, nx.connected_components(after))
        )
        assert after.number_of_edges() < max(after.number_of_nodes(), 1)


@pytest.mark.parametrize("at_once", [1, 7, 59, 60, 1000])
def test_a_task_reduces_its_joins_part_by_part(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    """Whatever the parts, the same stars: held at a time are so many joins and a row per node and topic."""
    monkeypatch.setattr(verify_salted, "AT_ONCE", at_once)
    rng = np.random.default_rng(at_once)
    joins = [rng.integers(0, 4, 60), rng.integers(0, 30, 60), rng.integers(0, 30, 60)]
    held = []
    whole = verify_salted.stars

    def watched(*columns: Any) -> Any:
        held.append(len(columns[0]))
        return whole(*columns)

    monkeypatch.setattr(verify_salted, "stars", watched)
    batches = pa.table(joins, names=["topic", "a", "b"]).to_batches(max_chunksize=1)
    found = pa.Table.from_batches(verify_salted.star_batches(iter(batches)))
    assert [column.to_pylist() for column in found.columns] == [one.tolist() for one in whole(*joins)]
    assert max(held) <= at_once + 4 * 30
    assert list(verify_salted.star_batches(iter([]))) == []

"""Measures, profiles and bounds made on Spark are those of the local engine, wherever they are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.measures.bounds import bound_overlays
from topicloom.overlay.measures.components import find_components
from topicloom.overlay.measures.connectivity import node_codes, sound_edges
from topicloom.overlay.measures.names import find_alike
from topicloom.overlay.measures.profile import profile_interest
from topicloom.overlay.measures.registry import measure_overlay
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.spark import measure_topics
from topicloom.overlay.spark.certify import bounds_by_nodes
from topicloom.overlay.spark.encode import EncodedInterest, read_interest
from topicloom.overlay.spark.measure import measure_encoded
from topicloom.overlay.spark.profile import alike_names, count_components, profile_encoded
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options
from topicloom.tables.source import interest_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def encoded_as(spark: SparkSession, interest: Interest, folder) -> EncodedInterest:
    import pyarrow.parquet as pq

    folder.mkdir(exist_ok=True)
    pq.write_table(interest.to_arrow(), folder / "table.parquet")
    return read_interest(spark, interest_source(folder / "table.parquet"), work_dir=folder / "work").encoded


def drawn(nodes: int, topics: int, seed: int) -> Interest:
    return generate_interest(workload_from_options(nodes, topics, "1:12", "zipf:0.5", seed=seed))


def with_rates(interest: Interest) -> Interest:
    draw = np.random.default_rng(4)
    n = interest.n_subscriptions
    rates = np.where(draw.random(n) < 0.2, np.nan, draw.integers(1, 9, n).astype(np.float64))
    roles = draw.integers(0, 3, n).astype(np.uint8)
    ids = (interest.node_ids, interest.topic_ids)
    return Interest.from_codes(*ids, interest.pair_nodes(), interest.node_topics, roles, rates)


def rows_of(overlay: Overlay, drop: int, seed: int) -> pa.Table:
    """Return its edges without some of them, turned round, with rows that play no part."""
    table = overlay.to_arrow()
    kept = np.sort(np.random.default_rng(seed).permutation(len(table))[drop:])
    u, v = (table[end].to_pylist() for end in ("u", "v"))
    rows = [(v[i], u[i]) if i % 3 else (u[i], v[i]) for i in kept.tolist()]
    more = [(u[kept[0]], v[kept[0]]), (u[0], "stranger"), ("one", "other"), (u[1], u[1])]
    return pa.table(dict(zip(("u", "v"), zip(*rows, *more, strict=True), strict=True)))


CASES = {
    "whole": (drawn(300, 40, 1), 0),
    "split": (drawn(300, 40, 2), 60),
    "rates": (with_rates(drawn(200, 30, 3)), 0),
}


@pytest.mark.parametrize("name", CASES)
def test_figures_are_those_of_the_local_engine(spark, tmp_path, name):
    interest, drop = CASES[name]
    edges = rows_of(build_gm(interest).overlay, drop, seed=1)
    codes = [node_codes(edges[end], interest.node_ids) for end in ("u", "v")]
    sound = sound_edges(*codes, interest.n_nodes)
    expected = measure_overlay(interest, Overlay.from_edges(interest.node_ids, sound.low, sound.high))
    encoded = encoded_as(spark, interest, tmp_path)
    found = measure_encoded(spark, encoded, spark.createDataFrame(edges.to_pandas()))
    assert set(found.figures) == set(expected)
    assert (found.unknown_nodes, found.self_loops, found.duplicate_edges) == (2, 1, 1)
    unknown = {key for key, value in found.figures.items() if value is None}
    assert unknown == set(found.unknown) and all(found.unknown.values())
    assert ("filtering_cost" in unknown) == (drop > 0)
    for key in set(expected) - unknown:
        nearly = key.startswith(("hops_mean", "load"))  # sums in another order
        told = pytest.approx(expected[key]) if nearly else expected[key]
        assert found.figures[key] == told, key


def test_of_many_topics_a_sample_is_measured_and_the_rest_is_said_to_be_unknown(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(measure_topics, "SAMPLE_TOPICS", 7)
    interest = drawn(300, 40, 1)
    overlay = build_gm(interest).overlay
    expected = measure_overlay(interest, overlay)
    encoded = encoded_as(spark, interest, tmp_path)
    found = measure_encoded(spark, encoded, spark.createDataFrame(overlay.to_pandas()))
    figures = found.figures
    assert figures["diameter_topic_max"] is None and "a sample" in found.unknown["diameter_topic_max"]
    low, high = figures["diameter_topic_max_bounds"]
    assert high is None and low <= expected["diameter_topic_max"]
    assert (
        figures["diameter_topic_avg_bounds"] is None
        and "7 of 40" in found.unknown["diameter_topic_avg_bounds"]
    )
    assert found.sampled is not None and (found.sampled.topics, found.sampled.of) == (7, 40)
    assert all(figures[key] is not None for key in found.sampled.figures)
    mean = found.sampled.diameter_topic_avg_bounds
    assert 1 <= mean[0] <= mean[1] <= expected["diameter_topic_max"]
    # What no sample says is that of the local engine.
    same = set(expected) - set(found.unknown) - set(found.sampled.figures) - {"diameter_topic_max_bounds"}
    for key in same:
        told = pytest.approx(expected[key]) if key.startswith("load") else expected[key]
        assert figures[key] == told, key
    hops = {row["topic"]: row for row in expected["hops_by_topic"]}
    assert len(figures["hops_by_topic"]) == 7 == figures["diameter_topics_counted"]
    assert all(hops[row["topic"]] == row for row in figures["hops_by_topic"])
    assert figures["hops_bound"] == expected["hops_bound"]


def test_a_profile_is_that_of_the_local_engine(spark, tmp_path):
    pairs = drawn(150, 40, 5).to_arrow().to_pylist()
    pairs += [{"node": f"twin{k}", "topic": topic} for k in range(3) for topic in ("t01", "t02")]
    pairs += [{"node": "TWIN0", "topic": "lonely"}, {"node": "far", "topic": "Far"}]
    interest = Interest.from_pairs([(row["node"], row["topic"]) for row in pairs])
    encoded = encoded_as(spark, interest, tmp_path)
    found, expected = profile_encoded(spark, encoded), profile_interest(interest)
    for field in type(expected).__struct_fields__:
        if field not in ("alike", "advice"):
            told = getattr(expected, field)
            told = pytest.approx(told) if isinstance(told, float) else told
            assert getattr(found, field) == told, field
    assert found.alike.intersection == pytest.approx(expected.alike.intersection)
    assert found.alike.shared_topics == pytest.approx(expected.alike.shared_topics)
    assert found.alike.intersection_exact and expected.alike.intersection_exact
    assert found.advice == expected.advice
    assert count_components(spark, encoded) == len(find_components(interest).sizes) > 1
    assert alike_names(spark, encoded) == find_alike(interest.node_ids, interest.topic_ids)


@pytest.mark.parametrize(("nodes", "topics", "seed"), [(12, 12, 1), (60, 12, 2), (300, 40, 3)])
def test_bounds_hold_and_are_not_above_those_of_the_thorough_search(spark, tmp_path, nodes, topics, seed):
    interest = drawn(nodes, topics, seed)
    encoded = encoded_as(spark, interest, tmp_path)
    parts = count_components(spark, encoded)
    edges, degree = bounds_by_nodes(spark, encoded, components=parts)
    best = bound_overlays(interest)
    overlay = build_gm(interest).overlay
    assert 1 <= edges <= best.edges_bound <= overlay.n_edges
    assert 1 <= degree <= best.degree_max_bound
    assert (edges, degree) == naive_node_bounds(interest)


def naive_node_bounds(interest: Interest) -> tuple[int, int]:
    """The same in plain Python."""
    from fractions import Fraction

    wanted = [set(map(int, interest.topics_of(v))) for v in range(interest.n_nodes)]
    shared = [{t for t in topics if len(interest.nodes_of(t)) > 1} for topics in wanted]
    needs = []
    for v, topics in enumerate(shared):
        total = Fraction(0)
        for t in topics:
            most = max(len(shared[w]) for w in interest.nodes_of(t).tolist() if w != v)
            total += Fraction(1, min(len(topics), most))
        needs.append(-(-total.numerator // total.denominator))
    tree = interest.n_nodes - len(find_components(interest).sizes)
    return max(-(-sum(needs) // 2), tree), max(needs)


def test_nothing_to_measure(spark, tmp_path):
    interest = Interest.from_pairs([("a", "x"), ("b", "y")])
    encoded = encoded_as(spark, interest, tmp_path)
    none = spark.createDataFrame([], "u string, v string")
    found = measure_encoded(spark, encoded, none).figures
    expected = measure_overlay(interest, Overlay.from_edges(interest.node_ids, [], []))
    for key, value in found.items():
        assert value is None or value == expected[key], key
    assert bounds_by_nodes(spark, encoded, components=2) == (0, 0)

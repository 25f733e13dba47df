"""Dense numbers on Spark: if these fail, the same pairs give different overlays on different days."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.tables import as_csv, as_parquet
from spark_interest import read_interest
from topicloom.overlay.measures.digest import interest_digest
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.merge_pairs import merge_pairs
from topicloom.overlay.spark import encode
from topicloom.tables.records import ROLES
from topicloom.tables.source import interest_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IDS = ["", "é", "z", "Z", "10", "9", "\uffff", "🚀", "e\u0301", "a b", "\x00"]
PAIRS = sorted({(f"{a}n{i}", f"{b}t{i % 5}") for i, a in enumerate(IDS) for b in IDS})


@pytest.fixture(params=["on Spark", "on the driver"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables are numbered on the driver; both ways must give the same."""
    if request.param == "on Spark":
        monkeypatch.setattr(encode, "SMALL_BYTES", 0)


def test_numbers_do_not_depend_on_order_partitions_or_format(spark: SparkSession, tmp_path: Path) -> None:
    expected = Interest.from_pairs(PAIRS)
    before = spark.conf.get("spark.sql.shuffle.partitions")
    try:
        for seed, (partitions, files) in enumerate([(1, 1), (5, 3), (3, 2)]):
            shuffled = PAIRS + PAIRS[:seed]
            random.Random(seed).shuffle(shuffled)
            folder = tmp_path / str(seed)
            folder.mkdir()
            for part in range(files):
                if seed % 2:
                    (folder / f"{part}.csv").write_bytes(as_csv(shuffled[part::files]))
                else:
                    as_parquet(shuffled[part::files], folder / f"{part}.parquet")
            spark.conf.set("spark.sql.shuffle.partitions", partitions)
            encoded, _, _ = read_interest(spark, interest_source(folder), work_dir=tmp_path / f"w{seed}")
            assert encoded.to_interest() == expected
            assert (encoded.n_nodes, encoded.n_topics) == (expected.n_nodes, expected.n_topics)
            assert (encoded.n_subscriptions, encoded.duplicates) == (len(PAIRS), seed)
            # With duplicates the digest takes another way; both must be the one of memory.
            assert encoded.digest == interest_digest(expected)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)


def test_identifiers_too_many_to_broadcast_are_joined_all_the_same(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_parquet(PAIRS, tmp_path / "a.parquet")
    monkeypatch.setattr("topicloom.tables.spark.step_tables.BROADCAST_BYTES", -1)
    monkeypatch.setattr(encode, "ROWS_PER_PARTITION", 20)
    encoded, _, _ = read_interest(spark, interest_source(tmp_path / "a.parquet"))
    assert encoded.to_interest() == Interest.from_pairs(PAIRS)


def test_roles_and_rates_of_one_pair_merge(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(
        b"node,topic,role,rate\na,x,sub,1\na,x,pub,3\na,y,pub,2\nb,x,both,0\nb,y,sub,5\nb,y,sub,4\nc,z,pub,1\n"
    )
    (tmp_path / "b.csv").write_bytes(b"node,topic\nd,x\n")
    encoded, raw, _ = read_interest(spark, interest_source(tmp_path))
    assert (encoded.n_subscriptions, encoded.duplicates) == (6, 2)
    table = encoded.to_interest().to_arrow().to_pylist()
    assert [(row["node"], row["topic"], row["role"]) for row in table] == [
        ("a", "x", "both"),
        ("a", "y", "pub"),
        ("b", "x", "both"),
        ("b", "y", "sub"),
        ("c", "z", "pub"),
        ("d", "x", "sub"),
    ]
    rates = [row["rate"] for row in table]
    assert rates[:5] == [3, 2, 0, 5, 1]
    assert rates[5] is None
    raw.release()
    only, _, _ = read_interest(spark, interest_source(tmp_path), subscribers_only=True)
    kept = only.to_interest()
    assert [(row["node"], row["topic"], row["role"]) for row in kept.to_arrow().to_pylist()] == [
        ("a", "x", "both"),
        ("b", "x", "both"),
        ("b", "y", "sub"),
        ("d", "x", "sub"),
    ]
    assert kept.topic_ids.to_pylist() == ["x", "y"]
    assert only.digest == interest_digest(kept)


def test_json_without_role_and_rate_carries_none(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"node": "a", "topic": "x"}\n')
    interest = read_interest(spark, interest_source(tmp_path / "a.jsonl")).encoded.to_interest()
    assert interest.roles is None
    assert interest.rates is None


def test_a_build_read_again_has_the_same_digest(spark: SparkSession, tmp_path: Path) -> None:
    interest = Interest.from_pairs(PAIRS)
    pq.write_table(interest.to_arrow(), tmp_path / "interest.parquet")
    (tmp_path / "summary.json").write_text("{}")
    encoded, raw, _ = read_interest(spark, interest_source(tmp_path))
    assert encoded.digest == interest_digest(interest)
    assert raw.notice is None


def test_digest_sees_every_single_change() -> None:
    base = interest_digest(Interest.from_pairs(PAIRS))
    swapped = [(topic, node) for node, topic in PAIRS]
    assert interest_digest(Interest.from_pairs(swapped)) != base
    assert interest_digest(Interest.from_pairs(PAIRS[1:])) != base
    assert interest_digest(Interest.from_pairs([*PAIRS[1:], ("other", "x")])) != base
    assert interest_digest(Interest.from_pairs([("ab", "c")])) != interest_digest(
        Interest.from_pairs([("a", "bc")])
    )


ROWS = st.lists(
    st.tuples(
        st.integers(0, 4), st.integers(0, 4), st.integers(1, 3), st.sampled_from([0.0, 1.5, 2.0, np.nan])
    ),
    min_size=1,
    max_size=30,
)


@given(ROWS)
@examples(100)
def test_merging_rows_is_or_of_roles_and_maximum_of_rates(rows: list[tuple[int, int, int, float]]) -> None:
    node, topic, role, rate = (list(column) for column in zip(*rows, strict=True))
    batch = pa.record_batch(
        {
            "node": pa.array(node, pa.int32()),
            "topic": pa.array(topic, pa.int32()),
            "role": pa.array(role, pa.int8()),
            "rate": pa.array(rate, pa.float64()),
        }
    )
    merged = [
        row for part in merge_pairs(iter([batch.slice(0, 7), batch.slice(7)])) for row in part.to_pylist()
    ]
    assert [(row["node"], row["topic"]) for row in merged] == sorted(Counter(zip(node, topic, strict=True)))
    for row in merged:
        same = [r for r in rows if r[:2] == (row["node"], row["topic"])]
        roles = {"sub": False, "pub": False}
        for _, _, bits, _ in same:
            roles["sub"] |= bool(bits & 1)
            roles["pub"] |= bool(bits & 2)
        name = "both" if all(roles.values()) else next(name for name, there in roles.items() if there)
        assert ROLES[row["role"]] == name
        known = [r[3] for r in same if not np.isnan(r[3])]
        assert row["rate"] == max(known) if known else np.isnan(row["rate"])

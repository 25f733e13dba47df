"""The hash kernel must equal Spark's xxhash64: otherwise digests of files and of memory never agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.xxh64 import naive_xxh64
from topicloom.base.kernels.hashing import SPARK_SEED, hash_strings, string_buffers, xor_of_pairs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALL_LENGTHS = ["".join(chr(97 + (i * 7 + n) % 26) for i in range(n)) for n in range(201)]
WIDE = ["é" * 9, "日本語のトピック", "👩‍🚀 emoji", "e\u0301 apart", "\x00nul", "a\rb"]


def test_equals_spark_on_every_length_and_on_wide_characters(spark: SparkSession) -> None:
    strings = ALL_LENGTHS + WIDE
    frame = spark.createDataFrame([(s,) for s in strings], "s string").selectExpr("s", "xxhash64(s) as h")
    of_spark = {row["s"]: row["h"] % (1 << 64) for row in frame.collect()}
    ours = hash_strings(pa.array(strings), SPARK_SEED)
    assert [of_spark[s] for s in strings] == ours.tolist()


@pytest.mark.parametrize("seed", [0, 1, 42, (1 << 64) - 1])
def test_known_values_of_the_specification_by_the_naive_version(seed: int) -> None:
    strings = ALL_LENGTHS[::7] + WIDE
    expected = [naive_xxh64(s.encode(), seed) for s in strings]
    assert hash_strings(pa.array(strings), seed).tolist() == expected


def test_naive_version_gives_the_published_value_of_the_empty_string() -> None:
    assert naive_xxh64(b"", 0) == 0xEF46DB3751D8E999


@given(st.lists(st.text(max_size=40), max_size=8), st.integers(0, 2**64 - 1), st.integers(0, 3))
@examples(60)
def test_slices_and_large_strings_hash_like_their_own_bytes(strings: list[str], seed: int, cut: int) -> None:
    strings = [s for s in strings if s.isprintable()]
    expected = [naive_xxh64(s.encode(), seed) for s in strings[cut:]]
    for kind in (pa.string(), pa.large_string()):
        assert hash_strings(pa.array(strings, kind).slice(cut), seed).tolist() == expected


def test_an_empty_array_has_no_hashes() -> None:
    content, places = string_buffers(pa.array([], pa.string()))
    assert len(hash_strings(pa.array([], pa.string()))) == 0
    assert places.tolist() == [0]
    assert content.dtype == np.uint8


def test_pairs_are_hashed_with_the_owner_as_seed() -> None:
    owners, strings = hash_strings(pa.array(["a", "b"])), pa.array(["x", "yy"])
    ptr, second = np.array([0, 2, 3], dtype=np.int64), np.array([0, 1, 1], dtype=np.int32)
    seeds = [naive_xxh64(b"a", 42), naive_xxh64(b"b", 42)]
    expected = naive_xxh64(b"x", seeds[0]) ^ naive_xxh64(b"yy", seeds[0]) ^ naive_xxh64(b"yy", seeds[1])
    assert xor_of_pairs(owners, ptr, second, strings) == expected

"""Our own decompression: wrong here means rows lost in silence or a traceback for a damaged file."""

from __future__ import annotations

import gzip
import io
import random

import pytest

from naive.tables import compressed, framed_snappy, hadoop_snappy, snappy_block
from topicloom.tables.decompress import BadCompression, decompressed

DATA = "".join(f"node{i % 97},topic{i * i % 1009}\n" for i in range(4000)).encode()
KINDS = ["gz", "bz2", "zst", "snappy"]


def whole(data: bytes, kind: str | None) -> bytes:
    return b"".join(decompressed(io.BytesIO(data), kind))


@pytest.mark.parametrize("kind", [None, *KINDS])
@pytest.mark.parametrize("data", [b"", b"x", DATA], ids=["empty", "one", "many"])
def test_everything_comes_back(kind: str | None, data: bytes) -> None:
    assert whole(compressed(data, kind or ""), kind) == data


@pytest.mark.parametrize("data", [b"", b"x", b"a,b\n" * 3, DATA], ids=["empty", "one", "few", "many"])
@pytest.mark.parametrize("wrap", [hadoop_snappy, framed_snappy, snappy_block])
def test_all_three_wrappings_of_snappy_are_read(wrap: object, data: bytes) -> None:
    assert whole(wrap(data), "snappy") == data  # type: ignore[operator]


@pytest.mark.parametrize("kind", ["gz", "bz2", "zst"])
def test_members_one_after_the_other_are_one_file(kind: str) -> None:
    assert whole(compressed(b"a\n", kind) + compressed(b"b\n", kind), kind) == b"a\nb\n"


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_cut_short_is_an_error(kind: str) -> None:
    with pytest.raises(BadCompression):
        whole(compressed(DATA, kind)[:-20], kind)


@pytest.mark.parametrize("kind", KINDS)
def test_other_bytes_are_an_error(kind: str) -> None:
    with pytest.raises(BadCompression):
        whole(b"node,topic\nthis is no compressed file\n", kind)


def test_a_damaged_gz_is_an_error() -> None:
    noise = random.Random(1).randbytes(5000)
    raw = bytearray(gzip.compress(noise))
    raw[100] ^= 255
    with pytest.raises(BadCompression):
        whole(bytes(raw), "gz")

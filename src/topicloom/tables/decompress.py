"""Reads compressed bytes as a stream, by our own means: no Spark, no files.

The pip install of Spark lacks Hadoop's native codecs for zst and snappy, and a worker that reads a whole
file needs gz and bz2 as well. Snappy comes in three wrappings: Hadoop's blocks, the official framing, and
one bare block; the bytes tell which.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa

CHUNK = 1 << 20  # how many bytes are handed out at once, about
SUFFIXES = {".gz": "gz", ".bz2": "bz2", ".zst": "zst", ".snappy": "snappy"}

_FRAMING_MAGIC = b"\xff\x06\x00\x00sNaPpY"


class BadCompression(Exception):  # noqa: N818 - about the data
    """The bytes are not what the file's ending promises; the text says how."""


def decompressed(raw: BinaryIO, compression: str | None) -> Iterator[bytes]:
    """Yield the content of `raw` in chunks; raises `BadCompression` where it is damaged or cut short."""
    chunks = _snappy(raw) if compression == "snappy" else _standard(raw, compression)
    try:
        yield from chunks
    except (OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException, ValueError) as error:
        raise BadCompression(f"damaged or not {compression}: {_short(error)}") from None


def _standard(raw: BinaryIO, compression: str | None) -> Iterator[bytes]:
    stream: BinaryIO
    if compression is None:
        stream = raw
    elif compression == "gz":
        stream = gzip.GzipFile(fileobj=raw)  # type: ignore[assignment]
    elif compression == "bz2":
        stream = bz2.BZ2File(raw)  # type: ignore[assignment]
    else:
        stream = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
    while chunk := stream.read(CHUNK):
        yield bytes(chunk)


def _snappy(raw: BinaryIO) -> Iterator[bytes]:
    start = raw.read(len(_FRAMING_MAGIC))
    if start == _FRAMING_MAGIC:
        yield from _framed(raw)
        return
    if start[:1] == b"\0" and len(start) > 1:
        yield from _hadoop_blocks(_Rejoined(start, raw))
        return
    data = start + raw.read()  # one bare block, which must be in memory anyway
    bare = _bare_block(data)
    if bare is not None:
        yield bare
        return
    yield from _hadoop_blocks(io.BytesIO(data))


def _bare_block(data: bytes) -> bytes | None:
    """Return the content if the data are one block and nothing else, which its length tells."""
    if data in (b"", b"\0"):
        return b""
    if data[0] == 0:
        return None  # Hadoop's lengths begin with a zero byte; here it would be an empty block with a tail
    try:
        return _block(data)
    except (pa.ArrowException, OSError, ValueError):
        return None


def _framed(raw: BinaryIO) -> Iterator[bytes]:
    """Read the official framing: chunks of one byte of kind, three of length (little-endian), a body."""
    while header := _whole(raw, 4, may_end=True):
        kind, body = header[0], _whole(raw, int.from_bytes(header[1:], "little"))
        # The first four bytes of a data chunk are its checksum.
        if kind == 0x00:
            yield _block(body[4:])
        elif kind == 0x01:
            yield body[4:]
        elif 0x02 <= kind <= 0x7F:
            raise ValueError(f"chunk of unknown kind {kind}")


class _Rejoined:
    """A stream whose beginning was read already."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        self._start, self._rest = start, rest

    def read(self, count: int) -> bytes:
        """Return so many bytes, fewer at the end."""
        taken, self._start = self._start[:count], self._start[count:]
        return taken + self._rest.read(count - len(taken)) if len(taken) < count else taken


def _hadoop_blocks(raw: BinaryIO | _Rejoined) -> Iterator[bytes]:
    """Read Hadoop's blocks: length of the content, then pieces of (length, snappy), all big-endian."""
    while header := _whole(raw, 4, may_end=True):
        left = int.from_bytes(header, "big")
        while left > 0:
            piece = _block(_whole(raw, int.from_bytes(_whole(raw, 4), "big")))
            if not piece:
                raise ValueError("an empty piece")
            left -= len(piece)
            yield piece


def _block(data: bytes) -> bytes:
    if data == b"\0":
        return b""
    result: bytes = pa.decompress(data, decompressed_size=_announced(data), codec="snappy", asbytes=True)
    return result


def _announced(data: bytes) -> int:
    """Return the length of the content, with which every block begins (seven bits per byte, low first)."""
    value = 0
    for shift, byte in enumerate(data[:5]):
        value |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:
            return value
    raise ValueError("no length at the start of a block")


def _whole(raw: BinaryIO | _Rejoined, count: int, *, may_end: bool = False) -> bytes:
    data = raw.read(count)
    if len(data) < count and not (may_end and not data):
        raise EOFError("it ends too early")
    return data


def _short(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")

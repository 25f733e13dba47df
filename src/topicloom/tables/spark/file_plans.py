"""The first and the last bytes of a text file, wherever it lies: what `tables/file_plans.py` looks at."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from topicloom.base.addresses import is_address
from topicloom.errors import InputError
from topicloom.tables.decompress import BadCompression, decompressed
from topicloom.tables.file_plans import FIRST_LOOK, Beginnings, beginnings_here
from topicloom.tables.source import DataFile
from topicloom.tables.spark.connect_files import first_lines, read_ends
from topicloom.tables.spark.failures import spark_errors
from topicloom.tables.spark.links import is_connect
from topicloom.tables.spark.table_files import hadoop_file

Ends = dict[str, bytes]  # the last byte of files, as they lie there, by address
MOST_AT_ONCE = (1 << 31) - 1  # bytes of a file behind an address that Spark can hand to a worker
HELD_BYTES = 128 << 20  # of a compressed one up to which it does: Java and Python both hold them

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def beginnings_of(spark: SparkSession, ends: Ends) -> Beginnings:
    """Return a function that yields the beginnings of a file, also of one behind an address.

    `ends` gets the last byte of those that are so small that the beginning is all.
    """

    def beginnings(file: DataFile) -> Iterator[tuple[bytes, bool]]:
        return _remote_beginnings(spark, file, ends) if is_address(file.path) else beginnings_here(file)

    return beginnings


def cut_by_spark(spark: SparkSession, file: DataFile, ends: Ends | None = None) -> bool:
    """Return whether Spark cuts a file into lines; otherwise a worker gets it whole.

    Spark does not tell whether the last line had an end. So a plain file whose last byte is a `\\r` is read
    whole, and a compressed one, whose last byte nobody knows. Only what is too large to be held by a worker
    Spark's own codecs read: there a `\\r` at the very end is taken for a part of the line end. That goes for
    plain files of such a size too, through Connect.
    """
    if file.compression is None:
        known = None if ends is None else ends.get(file.path)
        return not ends_in_carriage_return(spark, file) if known is None else known != b"\r"
    if not is_address(file.path) or size_of(spark, file) <= HELD_BYTES:
        return False
    # Of snappy Spark knows Hadoop's wrapping only, which begins with the high byte of a length.
    return file.compression != "snappy" or _remote_bytes(spark, file.path, 1) == b"\0"


def size_of(spark: SparkSession, file: DataFile) -> int:
    """Return how many bytes a file behind an address has."""
    if file.size is not None:
        return file.size
    with spark_errors(file.path):
        system, place = hadoop_file(spark, file.path)
        return int(system.getFileStatus(place).getLen())


def check_whole(spark: SparkSession, file: DataFile) -> None:
    """Refuse a file behind an address that Spark cannot hand to a worker at once."""
    if is_address(file.path) and size_of(spark, file) > MOST_AT_ONCE:
        raise InputError(
            f"{file.shown} must be read whole and has more than 2 GiB, the most that Spark hands over at "
            "once: cut it into several files, or copy it to this machine"
        )


def ends_in_carriage_return(spark: SparkSession, file: DataFile) -> bool:
    """Return whether a plain file ends in `\\r`: it belongs to a field, and Spark would drop it."""
    if is_address(file.path):
        return _remote_bytes(spark, file.path, 1, from_end=True) == b"\r"
    try:
        with Path(file.path).open("rb") as raw:
            raw.seek(max(raw.seek(0, io.SEEK_END) - 1, 0))
            return raw.read(1) == b"\r"
    except OSError as error:
        raise InputError(f"cannot read {file.shown}: {error}") from None


def _remote_beginnings(spark: SparkSession, file: DataFile, ends: Ends) -> Iterator[tuple[bytes, bool]]:
    size, last, connect = FIRST_LOOK, -1, is_connect(spark)
    if connect and size_of(spark, file) > HELD_BYTES and file.compression != "snappy":
        ends[file.path] = b""  # nobody sees it but who reads the whole file
        yield from first_lines(spark, file.path)
        return
    try:
        while True:
            raw, end = (read_ends if connect else _remote_ends)(spark, file.path, size)
            complete = len(raw) < size or len(raw) == last
            if complete or connect:
                ends[file.path] = end
            content = b"".join(_as_far_as_possible(io.BytesIO(raw), file.compression, complete))
            yield content, complete
            if complete:
                return
            size, last = size * 8, len(raw)
    except (BadCompression, OSError) as error:
        raise InputError(f"cannot read {file.shown}: {error}") from None


def _as_far_as_possible(raw: BinaryIO, compression: str | None, complete: bool) -> Iterator[bytes]:
    try:
        yield from decompressed(raw, compression)
    except BadCompression:
        if complete:
            raise


def _remote_ends(spark: SparkSession, path: str, size: int) -> tuple[bytes, bytes]:
    """Return the first bytes of a file, and the last one of those."""
    raw = _remote_bytes(spark, path, size)
    return raw, raw[-1:]


def _remote_bytes(spark: SparkSession, path: str, size: int, *, from_end: bool = False) -> bytes:
    if is_connect(spark):
        return read_ends(spark, path, size)[from_end]
    with spark_errors(path):
        system, place = hadoop_file(spark, path)
        stream = system.open(place)
        try:
            if from_end:
                stream.seek(max(system.getFileStatus(place).getLen() - size, 0))
            return bytes(stream.readNBytes(size))
        finally:
            stream.close()

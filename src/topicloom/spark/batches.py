"""What Spark's Python workers do with text: Arrow batches of lines in, Arrow batches of rows out.

A line without anything special about it is split by Arrow's compiled functions, all others one by one by the
rules in `lines.py`, which alone decide what a row means and why one is refused.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from itertools import islice, pairwise
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InputError
from topicloom.model.interest import ROLES
from topicloom.spark.compress import BadCompression, decompressed
from topicloom.spark.heads import FilePlan
from topicloom.spark.lines import (
    BOM,
    NUMBER,
    BadRow,
    Keys,
    Layout,
    Row,
    cut_records,
    printable,
    read_json,
    read_line,
    unended,
    without_line_end,
)

PARSED = pa.schema(
    [
        ("first", pa.string()),
        ("second", pa.string()),
        ("role", pa.string()),
        ("rate", pa.float64()),
        ("file", pa.string()),
        ("row", pa.string()),
        ("reason", pa.string()),
    ]
)
"""A row that can be used has no reason; one that cannot has file, row and reason and nothing else."""

PARSED_DDL = "first string, second string, role string, rate double, file string, row string, reason string"

_RECORDS_PER_BATCH = 20_000

Plans = Mapping[str, FilePlan]


def file_key(path: str) -> str:
    """One spelling per file: `file:/a`, `file:///a` and `/a` are the same."""
    return "/" + path.removeprefix("file:").lstrip("/") if path.startswith("file:") else path


def parse_lines(plans: Plans, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of batches of (line, address of the file, start of the block)."""
    for key, lines in cut_blocks(batches, lambda key: plans[key].header):
        yield from parse_some(lines, plans[key])


def cut_blocks(
    batches: Iterator[pa.RecordBatch], has_header: Callable[[str], bool]
) -> Iterator[tuple[str, pa.BinaryArray]]:
    """The key of a file and some lines of it without its header, from batches as `parse_lines` takes them.

    They come in file order within a block. Spark cuts large files into blocks and packs small ones together,
    so a header is known by being the first line of a block that starts at 0. Spark's reader has dropped the
    byte order mark already.
    """
    block: tuple[str, int] | None = None
    for batch in batches:
        lines, files, starts = batch.columns
        for begin, end in _runs(files, starts):
            this = (files[begin].as_py(), starts[begin].as_py())
            key = file_key(unquote(this[0]))
            skip = int(has_header(key) and this[1] == 0 and this != block)
            block = this
            yield key, lines.slice(begin + skip, end - begin - skip)


def parse_files(plans: Plans, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches of (content, file): whole files, which we decompress and cut into lines ourselves."""
    for batch in batches:
        for content, file in zip(batch.column(0), batch.column(1), strict=True):
            plan = plans[file_key(unquote(file.as_py()))]
            try:
                yield from _parse_file(content.as_buffer(), plan)
            except BadCompression as error:
                raise InputError(f"cannot read {plan.shown}: {error}") from None


def _parse_file(content: pa.Buffer, plan: FilePlan) -> Iterator[pa.RecordBatch]:
    chunks = decompressed(io.BytesIO(content), plan.compression)
    if plan.multiline and isinstance(plan.layout, Layout):
        whole = unended(b"".join(chunks).removeprefix(BOM))
        records = cut_records(whole, plan.layout.separator)
    else:
        records = cut_lines(chunks)
    if plan.header:
        next(records, None)
    while some := list(islice(records, _RECORDS_PER_BATCH)):
        yield from parse_some(pa.array(some, pa.binary()), plan)


def cut_lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    rest = next(chunks, b"").removeprefix(BOM)
    for chunk in chunks:
        # A chunk without a newline is only joined on, so very long lines stay linear enough in practice.
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
    *whole, rest = rest.split(b"\n")
    yield from whole
    if rest:
        yield unended(rest)


def _runs(files: pa.Array, starts: pa.Array) -> list[tuple[int, int]]:
    """Stretches of a batch that come from one block of one file."""
    count = len(files)
    if count == 0:
        return []
    if files[0] == files[count - 1] and starts[0] == starts[count - 1]:
        return [(0, count)]
    codes = pc.dictionary_encode(files).indices.to_numpy()
    places = starts.to_numpy()
    changes = np.flatnonzero((np.diff(codes) != 0) | (np.diff(places) != 0)) + 1
    bounds = [0, *changes.tolist(), count]
    return list(pairwise(bounds))


def parse_some(lines: pa.BinaryArray, plan: FilePlan) -> Iterator[pa.RecordBatch]:
    """The rows of some lines of one file (line ends of `\\r` still on)."""
    if len(lines) == 0:
        return
    layout = plan.layout
    if isinstance(layout, Layout):
        lines = _without_line_ends(lines)
        easy, rows = _split_easy(lines, layout)
        if rows is not None:
            yield rows
        lines = lines.filter(pc.invert(easy))
    if len(lines):
        yield _one_by_one(lines, plan)


def _without_line_ends(lines: pa.BinaryArray) -> pa.BinaryArray:
    ends = pc.ends_with(lines, pattern=b"\r")
    if not pc.any(ends).as_py():
        return lines
    return pc.if_else(ends, pc.binary_slice(lines, 0, -1), lines)


def _split_easy(lines: pa.BinaryArray, layout: Layout) -> tuple[pa.BooleanArray, pa.RecordBatch | None]:
    """Which lines Arrow could split, and their rows."""
    nothing = pa.array(np.zeros(len(lines), dtype=bool))
    easy = pc.equal(pc.count_substring(lines, pattern=layout.separator), layout.n_fields - 1)
    if layout.quote:
        easy = pc.and_(easy, pc.invert(pc.match_substring(lines, pattern=b'"')))
    try:
        text = lines.filter(easy).cast(pa.string())
        fields = pc.split_pattern(text, pattern=layout.separator.decode())
        first, second = pc.list_element(fields, layout.first), pc.list_element(fields, layout.second)
        role, rate, good = _extras(fields, layout)
    except pa.ArrowInvalid:
        # Somewhere in these lines is invalid UTF-8 or an odd number: each is judged alone.
        return nothing, None
    good = pc.and_(good, pc.and_(pc.not_equal(first, ""), pc.not_equal(second, "")))
    if not pc.all(good).as_py():
        first, second, role, rate = (column.filter(good) for column in (first, second, role, rate))
        mask = np.zeros(len(lines), dtype=bool)
        mask[np.flatnonzero(easy.to_numpy(zero_copy_only=False))] = good.to_numpy(zero_copy_only=False)
        easy = pa.array(mask)
    empty = pa.nulls(len(first), pa.string())
    return easy, pa.RecordBatch.from_arrays([first, second, role, rate, empty, empty, empty], schema=PARSED)


def _extras(fields: pa.ListArray, layout: Layout) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Role and rate of each line, and whether both are as they should be."""
    role: pa.Array = pa.nulls(len(fields), pa.string())
    rate: pa.Array = pa.nulls(len(fields), pa.float64())
    good: pa.Array = pa.array(np.ones(len(fields), dtype=bool))
    if layout.role is not None:
        role = pc.list_element(fields, layout.role)
        good = pc.is_in(role, value_set=pa.array(ROLES))
    if layout.rate is not None:
        words = pc.list_element(fields, layout.rate)
        numbers = pc.match_substring_regex(words, pattern=NUMBER)
        rate = pc.if_else(numbers, words, pa.scalar("-1")).cast(pa.float64())
        enough = (pc.greater if layout.number == "cost" else pc.greater_equal)(rate, 0.0)
        good = pc.and_(good, pc.and_(pc.is_finite(rate), enough))
    return role, rate, good


def _one_by_one(lines: pa.BinaryArray, plan: FilePlan) -> pa.RecordBatch:
    columns: list[list[Any]] = [[] for _ in PARSED]
    for line in lines.to_pylist():
        for column, value in zip(columns, _parsed(line, plan), strict=True):
            column.append(value)
    arrays = [pa.array(column, kind.type) for column, kind in zip(columns, PARSED, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=PARSED)


def _parsed(line: bytes, plan: FilePlan) -> tuple[Any, ...]:
    line = without_line_end(line) if isinstance(plan.layout, Keys) else line
    try:
        row = _read(line, plan.layout)
    except BadRow as reason:
        return (None, None, None, None, plan.shown, printable(line), str(reason))
    return (row.first, row.second, row.role, row.rate, None, None, None)


def _read(line: bytes, layout: Layout | Keys) -> Row:
    return read_json(line, layout) if isinstance(layout, Keys) else read_line(line, layout)

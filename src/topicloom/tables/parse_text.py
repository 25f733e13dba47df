"""What Spark's Python workers do with text: blocks of lines or whole files in, Arrow batches of records out.

A line without anything special about it is split by Arrow's compiled functions, all others one by one by the
rules in `records.py`, which alone decide what a row means and why one is refused.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, BinaryIO
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InputError
from topicloom.tables.decompress import BadCompression, decompressed
from topicloom.tables.encodings import UTF8, lines_to_utf8
from topicloom.tables.lines import BOM, BadRow, cut_records, printable, unended
from topicloom.tables.records import (
    ISO,
    NUMBER,
    ROLES,
    Field,
    FilePlan,
    Layout,
    in_range,
    read_record,
    readable_names,
)

Plans = Mapping[str, FilePlan]  # by `file_key` of the file's address
# The columns that only a refused row has; of its fields it has at most the first two, where they are names.
REJECTED = ("_file", "_row", "_reason")
_LINES_AT_ONCE = 50_000


def file_key(path: str) -> str:
    """Return one spelling per file: `file:/a`, `file:///a` and `/a` are the same."""
    return "/" + path.removeprefix("file:").lstrip("/") if path.startswith("file:") else path


def parse_blocks(plans: Plans, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the records of batches of (line, address of the file, start of the block).

    Lines come in file order within a block. Spark cuts large files into blocks and packs small ones together,
    so a header is known by being the first line of a block that starts at 0. Spark's reader has dropped the
    byte order mark already.
    """
    block: tuple[str, int] | None = None
    for batch in batches:
        lines, files, starts = batch.columns
        for begin, end in _runs(files, starts):
            this = (files[begin].as_py(), starts[begin].as_py())
            plan = plans.get(file_key(unquote(this[0])))
            if plan is None:
                raise InputError(
                    f"{unquote(this[0])} came into its folder while that was read: read it again"
                )
            skip = int(plan.header and this[1] == 0 and this != block)
            block = this
            yield from parse_lines(lines.slice(begin + skip, end - begin - skip), plan)


def _runs(files: pa.Array, starts: pa.Array) -> list[tuple[int, int]]:
    """Return stretches of a batch that come from one block of one file."""
    count = len(files)
    if count == 0:
        return []
    if files[0] == files[count - 1] and starts[0] == starts[count - 1]:
        return [(0, count)]
    codes = pc.dictionary_encode(files).indices.to_numpy()
    places = starts.to_numpy()
    changes = np.flatnonzero((np.diff(codes) != 0) | (np.diff(places) != 0)) + 1
    return list(pairwise([0, *changes.tolist(), count]))


def parse_files(plans: Plans, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the records of batches of (address, content); without content the file is opened here."""
    for batch in batches:
        for number, file in enumerate(batch.column(0)):
            path = file_key(unquote(file.as_py()))
            plan = plans[path]
            try:
                with _opened(batch, number, path) as raw:
                    yield from parse_content(decompressed(raw, plan.compression), plan)
            except FileNotFoundError:
                raise InputError(f"no such file or folder: {plan.shown}") from None
            except (BadCompression, OSError) as error:
                raise InputError(f"cannot read {plan.shown}: {error}") from None


def _opened(batch: pa.RecordBatch, number: int, path: str) -> BinaryIO:
    if batch.num_columns == 2:
        return io.BytesIO(batch.column(1)[number].as_buffer())
    return open(path, "rb")


def parsed_schema(fields: Sequence[Field]) -> pa.Schema:
    """Return the fields, then file, row and reason."""
    wanted = [(field.name, field.type) for field in fields]
    return pa.schema(wanted + [(name, pa.string()) for name in REJECTED])


def parse_content(chunks: Iterable[bytes], plan: FilePlan) -> Iterator[pa.RecordBatch]:
    """Yield the records of a whole file."""
    layout, skip = plan.layout, int(plan.header)
    if plan.multiline and isinstance(layout, Layout):
        arrays = _cut_multiline(chunks, layout.separator.decode().encode(plan.encoding))
    else:
        arrays = cut_lines(chunks)
    for lines in arrays:
        for start in range(skip, len(lines), _LINES_AT_ONCE):
            yield from parse_lines(lines.slice(start, _LINES_AT_ONCE), plan)
        skip = 0


def cut_lines(chunks: Iterable[bytes]) -> Iterator[pa.BinaryArray]:
    """The lines of a file, at least one at a time, without their `\\n`; its byte order mark is dropped."""
    rest, mark = b"", BOM
    for chunk in chunks:
        # A chunk without a newline is only joined on, so very long lines stay linear enough in practice.
        rest += chunk
        end = rest.rfind(b"\n")
        if end >= 0:
            some = pa.array([rest[:end].removeprefix(mark)], pa.binary())
            yield pc.split_pattern(some, pattern=b"\n").flatten()
            rest, mark = rest[end + 1 :], b""
    if rest := rest.removeprefix(mark):
        yield pa.array([unended(rest)], pa.binary())


def _cut_multiline(chunks: Iterable[bytes], separator: bytes) -> Iterator[pa.BinaryArray]:
    records = cut_records(unended(b"".join(chunks).removeprefix(BOM)), separator)
    while some := list(islice(records, _LINES_AT_ONCE)):
        yield pa.array(some, pa.binary())


def parse_lines(lines: pa.BinaryArray, plan: FilePlan) -> Iterator[pa.RecordBatch]:
    """The records of some lines of one file (line ends of `\\r` still on)."""
    ends = pc.ends_with(lines, pattern=b"\r")
    if pc.any(ends).as_py():
        lines = pc.if_else(ends, pc.binary_slice(lines, 0, -1), lines)
    if plan.encoding != UTF8:
        lines, refused = lines_to_utf8(lines, plan.encoding)
        if refused:
            yield _undecodable(refused, plan)
    if isinstance(plan.layout, Layout):
        easy, batch = _split_easy(lines, plan, plan.layout)
        if batch is not None:
            yield batch
            lines = lines.filter(pc.invert(easy))
    if len(lines):
        yield _one_by_one(lines, plan)


def _split_easy(
    lines: pa.BinaryArray, plan: FilePlan, layout: Layout
) -> tuple[pa.BooleanArray, pa.RecordBatch | None]:
    """Return which lines Arrow could read, and their records, None if it could read none."""
    easy = pc.equal(pc.count_substring(lines, pattern=layout.separator), layout.n_fields - 1)
    if layout.quote:
        easy = pc.and_(easy, pc.invert(pc.match_substring(lines, pattern=b'"')))
    try:
        text = lines.filter(easy).cast(pa.string())
    except pa.ArrowInvalid:
        return easy, None  # invalid UTF-8 somewhere in these lines: each is judged alone
    if len(text) == 0:
        return easy, None
    # Every line has the same number of fields, so the values of a column are that far apart.
    words = pc.split_pattern(text, pattern=layout.separator.decode()).flatten()
    starts = np.arange(len(text)) * layout.n_fields
    values, good, fields = [], np.ones(len(text), np.bool_), plan.fields
    for number, (field, place) in enumerate(zip(fields, layout.places, strict=True)):
        word = plan.constant(number)
        if place is None and word is None:
            values.append(pa.nulls(len(text), field.type))
            good &= field.optional or not plan.constants
            continue
        taken = pa.repeat(word, len(text)) if place is None else words.take(pa.array(starts + place))
        value, fine = _judge_field(taken, field)
        values.append(value)
        good &= fine
    if not good.all():
        values = [value.filter(pa.array(good)) for value in values]
        mask = np.zeros(len(lines), np.bool_)
        mask[np.flatnonzero(easy.to_numpy(zero_copy_only=False))] = good
        easy = pa.array(mask)
    empty = pa.nulls(len(values[0]), pa.string())
    return easy, pa.RecordBatch.from_arrays([*values, empty, empty, empty], schema=parsed_schema(fields))


def _judge_field(words: pa.StringArray, field: Field) -> tuple[pa.Array, Any]:
    """Return what `_judge` says; an empty word of an optional field is a missing value."""
    empty = pc.equal(words, "") if field.optional else None
    if empty is None or not pc.any(empty).as_py():
        return _judge(words, field.kind)
    value, fine = _judge(pc.if_else(empty, pa.scalar(None, pa.string()), words), field.kind)
    return value, fine | empty.to_numpy(zero_copy_only=False)


def _judge(words: pa.StringArray, kind: str) -> tuple[pa.Array, Any]:
    """Return the values of some words, and which of them can be used; what cannot is null or anything.

    A word that this finds unusable is looked at again alone (`read_value`), which has the last word.
    """
    if kind == "text":
        return words, pc.fill_null(pc.not_equal(words, ""), False).to_numpy(zero_copy_only=False)
    if kind == "role":
        return words, pc.is_in(words, value_set=pa.array(ROLES)).to_numpy(zero_copy_only=False)
    try:
        numbers = words.cast(pa.float64())
    except pa.ArrowInvalid:
        if kind == "time" and (moments := _moments(words)) is not None:
            return moments, np.ones(len(words), np.bool_)
        numbers = pc.if_else(pc.match_substring_regex(words, pattern=NUMBER), words, pa.scalar("nan"))
        numbers = numbers.cast(pa.float64())
    found = numbers.to_numpy(zero_copy_only=False)  # a missing value is NaN, which never is good
    # Of infinite bounds only those are good that are spelled out.
    return numbers, np.isfinite(found) if kind == "bound" else in_range(found, kind)


def _moments(words: pa.StringArray) -> pa.Array | None:
    """Return ISO 8601 dates and times as seconds, if all of them are such and have a zone all or none."""
    if not pc.all(pc.match_substring_regex(words, pattern=ISO)).as_py():
        return None
    for zone in (None, "UTC"):
        try:
            micros = words.cast(pa.timestamp("us", zone)).cast(pa.int64())
        except pa.ArrowInvalid:
            continue
        return pa.array(micros.to_numpy(zero_copy_only=False) / 1e6, from_pandas=True)
    return None


def _one_by_one(lines: pa.BinaryArray, plan: FilePlan) -> pa.RecordBatch:
    schema = parsed_schema(plan.fields)
    columns: list[list[Any]] = [[] for _ in schema]
    for line in lines.to_pylist():
        try:
            record = [*read_record(line, plan), None, None, None]
        except BadRow as reason:
            record = [*readable_names(line, plan), plan.shown, printable(line), str(reason)]
        for column, value in zip(columns, record, strict=True):
            column.append(value)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _undecodable(refused: Sequence[tuple[bytes, str]], plan: FilePlan) -> pa.RecordBatch:
    """Return rejects: lines with a byte that has no meaning in their encoding, of which nothing is read."""
    schema = parsed_schema(plan.fields)
    count = len(refused)
    told = [
        [plan.shown] * count,
        [printable(line, plan.encoding) for line, _ in refused],
        [why for _, why in refused],
    ]
    arrays = [pa.nulls(count, field.type) for field in plan.fields] + [
        pa.array(one, pa.string()) for one in told
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)

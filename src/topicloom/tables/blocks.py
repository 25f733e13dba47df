"""What Spark's Python workers are handed: blocks of lines, and whole files. Nothing here needs Spark."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import BinaryIO
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InputError
from topicloom.tables.batches import parse_content, parse_lines
from topicloom.tables.compress import BadCompression, decompressed
from topicloom.tables.records import FilePlan

Plans = Mapping[str, FilePlan]
"""By `file_key` of the file's address."""


def file_key(path: str) -> str:
    """One spelling per file: `file:/a`, `file:///a` and `/a` are the same."""
    return "/" + path.removeprefix("file:").lstrip("/") if path.startswith("file:") else path


def parse_blocks(plans: Plans, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The records of batches of (line, address of the file, start of the block).

    Lines come in file order within a block. Spark cuts large files into blocks and packs small ones together,
    so a header is known by being the first line of a block that starts at 0. Spark's reader has dropped the
    byte order mark already.
    """
    block: tuple[str, int] | None = None
    for batch in batches:
        lines, files, starts = batch.columns
        for begin, end in _runs(files, starts):
            this = (files[begin].as_py(), starts[begin].as_py())
            plan = plans[file_key(unquote(this[0]))]
            skip = int(plan.header and this[1] == 0 and this != block)
            block = this
            yield from parse_lines(lines.slice(begin + skip, end - begin - skip), plan)


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
    return list(pairwise([0, *changes.tolist(), count]))


def parse_files(plans: Plans, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The records of batches of (address of the file, content); without content the file is opened here."""
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

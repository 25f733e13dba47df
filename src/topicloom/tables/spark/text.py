"""Text tables into Spark: lines as bytes, split by our own rules, in one pass.

Spark's own CSV reader silently changes invalid UTF-8, lone `\\r` and quoted newlines; so lines are read as
bytes and `batches.py` makes records of them in Spark's Python workers.

Spark cuts plain files into lines, blocks of one file side by side, and does not tell whether the last line
had an end. So whatever must not be cut blindly is read whole, by one worker each: compressed files, quoted
newlines, and a plain file whose last byte is a `\\r`. Workers open a file of the machine's own themselves, as
Spark would; one behind an address Spark hands to them.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import InputError
from topicloom.tables.batches import REJECTED, parse_content, parse_lines
from topicloom.tables.compress import BadCompression, decompressed
from topicloom.tables.records import Field, FilePlan, Keys
from topicloom.tables.source import Resolved, TableSource, is_address
from topicloom.tables.spark.heads import Notice, ends_in_carriage_return, plan_file
from topicloom.tables.spark.raw import NO_PATTERNS, REJECT_COLUMNS, RawTable, quoted_name, spark_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Plans = Mapping[str, FilePlan]


def read_text(spark: SparkSession, source: TableSource, resolved: Resolved) -> RawTable:
    from pyspark import StorageLevel
    from pyspark.sql import functions as sf

    plans: dict[str, FilePlan] = {}
    notices: list[Notice] = []
    by_lines: list[str] = []
    whole: dict[bool, list[str]] = {False: [], True: []}  # is it behind an address?
    for file in resolved.files:
        planned = plan_file(spark, file, source, resolved.format)
        if planned is None:
            continue
        plan, notice = planned
        path = spark_path(spark, file)
        plans[_file_key(path)] = plan
        notices += [notice] if notice else []
        if file.compression is None and not plan.multiline and not ends_in_carriage_return(spark, file):
            by_lines.append(path)
        else:
            whole[is_address(file.path)].append(path)
    if not plans:
        raise InputError(f"{source.path} holds no {_one_row(source)}: it is empty")
    ddl = _ddl(source.fields)
    parts = [_lines_of(spark, by_lines, plans, ddl)] if by_lines else []
    parts += [_files_of(spark, paths, plans, ddl, remote) for remote, paths in whole.items() if paths]
    parsed = reduce(lambda one, other: one.unionAll(other), parts).persist(StorageLevel.DISK_ONLY)
    good, bad = parsed.where("_reason is null"), parsed.where("_reason is not null")
    wanted = [field for field in source.fields if not field.optional or _has_optional(plans)]
    rows = good.select(*[quoted_name(field.name) for field in wanted])
    rejects = bad.select(*[sf.col(name).alias(name[1:]) for name in REJECTED]).select(*REJECT_COLUMNS)
    return RawTable(source, rows, rejects, _joined(notices), parsed)


def _ddl(fields: Sequence[Field]) -> str:
    kinds = [f"{quoted_name(field.name)} {'double' if field.is_number else 'string'}" for field in fields]
    return ", ".join([*kinds, *(f"{name} string" for name in REJECTED)])


def _has_optional(plans: Plans) -> bool:
    """May an optional field occur in some file? A JSON line may hold one anywhere."""
    return any(
        field.optional and place is not None
        for plan in plans.values()
        for field, place in zip(
            plan.fields,
            plan.layout.names if isinstance(plan.layout, Keys) else plan.layout.places,
            strict=True,
        )
    )


def _lines_of(spark: SparkSession, paths: list[str], plans: Plans, ddl: str) -> DataFrame:
    from pyspark.sql import functions as sf

    lines = spark.read.option(*NO_PATTERNS).text(paths, lineSep="\n")
    block = (sf.col("_metadata.file_path"), sf.col("_metadata.file_block_start"))
    return lines.select(sf.col("value").cast("binary"), *block).mapInArrow(partial(_parse_blocks, plans), ddl)


def _files_of(spark: SparkSession, paths: list[str], plans: Plans, ddl: str, remote: bool) -> DataFrame:
    from pyspark.sql import functions as sf

    files = spark.read.format("binaryFile").option(*NO_PATTERNS).load(paths)
    content = [sf.col("content")] if remote else []
    return files.select(sf.col("_metadata.file_path"), *content).mapInArrow(partial(_parse_files, plans), ddl)


# --- what workers do -----------------------------------------------------------------------------------


def _file_key(path: str) -> str:
    """One spelling per file: `file:/a`, `file:///a` and `/a` are the same."""
    return "/" + path.removeprefix("file:").lstrip("/") if path.startswith("file:") else path


def _parse_blocks(plans: Plans, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
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
            plan = plans[_file_key(unquote(this[0]))]
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
    bounds = [0, *changes.tolist(), count]
    return list(pairwise(bounds))


def _parse_files(plans: Plans, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The records of batches of (address of the file) and maybe (content)."""
    for batch in batches:
        for number, file in enumerate(batch.column(0)):
            key = _file_key(unquote(file.as_py()))
            plan = plans[key]
            try:
                with _opened(batch, number, key) as raw:
                    yield from parse_content(decompressed(raw, plan.compression), plan)
            except FileNotFoundError:
                raise InputError(f"no such file or folder: {plan.shown}") from None
            except (BadCompression, OSError) as error:
                raise InputError(f"cannot read {plan.shown}: {error}") from None


def _opened(batch: pa.RecordBatch, number: int, path: str) -> BinaryIO:
    if batch.num_columns == 2:
        return io.BytesIO(batch.column(1)[number].as_buffer())
    return open(path, "rb")


# --- what is told --------------------------------------------------------------------------------------


def _joined(notices: Sequence[Notice]) -> str | None:
    """One line per header row: first rows that are data differ from file to file, and none may be missed."""
    files = Counter(notice.header for notice in notices)
    first = {notice.header: notice.sentence for notice in reversed(notices)}
    lines = [first[header] + _more(count - 1) for header, count in files.items()]
    return "\n".join(lines) if lines else None


def _more(others: int) -> str:
    return f"; the same goes for {others} more file{'s' if others > 1 else ''}" if others else ""


def _one_row(source: TableSource) -> str:
    return {"interest": "subscription", "edges": "edge"}.get(source.what, "row")

"""The one call that takes a table of pairs in: files to rows and rejects, and on to numbers.

How text and Parquet are read stands in `text_input.py` and `parquet_input.py`, the numbering in `encode.py`.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from topicloom.model.progress import SILENT, Progress, check_stop
from topicloom.spark.encode import EncodedInterest, encode_interest
from topicloom.spark.parquet_input import read_parquet
from topicloom.spark.raw import RawTable, require_no_rejects, write_rejects
from topicloom.spark.session import session_folder
from topicloom.spark.source import TableSource, resolve
from topicloom.spark.text_input import read_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["InterestRead", "RawTable", "read_interest", "read_table", "require_no_rejects", "write_rejects"]

_count = itertools.count(1)


def read_table(spark: SparkSession, source: TableSource, *, progress: Progress = SILENT) -> RawTable:
    """The table that `source` describes; raises InputError for whatever makes all of it unusable."""
    check_stop(progress)
    resolved = resolve(spark, source)
    if resolved.format == "parquet":
        return read_parquet(spark, source, resolved)
    return read_text(spark, source, resolved)


class InterestRead(NamedTuple):
    """An interest that was read: the numbered table, the raw one (for its rejects), the notice to show."""

    encoded: EncodedInterest
    raw: RawTable
    notice: str | None


def read_interest(
    spark: SparkSession,
    source: TableSource,
    *,
    subscribers_only: bool = False,
    strict: bool = False,
    work_dir: str | Path | None = None,
    progress: Progress = SILENT,
) -> InterestRead:
    """Read and number the interest that `source` describes.

    With `strict` any refused row is an InputError. The raw table still knows its rejects: `write_rejects`
    saves them, `release` lets go of them. The encoded tables lie in `work_dir`, by default in the session's
    own folder, which ends with the session.
    """
    raw = read_table(spark, source, progress=progress)
    place = work_dir if work_dir is not None else session_folder(spark) / f"interest-{next(_count)}"
    encoded = encode_interest(
        spark, raw, work_dir=place, subscribers_only=subscribers_only, strict=strict, progress=progress
    )
    if encoded.rejected == 0:
        raw.release()
    return InterestRead(encoded, raw, raw.notice)

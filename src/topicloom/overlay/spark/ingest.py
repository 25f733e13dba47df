"""The one call that takes an interest in: files to rows and rejects, and on to numbers."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.spark.encode import EncodedInterest, encode_interest
from topicloom.tables.source import TableSource
from topicloom.tables.spark.raw_table import RawTable
from topicloom.tables.spark.read import read_table
from topicloom.tables.spark.session import session_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_count = itertools.count(1)


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

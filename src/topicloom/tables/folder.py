"""What all folders of results have in common: a summary, tables, charts, what they may replace."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.base.addresses import refuse_address
from topicloom.base.atomic_write import check_writable
from topicloom.base.summaries import Head, to_json
from topicloom.errors import InputError

SUMMARY, REJECTS = "summary.json", "rejects.parquet"
CHARTS = (  # as commands call them
    "degrees.png", "hops.png", "splits.png", "frontier.png", "course.png", "rounds.png",
)  # fmt: skip


def write_table(table: pa.Table, path: Path) -> None:
    """Write one compressed Parquet file, readable by Spark and everything else."""
    pq.write_table(table, path, compression="zstd")


def write_json(content: Any, path: Path) -> None:
    """Write one JSON object, a summary or plain values, indented for people."""
    path.write_bytes(msgspec.json.format(to_json(content), indent=2) + b"\n")


def read_head(path: Path) -> Head | None:
    """Return what a JSON file says it is; None where it is not there or says nothing of the sort."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Head)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def holds_only(folder: Path, kind: str, *names: str) -> bool:
    """Return whether a folder has a summary of this kind and, besides it and charts, no files but `names`."""
    head = read_head(folder / SUMMARY)
    there = {path.name for path in folder.iterdir() if path.name not in CHARTS} if head else set()
    return head is not None and head.kind == kind and there <= {SUMMARY, *names}


def check_own_folder(out: Path, shown: str, what: str, is_own: Callable[[Path], bool]) -> None:
    """Refuse a folder that holds anything `is_own` does not know; `shown` is how the user wrote it.

    `what` says which earlier result may be replaced.
    """
    refuse_address(out, shown)
    try:
        if out.absolute() == Path.cwd():
            raise InputError(f"{shown} is the current folder; name another one")
        check_writable(out, shown)
        if not os.path.lexists(out):
            return
        if not out.is_dir():
            raise InputError(f"{shown} is a file; name a folder that does not exist yet")
        if any(out.iterdir()) and not is_own(out):
            raise InputError(f"{shown} holds something else than {what}; name another folder")
    except OSError as error:
        raise InputError(f"cannot use {shown}: {error.strerror}") from None

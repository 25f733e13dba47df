"""What all folders of results have in common: a summary that says what they are, tables, charts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.base.summaries import Head, to_json

SUMMARY, REJECTS = "summary.json", "rejects.parquet"
CHARTS = (".png", ".svg", ".html")


def write_table(table: pa.Table, path: Path) -> None:
    """One Parquet file, compressed, readable by Spark and everything else."""
    pq.write_table(table, path, compression="zstd")


def write_json(content: Any, path: Path) -> None:
    """One JSON object, a summary or plain values, indented for people."""
    path.write_bytes(msgspec.json.format(to_json(content), indent=2) + b"\n")


def read_head(path: Path) -> Head | None:
    """What a JSON file says it is; None where it is not there or says nothing of the sort."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Head)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None

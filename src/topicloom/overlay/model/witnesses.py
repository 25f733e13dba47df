"""Every partitioned topic in one file: JSON lines, one JSON array, or Parquet, by extension."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.base.atomic import replacing
from topicloom.errors import UsageError

EXTENSIONS = (".jsonl", ".json", ".parquet")
_BATCH = 1024


def check_witness_file(path: str | Path) -> None:
    """Refuse what `write_witnesses` cannot write or must not replace, before any work is done."""
    suffix = Path(path).suffix.lower()
    if suffix not in EXTENSIONS:
        raise UsageError(f"`all={str(path)!r}` has extension {suffix!r}; use {', '.join(EXTENSIONS)}")
    if Path(path).is_dir():
        raise UsageError(f"`all={str(path)!r}` is a folder; name a file")


def write_witnesses(witnesses: pa.Table, path: Path) -> None:
    """Write the columns topic, component_sizes, nodes; whole or not at all."""
    check_witness_file(path)
    with replacing(path) as temporary:
        if path.suffix.lower() == ".parquet":
            pq.write_table(witnesses, temporary)
        else:
            _write_json(witnesses, temporary, lines=path.suffix.lower() == ".jsonl")


def _write_json(witnesses: pa.Table, path: Path, *, lines: bool) -> None:
    separator = "" if lines else ","
    with path.open("w", encoding="utf-8", newline="\n") as sink:
        sink.write("" if lines else "[\n")
        left = len(witnesses)
        for batch in witnesses.to_batches(max_chunksize=_BATCH):
            for row in batch.to_pylist():
                left -= 1
                text = json.dumps(row, ensure_ascii=False)
                sink.write(text + (separator if left else "") + "\n")
        sink.write("" if lines else "]\n")

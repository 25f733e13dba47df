"""A workload as one CSV or TSV file, slice by slice, so that it needs neither Spark nor much memory."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
from pyarrow import csv

from topicloom.base.atomic_write import replacing
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.overlay.workloads.generate import Drawer, Workload

SEPARATORS = {".csv": ",", ".tsv": "\t"}


def write_text(workload: Workload, out: Path, *, progress: Progress = SILENT) -> None:
    """Write the rows with the header `node`, `topic`; the extension says which separator."""
    separator = SEPARATORS[out.suffix.lower()]
    drawer = Drawer.of(workload)
    progress.phase("generate", workload.nodes)
    with replacing(out) as temporary, temporary.open("wb") as sink:
        sink.write(f"node{separator}topic\n".encode())
        for start in range(0, workload.nodes, workload.slice_nodes):
            check_stop(progress)
            stop = min(start + workload.slice_nodes, workload.nodes)
            _append(drawer.table(start, stop), sink, separator)
            progress.advance(stop - start)


def _append(table: pa.Table, sink: BinaryIO, separator: str) -> None:
    # Generated identifiers are letters and digits: nothing ever needs a quote.
    options = csv.WriteOptions(include_header=False, delimiter=separator, quoting_style="none")
    csv.write_csv(table, sink, options)

"""A build on disk: a folder with edges.parquet, interest.parquet, summary.json and maybe rejects.parquet.

The layout is a promise to users (see docs/files.md); only this file writes or reads it.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from topicloom.base.summaries import FORMAT
from topicloom.errors import InputError
from topicloom.overlay.model.build import Build, BuildHead, BuildSummary
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.python_tables import identifiers, refuse
from topicloom.tables.folder import CHARTS, REJECTS, SUMMARY, check_own_folder, read_head
from topicloom.tables.records import ROLES
from topicloom.tables.table_manifest import TABLES, files_here, named_table, table_here

EDGES, INTEREST = "edges.parquet", "interest.parquet"
# What the folder of a simulation holds (see spidercast/simulator/folder.py).
SIMULATION = frozenset(
    {SUMMARY, "snapshots.parquet", "degrees.parquet", "partitioned.parquet", "links.parquet", "last"}
)
# Inside the folder of a result that is not whole yet: what its run has done so far (see run_folder.py).
PHASES = ".phases"
RECORD = "record.json"  # what makes the folder of a phase whole
S = TypeVar("S", BuildHead, BuildSummary)


def is_build(path: Path) -> bool:
    """Does `path` look like a build folder?"""
    return (path / SUMMARY).is_file() and table_here(path, EDGES).exists()


def whole_phases(root: Path) -> list[str]:
    """Return the whole phases of an unfinished run in `root`, in the order they were finished."""
    found = [path for path in root.glob(f"*/{RECORD}") if not path.parent.name.startswith(".")]
    return [path.parent.name for path in sorted(found, key=lambda path: path.stat().st_mtime_ns)]


def check_replaceable(out: Path, *, resume: bool = False, simulation: bool = False) -> None:
    """Refuse to overwrite anything but an earlier result or an empty folder; a simulation only its like.

    An unfinished run is refused too, for hours of work may lie there, unless it is to be resumed.
    """
    if not resume and whole_phases(out / PHASES):
        raise InputError(
            f"`out={out}` holds an unfinished run: `topicloom build` with `resume` goes on with it; remove "
            f"{out / PHASES} to begin anew"
        )

    def replaceable(folder: Path) -> bool:
        return _is_ours(folder) and (folder / "snapshots.parquet").exists() == simulation

    check_own_folder(out, f"`out={out}`", "an earlier result", replaceable)


def _is_ours(folder: Path) -> bool:
    """Was everything in this folder written by an earlier run? A build, a comparison or a simulation."""
    inside = list(folder.iterdir()) if folder.is_dir() else []
    names = {path.name for path in inside}
    if names == {PHASES}:
        return True
    head = read_head(folder / SUMMARY)
    if head is None or head.format != FORMAT:
        return False
    if head.kind == "build":
        named = TABLES in names and named_table((folder / SUMMARY).read_bytes(), EDGES) is not None
        return names <= {EDGES, INTEREST, SUMMARY, REJECTS, PHASES, *([TABLES] if named else [])}
    if head.kind == "simulation":
        return {path.name for path in inside if path.name not in CHARTS} <= SIMULATION
    return head.kind == "comparison" and all(
        path.name in (SUMMARY, PHASES, *CHARTS) or _is_ours(path) for path in inside
    )


def read_summary(folder: Path, kind: type[S] = BuildHead) -> S:  # type: ignore[assignment]
    """Return what the summary of a build folder says: what it takes to load it, or all of it."""
    try:
        content = (folder / SUMMARY).read_bytes()
    except OSError as error:
        raise InputError(f"{folder} is not a build: cannot read {SUMMARY} ({error.strerror})") from None
    return decode_summary(content, str(folder), kind)


def decode_summary(content: bytes, folder: str, kind: type[S]) -> S:
    """Return what the summary of a build folder says, wherever that is."""
    path = f"{folder.rstrip('/')}/{SUMMARY}"
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError:
        raise InputError(f"{path} is not a build summary of format {FORMAT}; make the build again") from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InputError(f"{path} is not valid JSON; the build is damaged, make it again") from None


def load_build(folder: str | os.PathLike[str], *, interest: bool = True) -> Build:
    """Load a build as it was written, with its `interest`; its nodes are those of the interest.

    With `interest=False` only the nodes of the interest are read: less work where nobody asks for topics.
    """
    if not isinstance(folder, str | os.PathLike):
        raise refuse("folder", "the path of a build folder", folder)
    folder = Path(folder)
    summary = read_summary(folder)
    edges = _read(folder, EDGES, ["u", "v"])
    made = summary.algorithm, summary.parameters, summary.seed, summary.seconds, summary.report
    if interest:
        known = read_interest(folder)
        overlay = Overlay.from_arrow(known.node_ids, edges)
        return Build(replace(overlay, interest=known), *made, interest=known)
    # interest.parquet is sorted by node, so its distinct values are the nodes in their order.
    node_ids = identifiers(_read(folder, INTEREST, ["node"])["node"], "node").unique()
    return Build(Overlay.from_arrow(node_ids, edges), *made)


def read_interest(source: Path) -> Interest:
    """Read the interest of a build folder, without Spark."""
    extras: dict[str, Any] = {}
    table = _read(source, INTEREST, ["node", "topic"])
    table = table.sort_by([("node", "ascending"), ("topic", "ascending")])
    found = Interest.from_arrow(table)
    if found.n_subscriptions != len(table):
        raise InputError(f"build {source} is damaged: {INTEREST} repeats a pair; make it again")
    # Its rows are distinct, so roles and rates stand beside the pairs as they are.
    if "role" in table.column_names:
        roles = pc.fill_null(pc.index_in(table["role"].cast(pa.string()), value_set=pa.array(ROLES)), 0)
        extras["roles"] = roles.to_numpy().astype(np.uint8)
    if "rate" in table.column_names:
        extras["rates"] = table["rate"].to_numpy().astype(np.float64)
    return replace(found, **extras)


def _read(folder: Path, name: str, columns: list[str]) -> pa.Table:
    """Read a table of a build folder; one that lacks a column or cannot be read is refused."""
    try:
        table = pq.read_table(files_here(table_here(folder, name)))
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"build {folder} is damaged ({str(error).splitlines()[0]}); make it again") from None
    for column in columns:
        if column not in table.column_names:
            raise InputError(f"build {folder} is damaged: {name} has no column {column!r}; make it again")
    return table

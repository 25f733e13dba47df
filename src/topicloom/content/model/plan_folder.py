"""A content plan on disk: assignment.parquet, loads.parquet, trees.parquet, summary.json (docs/files.md)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.base.arrays import Ints
from topicloom.base.atomic_write import replacing
from topicloom.base.summaries import Summary
from topicloom.content.model.problem import ContentProblem
from topicloom.content.model.tables import CheckedTable, read_columns
from topicloom.errors import InputError
from topicloom.tables.folder import SUMMARY, check_own_folder, holds_only, write_json, write_table

KIND = "content-plan"
ASSIGNMENT, LOADS, TREES = "assignment.parquet", "loads.parquet", "trees.parquet"
CHUNK_EDGES = 1_000_000  # edges of trees that are held before they are written
_ASSIGNMENT = pa.schema([("user", pa.string()), ("broker", pa.string())])
_TREES = pa.schema([("broker", pa.string()), ("channel", pa.int32()), ("a", pa.string()), ("b", pa.string())])
Trees = Iterable[tuple[int, int, list[tuple[int, int]]]]


def check_plan_out(out: Path) -> None:
    """Refuse to overwrite anything but an earlier plan or an empty folder."""
    check_own_folder(out, f"`out={out}`", "an earlier plan", is_plan)


def is_plan(folder: Path) -> bool:
    """Tell whether everything in this folder was written as a plan."""
    return holds_only(folder, KIND, ASSIGNMENT, LOADS, TREES)


def write_assignment(folder: Path, problem: ContentProblem, assignment: Ints) -> None:
    """Write the broker of each user."""
    named = problem.brokers.take(pa.array(assignment))
    write_table(pa.table({"user": problem.users, "broker": named}), folder / ASSIGNMENT)


def write_plan(out: Path, summary: Summary, problem: ContentProblem, plan: Ints, trees: Trees | None) -> None:
    """Write a whole plan in place of `out`; without `trees` their file is left out."""
    with replacing(out) as folder:
        folder.mkdir()
        write_assignment(folder, problem, plan)
        columns = {
            "broker": problem.brokers,
            "users": np.bincount(plan, minlength=problem.n_brokers),
            "load": np.bincount(plan, weights=problem.demand, minlength=problem.n_brokers),
            "capacity": problem.capacity,
        }
        write_table(pa.table(columns), folder / LOADS)
        if trees is not None:
            _write_trees(folder / TREES, problem, trees)
        write_json(summary, folder / SUMMARY)


def _write_trees(path: Path, problem: ContentProblem, trees: Trees) -> None:
    """Write all edges of all trees, a piece at a time: there may be far more of them than users."""
    held: list[tuple[int, int, int, int]] = []

    def flush() -> None:
        columns = np.array(held, dtype=np.int64).reshape(-1, 4).T
        broker, a, b = (problem.brokers.take(pa.array(columns[k])) for k in (0, 2, 3))
        writer.write_table(pa.table([broker, pa.array(columns[1], pa.int32()), a, b], schema=_TREES))
        held.clear()

    with pq.ParquetWriter(path, _TREES, compression="zstd") as writer:
        for broker, channel, edges in trees:
            held += [(broker, channel, a, b) for a, b in edges]
            if len(held) >= CHUNK_EDGES:
                flush()
        flush()


def read_assignment(path: Path, problem: ContentProblem) -> Ints:
    """Return each user's broker from a plan folder or a Parquet table with columns user, broker."""
    if path.is_dir():
        path = path / ASSIGNMENT
    if not path.is_file():
        raise InputError(f"there is no assignment {path}: name a plan folder or a table of user and broker")
    return match_assignment(read_columns(path, _ASSIGNMENT), problem)


def match_assignment(rows: CheckedTable, problem: ContentProblem) -> Ints:
    """Return each user's broker; every user must occur once, with a broker that exists."""
    user = rows.known("user", problem.users, "the user is not in the problem")
    broker = rows.known("broker", problem.brokers, "the broker is not in the problem")
    rows.refuse(rows.repeated("user"), "the user stands there more than once")
    missing = np.setdiff1d(np.arange(problem.n_users), user)
    if len(missing):
        raise InputError(
            f"{rows.path} has no broker for user {problem.users[int(missing[0])].as_py()!r}"
            + (f" and {len(missing) - 1:,} others" if len(missing) > 1 else "")
        )
    assignment = np.zeros(problem.n_users, dtype=np.int32)
    assignment[user] = broker
    return assignment

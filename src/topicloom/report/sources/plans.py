"""Content plans, with the plane of their problem where that is given."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pyarrow as pa

from topicloom.content.jobs.plan import PlanFigures, PlanSummary
from topicloom.content.model.plan_folder import ASSIGNMENT, LOADS, TREES
from topicloom.content.model.tables import BROKERS, CHANNELS, COORDINATES
from topicloom.errors import InputError
from topicloom.report.sources.files import Columns, read_json, read_parquet
from topicloom.report.sources.subject import PlanSubject
from topicloom.tables.folder import SUMMARY

HOMES: Columns = {"user": "text", "broker": "text"}
BROKER_LOADS: Columns = {"broker": "text", "users": "number", "load": "number", "capacity": "number"}
BRANCHES: Columns = {"a": "text", "b": "text", "channel": "number"}
PLACES: Columns = {"kind": "text", "id": "text", "x": "number", "y": "number"}


def is_problem(folder: Path) -> bool:
    """Return whether a folder is a content problem."""
    return (folder / CHANNELS).exists() and (folder / BROKERS).exists()


def read_plan(folder: Path, problem: Path | None = None) -> PlanSubject:
    """Read a plan; `problem` is the folder it was made of, for coordinates."""
    values = read_json(folder / SUMMARY, dict[str, object])
    try:
        figures = msgspec.convert(values, PlanFigures)
        summary = msgspec.convert({**values, "figures": figures}, PlanSummary, from_attributes=True)
    except msgspec.ValidationError as error:
        raise InputError(f"{folder / SUMMARY} is damaged: {error}; make the plan again") from None
    assignment, loads = read_parquet(folder / ASSIGNMENT, HOMES), read_parquet(folder / LOADS, BROKER_LOADS)
    core: Counter[tuple[str, str]] = Counter()
    if (folder / TREES).exists():
        trees = read_parquet(folder / TREES, BRANCHES)
        for row in trees.group_by(["a", "b"]).aggregate([("channel", "count")]).to_pylist():
            core[min(row["a"], row["b"]), max(row["a"], row["b"])] += row["channel_count"]
    known = set(loads.column("broker").to_pylist())
    strangers = {*assignment.column("broker").to_pylist(), *(end for pair in core for end in pair)} - known
    if strangers or len(assignment) != summary.figures.users or len(known) != summary.figures.brokers:
        raise InputError(
            f"{folder} is damaged: its tables have {len(assignment):,} users on {len(known | strangers):,} "
            f"brokers, its summary {summary.figures.users:,} on {summary.figures.brokers:,}; make it again"
        )
    users: dict[str, tuple[float, float]] = {}
    brokers: dict[str, tuple[float, float]] = {}
    if problem is not None and (problem / COORDINATES).exists():
        users, brokers = _places(problem, assignment)
    return PlanSubject(
        str(folder),
        None if problem is None else str(problem),
        summary,
        assignment,
        loads,
        users,
        brokers,
        core,
    )


def _places(
    problem: Path, assignment: pa.Table
) -> tuple[dict[str, tuple[float, float]], dict[str, tuple[float, float]]]:
    found: dict[str, dict[str, tuple[float, float]]] = {"user": {}, "broker": {}}
    for row in read_parquet(problem / COORDINATES, PLACES).to_pylist():
        found.setdefault(str(row["kind"]), {})[row["id"]] = (float(row["x"]), float(row["y"]))
    lost = next((user for user in assignment.column("user").to_pylist() if user not in found["user"]), None)
    if lost is not None:
        raise InputError(f"{problem} is not the problem of the plan: it has no user {lost!r}")
    return found["user"], found["broker"]

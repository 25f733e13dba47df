"""Simulations: the course from its snapshots, and the last moment as a build."""

from __future__ import annotations

from pathlib import Path

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.report.sources.builds import read_overlays
from topicloom.report.sources.files import Columns, read_json, read_parquet
from topicloom.report.sources.subject import RoundsFacts, RoundsSubject, SimulationFacts, SimulationSubject
from topicloom.tables.folder import SUMMARY

SNAPSHOTS, PARTITIONED, LINKS, LAST, ROUNDS = (
    "snapshots.parquet", "partitioned.parquet", "links.parquet", "last", "rounds.parquet",
)  # fmt: skip


SNAPSHOT: Columns = dict.fromkeys(
    ("time", "nodes", "links", "degree_avg", "degree_max", "topics_partitioned", "joins", "departures",
     "crashes", "control_messages", "heartbeats", "event_messages", "messages_lost", "published", "expected",
     "missing", "duplicates"),
    "number",
)  # fmt: skip
ROUND: Columns = dict.fromkeys(("round", "cost", "access_cost", "core_cost", "migrations"), "number")
SPLIT: Columns = {"time": "number", "topic": "text", "components": "number"}
CHANGES: Columns = {"time": "number", "u": "text", "v": "text", "change": "text"}


def read_simulation(folder: Path, *, progress: Progress = SILENT) -> SimulationSubject:
    """Read the folder of `topicloom simulate`."""
    summary = read_json(folder / SUMMARY, SimulationFacts)
    snapshots = read_parquet(folder / SNAPSHOTS, SNAPSHOT).to_pylist()
    if not snapshots:
        raise InputError(f"{folder / SNAPSHOTS} has no rows; simulate again")
    split: dict[float, list[tuple[str, int]]] = {}
    for row in read_parquet(folder / PARTITIONED, SPLIT).to_pylist():
        split.setdefault(row["time"], []).append((row["topic"], row["components"]))
    links = read_parquet(folder / LINKS, CHANGES) if (folder / LINKS).exists() else None
    last = read_overlays([folder / LAST], bounds=False, progress=progress)
    return SimulationSubject(str(folder), summary, snapshots, split, last, links)


def read_rounds(folder: Path) -> RoundsSubject:
    """Read the folder of `topicloom content simulate`."""
    summary = read_json(folder / SUMMARY, RoundsFacts)
    rounds = read_parquet(folder / ROUNDS, ROUND).to_pylist()
    if not rounds:
        raise InputError(f"{folder / ROUNDS} has no rows; simulate again")
    return RoundsSubject(str(folder), summary, rounds)

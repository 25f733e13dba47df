"""Simulations: the course from its snapshots, and the last moment as a build."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.report.sources.builds import read_overlays
from topicloom.report.sources.subject import RoundsSubject, SimulationSubject
from topicloom.tables.folder import SUMMARY

SNAPSHOTS, PARTITIONED, LINKS, LAST, ROUNDS = (
    "snapshots.parquet", "partitioned.parquet", "links.parquet", "last", "rounds.parquet",
)  # fmt: skip


class _Summary(msgspec.Struct, frozen=True):
    """As much of a simulation's summary as the report cannot do without."""

    protocol: str
    parameters: dict[str, Any]
    seed: int
    nodes: int
    topics: int
    simulated_seconds: float


def read_simulation(folder: Path, *, progress: Progress = SILENT) -> SimulationSubject:
    """Read the folder of `topicloom simulate`."""
    summary = read_json(folder / SUMMARY, _Summary)
    snapshots = read_parquet(folder / SNAPSHOTS).to_pylist()
    if not snapshots:
        raise InputError(f"{folder / SNAPSHOTS} has no rows; simulate again")
    split: dict[float, list[tuple[str, int]]] = {}
    for row in read_parquet(folder / PARTITIONED).to_pylist():
        split.setdefault(row["time"], []).append((row["topic"], row["components"]))
    links = read_parquet(folder / LINKS) if (folder / LINKS).exists() else None
    last = read_overlays([folder / LAST], bounds=False, progress=progress)
    return SimulationSubject(str(folder), summary, snapshots, split, last, links)


def read_rounds(folder: Path) -> RoundsSubject:
    """Read the folder of `topicloom content simulate`."""
    summary = read_json(folder / SUMMARY)
    rounds = read_parquet(folder / ROUNDS).to_pylist()
    if not rounds:
        raise InputError(f"{folder / ROUNDS} has no rows; simulate again")
    return RoundsSubject(str(folder), summary, rounds)


def read_json(path: Path, needed: type[msgspec.Struct] | None = None) -> dict[str, Any]:
    """Read a summary as plain values; refuse one that is not JSON or lacks a key of `needed`."""
    try:
        content = path.read_bytes()
        if needed is not None:
            msgspec.json.decode(content, type=needed)
        return msgspec.json.decode(content, type=dict[str, Any])
    except OSError as error:
        raise InputError(f"cannot read {path} ({error.strerror})") from None
    except msgspec.ValidationError as error:
        raise InputError(f"{path} is damaged: {error}; make the result again") from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InputError(f"{path} is not valid JSON; make the result again") from None


def read_parquet(path: Path) -> pa.Table:
    """Read a table of a result."""
    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"{path} is damaged ({str(error).splitlines()[0]}); make the result again") from None

"""A build behind an address, finished or not. Nothing there is renamed, linked, locked or written over.

`tables/PHASE-ID/` is one attempt at a phase, with an ID that nobody had before: what an attempt of a killed
run still writes is in nobody's way. `phases/PHASE.json`, written last, names the attempt that is whole.
`summary.json` comes last of all and names the tables of the result; the rest is removed then.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet as pq
from msgspec.structs import replace

from topicloom.base.summaries import Summary, to_json
from topicloom.errors import InputError, TopicloomError
from topicloom.overlay.model.build import BuildSummary
from topicloom.overlay.model.build_folder import EDGES, INTEREST
from topicloom.overlay.model.run import Attempt, Request, Run, Told, check_same
from topicloom.overlay.model.run_folder import REQUEST
from topicloom.tables.folder import REJECTS, SUMMARY
from topicloom.tables.spark.remote_files import RemoteFolder
from topicloom.tables.table_manifest import FILES, TABLES, TableFiles

PHASES = "phases"
ATTEMPT = re.compile(r"[a-z][a-z0-9_-]*-[0-9a-f]{12}")  # what `RunAddress.attempt` and `publish` write


class AttemptRecord(Summary, frozen=True):
    """Which attempt at a phase is whole, and how many phases were before."""

    attempt: str
    order: int


class RunAddress(Run):
    """The phases of a run whose result will be the folder behind an address.

    Records are read once: another run of the same folder, which nothing here can keep away, has attempts of
    its own, and the first to write a record is the one that goes on.
    """

    def __init__(self, folder: RemoteFolder, now: Callable[[], float], told: Told) -> None:
        super().__init__(folder.path(PHASES), folder.path(TABLES), now, told)
        self.folder = folder
        self._records = read_records(folder)

    def whole(self) -> list[str]:
        return sorted(self._records, key=lambda name: self._known(name).order)

    def read_record(self, name: str) -> bytes | None:
        return self._records.get(name)

    @contextmanager
    def attempt(self, name: str) -> Iterator[Attempt]:
        made = f"{name}-{new_id()}"

        def commit(record: dict[str, Any]) -> None:
            content = to_json({**record, "attempt": made, "order": len(self._records)})
            self.folder.write(f"{PHASES}/{name}.json", content)
            self._records[name] = content

        try:
            yield Attempt(self.folder.path(f"{TABLES}/{made}"), commit)
        except BaseException:
            with suppress(TopicloomError):
                self.folder.remove(f"{TABLES}/{made}")
            raise

    def path(self, name: str, table: str) -> str:
        return self.folder.path(self._place(name, table))

    def forget(self) -> None:
        for name in self.whole():
            self.folder.remove(f"{PHASES}/{name}.json")
            self.folder.remove(f"{TABLES}/{self._known(name).attempt}")
        self._records.clear()

    def finish(self, summary: BuildSummary, tables: Mapping[str, tuple[str, str]]) -> BuildSummary:
        named = {name: self._place(*place) for name, place in tables.items()}
        return write_summary(self.folder, summary, named)

    def remove_left_over(self) -> None:
        """Remove attempts that never became whole."""
        known = {self._known(name).attempt for name in self._records}
        for entry in self.folder.entries(TABLES):
            if entry.name not in known:
                self.folder.remove(f"{TABLES}/{entry.name}")

    def _place(self, name: str, table: str) -> str:
        return f"{TABLES}/{self._known(name).attempt}/{table}"

    def _known(self, name: str) -> AttemptRecord:
        return msgspec.json.decode(self._records[name], type=AttemptRecord)


@contextmanager
def open_run_at(
    folder: RemoteFolder, request: Request, *, resume: bool, now: Callable[[], float], told: Told
) -> Iterator[RunAddress]:
    """Open the run of `request` behind an address, as `open_run` does on a disk."""
    check_usable(folder, resume=resume)
    run = RunAddress(folder, now, told)
    if run.whole():
        check_request(folder, request)
        run.remove_left_over()
        folder.remove(SUMMARY)  # half of one, or it would be a finished build
    else:
        for name in (SUMMARY, f"{PHASES}/{REQUEST}"):  # of a run that was killed in its first phase
            folder.remove(name)
        folder.write(f"{PHASES}/{REQUEST}", to_json(request))
    try:
        yield run
    finally:
        with suppress(TopicloomError):
            # Another run may be under way there: what it has is not ours to remove.
            if not run.whole() and not read_records(folder) and not folder.entries(TABLES):
                for name in (PHASES, TABLES):
                    folder.remove(name)
                folder.remove_empty()


def check_usable(folder: RemoteFolder, *, resume: bool) -> None:
    """Refuse a folder that holds anything but an unfinished run that is to be resumed."""
    shown = f"`out={folder.address}`"
    names = {entry.name for entry in folder.entries()}
    if not names <= {SUMMARY, PHASES, TABLES}:
        other = min(names - {SUMMARY, PHASES, TABLES})
        raise InputError(f"{shown} holds something else than a build ({other}); name another folder")
    others = [f"{PHASES}/{one.name}" for one in folder.entries(PHASES) if not one.name.endswith(".json")]
    others += [f"{TABLES}/{one.name}" for one in folder.entries(TABLES) if not ATTEMPT.fullmatch(one.name)]
    if others:
        raise InputError(f"{shown} holds something else than a build ({min(others)}); name another folder")
    if SUMMARY in names and read_finished(folder) is not None:
        raise InputError(
            f"{shown} holds a finished build, and behind an address nothing is written over: name another "
            "folder, or remove it first"
        )
    if not resume and read_records(folder):
        raise InputError(
            f"{shown} holds an unfinished run: `topicloom build` with `resume` goes on with it; remove "
            f"{folder.path(PHASES)} to begin anew"
        )


def check_request(folder: RemoteFolder, request: Request, *, parts: bool = False) -> None:
    """Refuse to take up the unfinished run there for another request, or for other `parts` of one."""
    begun = folder.read(f"{PHASES}/{REQUEST}")
    check_same(begun, request, out=folder.address, root=folder.path(PHASES), parts=parts)


def read_records(folder: RemoteFolder) -> dict[str, bytes]:
    """Return the records of whole phases, by phase; one that was cut off while it was written is removed."""
    found: dict[str, bytes] = {}
    for entry in folder.entries(PHASES):
        name, content = entry.name.removesuffix(".json"), folder.read(f"{PHASES}/{entry.name}")
        if entry.name == REQUEST or content is None:
            continue
        try:
            msgspec.json.decode(content, type=AttemptRecord)
            found[name] = content
        except (msgspec.MsgspecError, UnicodeDecodeError):
            folder.remove(f"{PHASES}/{entry.name}")
    return found


def read_finished(folder: RemoteFolder) -> bytes | None:
    """Return the summary of a finished build; None where there is none, or only a part of one."""
    content = folder.read(SUMMARY)
    try:
        msgspec.json.decode(content or b"")
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return content


def publish(folder: RemoteFolder, result: Path, summary: BuildSummary) -> BuildSummary:
    """Copy a build folder of this machine behind an address: tables first, then the summary."""
    made, tables = f"{TABLES}/result-{new_id()}", {}
    for name in (EDGES, INTEREST, REJECTS):
        table = result / name
        parts = sorted(table.glob("part-*")) if table.is_dir() else [table] if table.exists() else []
        if not parts:
            continue
        files = [f"part-{number:05}.parquet" for number in range(len(parts))]
        for part, file in zip(parts, files, strict=True):
            folder.upload(part, f"{made}/{name}/{file}")
        rows = sum(int(pq.read_metadata(part).num_rows) for part in parts)
        folder.write(f"{made}/{name}/{FILES}", to_json(TableFiles(rows, files)))
        tables[name] = f"{made}/{name}"
    return write_summary(folder, summary, tables)


def write_summary(folder: RemoteFolder, summary: BuildSummary, tables: dict[str, str]) -> BuildSummary:
    """Make a build whole: its summary names its tables; what else was written on the way goes."""
    summary = replace(summary, tables=tables)
    folder.write(SUMMARY, msgspec.json.format(to_json(summary), indent=2) + b"\n")
    tidy(folder, set(tables.values()))
    return summary


def tidy(folder: RemoteFolder, kept: set[str]) -> None:
    """Remove whatever is not part of a finished build; what cannot be removed is in nobody's way."""
    with suppress(TopicloomError):
        folder.remove(PHASES)
        for attempt in folder.entries(TABLES):
            if not ATTEMPT.fullmatch(attempt.name):
                continue  # nothing that a build has written
            inside = {
                f"{TABLES}/{attempt.name}/{one.name}" for one in folder.entries(f"{TABLES}/{attempt.name}")
            }
            for place in sorted(inside - kept) if inside & kept else [f"{TABLES}/{attempt.name}"]:
                folder.remove(place)


def new_id() -> str:
    """Return what no attempt was called before."""
    return uuid.uuid4().hex[:12]

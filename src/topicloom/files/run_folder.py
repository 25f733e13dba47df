"""An unfinished run on disk: one folder for each finished phase, so that a run that was killed can go on.

They lie in `.phases` inside the folder of the result and vanish when that becomes whole. A phase is written
under a temporary name and renamed when its record is in it, so a half-written one is never found.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from topicloom.errors import InputError
from topicloom.files.build_folder import PHASES, write_json

REQUEST, RECORD, LOCK = "request.json", "record.json", "lock"


class RunFolder:
    """The phases of one run; `keep` is how work is done once."""

    def __init__(self, root: Path, now: Callable[[], float]) -> None:
        self.root = root
        self._now = now

    def record(self, name: str) -> dict[str, Any] | None:
        """What a whole phase left behind; None if it is not whole."""
        path = self.root / name / RECORD
        if not path.is_file():
            return None
        try:
            record: dict[str, Any] = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        except (OSError, msgspec.MsgspecError):
            raise InputError(f"{path} is damaged: remove {self.root} and begin anew") from None
        return record

    def keep(self, name: str, work: Callable[[Path], Mapping[str, Any]]) -> dict[str, Any]:
        """The record of phase `name`: of an earlier run if it is whole there, else that of `work(folder)`."""
        known = self.record(name)
        if known is not None:
            return known
        temporary = self.root / f".tmp-{name}"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        start = self._now()
        record = {**work(temporary), "seconds": 0.0}
        record["seconds"] = self._now() - start
        write_json(record, temporary / RECORD)
        temporary.rename(self.root / name)
        return record

    def path(self, name: str, table: str) -> Path:
        """Where a phase has left a table."""
        return self.root / name / table

    def seconds(self) -> dict[str, float]:
        """How long each whole phase took, in whichever run that was."""
        return {name: float((self.record(name) or {})["seconds"]) for name in self.whole()}

    def whole(self) -> list[str]:
        """The phases that are whole."""
        return whole_phases(self.root)

    def discard(self) -> None:
        """Forget everything; the folder around it goes too if nothing else is in it."""
        shutil.rmtree(self.root, ignore_errors=True)
        with suppress(OSError):
            self.root.parent.rmdir()


def whole_phases(root: Path) -> list[str]:
    """The names of the whole phases below `root`, in the order they were finished."""
    found = [path for path in root.glob(f"*/{RECORD}") if not path.parent.name.startswith(".")]
    return [path.parent.name for path in sorted(found, key=lambda path: path.stat().st_mtime_ns)]


@contextmanager
def open_run(
    out: Path, request: Mapping[str, Any], *, resume: bool, now: Callable[[], float]
) -> Iterator[RunFolder]:
    """The run of `request` in `out`, begun now or, with `resume`, by a run that did not come to its end.

    An unfinished run is never thrown away unasked, and never taken up by another request. A run that leaves
    without a whole phase leaves no trace.
    """
    root = out.absolute() / PHASES
    with _write_errors(out):
        root.mkdir(parents=True, exist_ok=True)
    with _locked(root / LOCK, out):
        run = RunFolder(root, now)
        with _write_errors(out):
            _begin(run, out, request, resume)
        try:
            yield run
        finally:
            if root.is_dir() and not run.whole():
                run.discard()


def refuse_unfinished(out: Path) -> None:
    """Refuse a folder with an unfinished run: hours of work may lie there."""
    if whole_phases(out / PHASES):
        raise InputError(
            f"--out {out} holds an unfinished run: add --resume to go on with it, or remove {out / PHASES} "
            "to begin anew"
        )


def _begin(run: RunFolder, out: Path, request: Mapping[str, Any], resume: bool) -> None:
    if not resume:
        refuse_unfinished(out)
    if run.whole():
        _check_same(out, run.root, request)
        return
    for path in run.root.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
    write_json(request, run.root / REQUEST)


def _check_same(out: Path, root: Path, request: Mapping[str, Any]) -> None:
    try:
        begun = msgspec.json.decode((root / REQUEST).read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError):
        raise InputError(f"{root / REQUEST} is damaged: remove {root} and begin anew") from None
    now = msgspec.json.decode(msgspec.json.encode(request), type=dict[str, Any])
    for key in sorted({*begun, *now}):
        if begun.get(key) != now.get(key):
            raise InputError(
                f"--resume: the run in {out} was begun with another {key} ({_short(begun.get(key))}, now "
                f"{_short(now.get(key))}); give the same, or remove {out / PHASES} to begin anew"
            )


def _short(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 200 else f"{text[:200]}..."


@contextmanager
def _locked(path: Path, out: Path) -> Iterator[None]:
    """Two runs in one folder would tread on each other; the system lets go of the lock of one that dies."""
    with path.open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"another run works in --out {out}: wait for it, or name another folder"
            ) from None
        except OSError:
            pass  # a file system without locks
        yield


@contextmanager
def _write_errors(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror or error}") from None

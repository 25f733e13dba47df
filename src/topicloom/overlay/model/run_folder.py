"""An unfinished run on disk: one folder for each finished phase, so that a run that was killed can go on.

They lie in `.phases` inside the folder of the result and vanish when that becomes whole. A phase is written
under a temporary name and renamed when its record is in it, so a half-written one is never found.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from topicloom.base.atomic_write import remove_left_over
from topicloom.base.summaries import Summary, plain, to_json
from topicloom.errors import InputError
from topicloom.overlay.model.build_folder import PHASES, RECORD, check_replaceable, whole_phases
from topicloom.tables.folder import write_json

REQUEST, LOCK = "request.json", "lock"

Told = Callable[[str, float], None]
R = TypeVar("R", bound=Summary)
Request = Mapping[str, Any]


class TablesOnly(Summary, frozen=True):
    """The record of a phase that leaves tables and nothing to say of them."""


class TimedRecord(Summary, frozen=True):
    """What every record has besides its own keys."""

    seconds: float
    spark: dict[str, int | float] = msgspec.field(default_factory=dict)


class RunFolder:
    """The phases of one run; `keep` is how work is done once.

    `measure`, where it is set, tells what was done on Spark since it was last called; records keep it.
    """

    def __init__(self, root: Path, now: Callable[[], float], told: Told) -> None:
        self.root = root
        self.measure: Callable[[], Summary] | None = None
        self._now = now
        self._told = told

    def record(self, name: str, kind: type[R]) -> R | None:
        """Return what a whole phase left behind; None if it is not whole."""
        path = self.root / name / RECORD
        if not path.is_file():
            return None
        try:
            return msgspec.json.decode(path.read_bytes(), type=kind)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            raise InputError(f"{path} is damaged: remove {self.root} and begin anew") from None

    def keep(self, name: str, kind: type[R], work: Callable[[Path], R]) -> R:
        """Return the record of phase `name`: of an earlier run if it is whole, else of `work(folder)`."""
        known = self.record(name, kind)
        if known is not None:
            return known
        temporary = self.root / f".tmp-{name}"
        start = self._now()
        with _write_errors(self.root.parent):
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir()
        try:
            record = work(temporary)
            seconds = self._now() - start
            done = {} if self.measure is None else {"spark": plain(self.measure())}
            with _write_errors(self.root.parent):
                write_json({**plain(record), "seconds": seconds, **done}, temporary / RECORD)
                _flush(temporary)
                temporary.rename(self.root / name)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        self._told(name, seconds)
        return record

    def require(self, name: str, kind: type[R]) -> R:
        """Return the record of a phase that must be whole by now."""
        record = self.record(name, kind)
        if record is None:
            raise InputError(f"phase {name} is gone from {self.root}: remove the folder and begin anew")
        return record

    def path(self, name: str, table: str) -> Path:
        """Return where a phase has left a table."""
        return self.root / name / table

    def seconds(self) -> dict[str, float]:
        """Return how long each whole phase took, in whichever run that was."""
        return {name: self.require(name, TimedRecord).seconds for name in self.whole()}

    def spark(self) -> dict[str, dict[str, int | float]]:
        """Return what each whole phase did on Spark, in whichever run that was."""
        return {name: self.require(name, TimedRecord).spark for name in self.whole()}

    def whole(self) -> list[str]:
        """Return the phases that are whole."""
        return whole_phases(self.root)


@contextmanager
def open_run(
    out: Path,
    request: Request,
    *,
    resume: bool,
    now: Callable[[], float],
    told: Told = lambda name, seconds: None,
) -> Iterator[RunFolder]:
    """Open the run of `request` in `out`, a new one or, with `resume`, one that did not come to its end.

    An unfinished run is never thrown away unasked, and never resumed by another request. A run that ends
    without a whole phase leaves no trace. `told` hears of each phase that becomes whole.
    """
    root = out.absolute() / PHASES
    with _write_errors(out):
        root.mkdir(parents=True, exist_ok=True)
    with _locked(root / LOCK, out):
        remove_left_over(out)
        run = RunFolder(root, now, told)
        with _write_errors(out):
            check_replaceable(out, resume=resume)
            if run.whole():
                check_same(out, request)
            else:
                for path in root.iterdir():
                    if path.is_dir():
                        shutil.rmtree(path, ignore_errors=True)
                write_json(request, root / REQUEST)
        try:
            yield run
        finally:
            if root.is_dir() and not run.whole():
                shutil.rmtree(root, ignore_errors=True)
                with suppress(OSError):  # something else is in the folder around it
                    root.parent.rmdir()


def check_same(out: Path, request: Request, *, parts: bool = False) -> None:
    """Refuse to take up the unfinished run in `out` for another request, or for other `parts` of one."""
    root = out / PHASES
    try:
        begun = msgspec.json.decode((root / REQUEST).read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        raise InputError(f"{root / REQUEST} is damaged: remove {root} and begin anew") from None
    now = msgspec.json.decode(to_json(request), type=dict[str, Any])
    for key in sorted(now if parts else {*begun, *now}):
        if begun.get(key) != now.get(key):
            before, after = _difference(begun.get(key), now.get(key))
            raise InputError(
                f"`resume`: the run in {out} was begun with another {key} ({before}, now {after}); give the "
                f"same, or remove {out / PHASES} to begin anew"
            )


def _difference(before: Any, after: Any) -> tuple[str, str]:
    """Return two values that differ as text; of long lists and tables the first parts that do."""
    if isinstance(before, list) and isinstance(after, list):
        for one, other in zip(before, after, strict=False):
            if one != other:
                return _difference(one, other) if isinstance(one, dict) else (_text(one), _text(other))
        return f"{len(before)} of them", f"{len(after)}"
    if isinstance(before, dict) and isinstance(after, dict):
        key = next(key for key in sorted({*before, *after}) if before.get(key) != after.get(key))
        return f"{key} {_text(before.get(key))}", _text(after.get(key))
    return _text(before), _text(after)


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _flush(folder: Path) -> None:
    """Write to the disk itself: after a power cut a phase that is there must be whole too."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


@contextmanager
def _locked(path: Path, out: Path) -> Iterator[None]:
    """Lock the folder against a second run; the system lets go of the lock of a run that dies."""
    with path.open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"another run works in `out={out}`: wait for it, or name another folder"
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

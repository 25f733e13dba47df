"""An unfinished run on a disk of this machine: one folder for each finished phase.

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
from typing import Any

from topicloom.base.atomic_write import remove_left_over, replacing
from topicloom.errors import InputError
from topicloom.overlay.model.build import BuildSummary
from topicloom.overlay.model.build_folder import PHASES, RECORD, check_replaceable, whole_phases
from topicloom.overlay.model.run import Attempt, Request, Run, Told, check_same
from topicloom.tables.folder import SUMMARY, write_json

REQUEST, LOCK = "request.json", "lock"


class RunFolder(Run):
    """The phases of a run whose result will be the folder `out`."""

    def __init__(self, out: Path, now: Callable[[], float], told: Told) -> None:
        self.out = out
        self.root = out.absolute() / PHASES
        super().__init__(str(self.root), PHASES, now, told)

    def whole(self) -> list[str]:
        return whole_phases(self.root)

    def read_record(self, name: str) -> bytes | None:
        try:
            return (self.root / name / RECORD).read_bytes()
        except FileNotFoundError:
            return None
        except OSError:
            return b""  # it is there, and cannot be used

    @contextmanager
    def attempt(self, name: str) -> Iterator[Attempt]:
        temporary = self.root / f".tmp-{name}"
        with _write_errors(self.root.parent):
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir()

        def commit(record: dict[str, Any]) -> None:
            with _write_errors(self.root.parent):
                write_json(record, temporary / RECORD)
                _flush(temporary)
                temporary.rename(self.root / name)

        try:
            yield Attempt(str(temporary), commit)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise

    def path(self, name: str, table: str) -> str:
        return str(self.root / name / table)

    def forget(self) -> None:
        for name in self.whole():
            with _write_errors(self.out):
                (self.root / name / RECORD).unlink()  # first: without it the rest is no phase
            shutil.rmtree(self.root / name, ignore_errors=True)

    def finish(self, summary: BuildSummary, tables: Mapping[str, tuple[str, str]]) -> BuildSummary:
        with replacing(self.out) as folder:
            folder.mkdir()
            for name, place in tables.items():
                _link(Path(self.path(*place)), folder / name)
            write_json(summary, folder / SUMMARY)
        return summary


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
    run = RunFolder(out, now, told)
    root = run.root
    with _write_errors(out):
        root.mkdir(parents=True, exist_ok=True)
    with _locked(root / LOCK, out):
        remove_left_over(out)
        with _write_errors(out):
            check_replaceable(out, resume=resume)
            if run.whole():
                check_same_here(out, request)
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


def check_same_here(out: Path, request: Request, *, parts: bool = False) -> None:
    """Refuse to take up the unfinished run in `out` for another request, or for other `parts` of one."""
    root = out / PHASES
    try:
        begun = (root / REQUEST).read_bytes()
    except OSError:
        begun = None
    check_same(begun, request, out=str(out), root=str(root), parts=parts)


def _link(source: Path, target: Path) -> None:
    """Link a file or folder under a second name: until the result is whole, the phase stays whole too."""

    def link(old: str, new: str) -> None:
        try:
            os.link(old, new)
        except OSError:  # a file system without links
            shutil.copy2(old, new)

    if source.is_dir():
        visible = shutil.ignore_patterns("_*", ".*")
        shutil.copytree(source, target, copy_function=link, ignore=visible)
    else:
        link(str(source), str(target))


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

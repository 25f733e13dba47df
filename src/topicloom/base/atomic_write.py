"""Writes that appear whole or not at all."""

from __future__ import annotations

import ctypes
import glob
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from topicloom.base.addresses import refuse_address
from topicloom.errors import InputError


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give a temporary path beside `target`; on success it takes the target's place, else it vanishes.

    Works for files and for folders. What killed runs left beside the target is removed first. The suffixes of
    the target are kept, so writers that look at them behave as they would for the target itself.
    """
    refuse_address(target)
    shown, target = target, Path(target).absolute()
    if os.path.islink(target) and os.path.isdir(target):
        target = target.resolve()  # the link stays, and what it leads to is replaced
    temporary = target.with_name(f".tmp-{os.getpid()}-{target.name}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_left_over(target)
        _remove(temporary)
        try:
            yield temporary
            _swap(temporary, target)
        finally:
            _remove(temporary)
    except OSError as error:
        raise InputError(f"cannot write {shown}: {error.strerror or error}") from error


def check_writable(target: Path, shown: str | Path) -> None:
    """Refuse a place where nothing can be written, before any work is done; `shown` is what it is called."""
    place = Path(target).absolute()
    while not os.path.lexists(place):
        place = place.parent
    around = place if place.is_dir() and place != Path(target).absolute() else place.parent
    if not place.is_dir() and place != Path(target).absolute():
        raise InputError(f"cannot write {shown}: {place} is not a folder")
    if not os.access(around, os.W_OK | os.X_OK):
        reason = "read-only file system" if os.statvfs(around).f_flag & os.ST_RDONLY else "permission denied"
        raise InputError(f"cannot write {shown}: {reason} in {around}")


def remove_left_over(target: Path) -> None:
    """Remove what runs that were killed left beside `target`; those that still run keep theirs."""
    for path in target.absolute().parent.glob(f".*-{glob.escape(target.name)}"):
        found = re.fullmatch(r"\.(?:tmp|old)-(\d+)-(.+)", path.name)
        if found and found[2] == target.name and not process_runs(int(found[1])):
            _remove(path)


def process_runs(process: int) -> bool:
    """Return whether there is a process of this number on this machine."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _swap(temporary: Path, target: Path) -> None:
    if not target.is_dir() or target.is_symlink():
        temporary.replace(target)
        return
    # A folder cannot be renamed onto a full one.
    if _exchange(temporary, target):
        return  # the old one has the temporary name now
    aside = target.with_name(f".old-{os.getpid()}-{target.name}")
    _remove(aside)
    target.rename(aside)
    try:
        temporary.rename(target)
    except OSError:
        aside.rename(target)
        raise
    _remove(aside)


def _exchange(one: Path, other: Path) -> bool:
    """Let two names change places in one step, so that no moment is without either; False where it fails."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2  # Linux, glibc 2.28
    except (OSError, AttributeError, TypeError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)

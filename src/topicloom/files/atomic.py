"""Writes that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from topicloom.errors import InputError


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give a temporary path beside `target`; on success it takes the target's place, else it vanishes.

    Works for files and for folders. The suffixes of the target are kept, so writers that look at them
    behave as they would for the target itself.
    """
    shown, target = target, Path(target).absolute()
    temporary = target.with_name(f".tmp-{os.getpid()}-{target.name}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove(temporary)
        try:
            yield temporary
            _swap(temporary, target)
        finally:
            _remove(temporary)
    except OSError as error:
        raise InputError(f"cannot write {shown}: {error.strerror or error}") from error


def _swap(temporary: Path, target: Path) -> None:
    if target.is_dir() and not target.is_symlink():
        # A folder cannot be renamed onto a full one: the old one steps aside for a moment.
        aside = target.with_name(f".old-{os.getpid()}-{target.name}")
        _remove(aside)
        target.rename(aside)
        try:
            temporary.rename(target)
        except OSError:
            aside.rename(target)
            raise
        _remove(aside)
    else:
        temporary.replace(target)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)

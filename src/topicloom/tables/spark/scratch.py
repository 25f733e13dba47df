"""Folders for the temporary files of one process; those of processes that were killed are swept away.

A folder belongs to whoever holds the lock on the file `owner` in it: a process number says nothing on another
machine or in another container that shares the disk. The system lets go of the lock of a process that dies.
Only folders of this host are judged, because a network disk may know locks of its own machine only.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import socket
import tempfile
from contextlib import suppress
from io import FileIO
from pathlib import Path

PREFIX = "topicloom-spark-"
OWNER = "owner"

_held: dict[Path, FileIO] = {}  # the locks of this process


def new_scratch(beside: Path | None = None) -> Path:
    """Return a new folder among the temporary files, or a hidden one in `beside`, owned by this process."""
    parent = Path(tempfile.gettempdir()) if beside is None else beside
    prefix = ("" if beside is None else ".") + PREFIX
    sweep(parent, prefix)
    folder = Path(tempfile.mkdtemp(prefix=f"{prefix}{_host()}-{os.getpid()}-", dir=parent))
    # A folder counts from the moment it has its owner, so the lock is taken before the file has this name.
    owner = FileIO(folder / f"{OWNER}.new", "w")
    with suppress(OSError):  # a file system without locks: nobody will sweep it
        fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
    (folder / f"{OWNER}.new").rename(folder / OWNER)
    _held[folder] = owner
    return folder


def remove_scratch(folder: Path) -> None:
    """Remove a folder of this process."""
    shutil.rmtree(folder, ignore_errors=True)
    if (owner := _held.pop(folder, None)) is not None:
        owner.close()


def sweep(parent: Path, prefix: str = PREFIX) -> None:
    """Remove our folders whose process is gone: a killed run leaves whatever Spark had spilled."""
    for folder in parent.glob(f"{prefix}{_host()}-*"):
        with suppress(OSError):
            if folder.stat().st_uid == os.getuid() and _is_free(folder / OWNER):
                shutil.rmtree(folder, ignore_errors=True)


def _is_free(owner: Path) -> bool:
    """Return whether nobody holds the lock; a folder without one is just being made, or not ours."""
    with FileIO(owner, "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True


def _host() -> str:
    """Return the name of this host as it can stand in a file's name."""
    return re.sub(r"[^A-Za-z0-9.]", "_", socket.gethostname()) or "host"

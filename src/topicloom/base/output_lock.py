"""One command at a time writes to a place of this machine: the second is refused, and does not replace it."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Literal

from topicloom.errors import InputError


@contextmanager
def output_locked(out: str | Path, shown: str) -> Iterator[None]:
    """Keep others from writing to `out` while the block runs; the system lets go of the lock of the dead.

    The lock is a file among the temporary ones, so that nothing appears beside the result.
    """
    lock = None
    with suppress(OSError):  # without a place for it, or a file system without locks, nobody is kept away
        lock = _locked(_lock_path(out))
    if lock is False:
        raise InputError(f"another command writes to {shown}: wait for it, or name another place")
    try:
        yield
    finally:
        if lock:
            with suppress(OSError):
                os.unlink(lock.name)
            lock.close()


def _lock_path(out: str | Path) -> Path:
    folder = Path(tempfile.gettempdir()) / f"topicloom-{os.getuid()}-locks"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / hashlib.sha256(os.fsencode(os.path.realpath(out))).hexdigest()[:32]


def _locked(path: Path) -> BinaryIO | Literal[False]:
    """Return the open file that holds the lock; False if somebody else holds it."""
    while True:
        lock = path.open("wb")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The one before may have removed the file in between: a lock on that one keeps nobody away.
            if os.path.samestat(os.fstat(lock.fileno()), os.stat(path)):
                return lock
        except BlockingIOError:
            lock.close()
            return False
        except FileNotFoundError:
            pass
        except OSError:
            lock.close()
            raise
        lock.close()

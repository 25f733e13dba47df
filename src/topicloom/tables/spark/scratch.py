"""Folders for the temporary files of one process; those of processes that were killed are swept away."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from topicloom.base.atomic_write import process_runs

PREFIX = "topicloom-spark-"


def new_scratch() -> Path:
    """Return a new folder, with the number of this process in its name."""
    sweep()
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))


def sweep() -> None:
    """Remove our folders whose process is gone: a killed run leaves whatever Spark had spilled."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner = re.match(rf"{PREFIX}(\d+)-", path.name)
        with suppress(OSError):
            if owner and path.stat().st_uid == os.getuid() and not process_runs(int(owner[1])):
                shutil.rmtree(path, ignore_errors=True)

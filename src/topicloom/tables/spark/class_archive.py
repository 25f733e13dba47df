"""Spark's classes, archived once: a JVM that maps the archive starts in half the time.

An archive belongs to one Java and one set of jars. Java itself refuses one that does not fit and goes on
without it, so an archive can only save time. Nothing here starts Spark.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from topicloom.base.machine_speed import kept_folder
from topicloom.tables.spark.java import Java

MAKING = "-XX:ArchiveClassesAtExit="
_USING = "-Xshare:auto -Xlog:disable -XX:SharedArchiveFile="


def using_archive(java: Java) -> str:
    """Return the option with which a JVM starts from the archive; empty if there is none."""
    path = archive_path(java)
    return f"{_USING}{path}" if path.exists() and " " not in str(path) else ""


def archive_path(java: Java) -> Path:
    """Return where the archive of this Java and of the installed Spark lies or would lie.

    In a virtual environment it lies inside and goes with it; otherwise among the user's cached files.
    """
    jars = sorted(_jars().glob("*.jar"))
    named = [str(java.executable.resolve()), *(f"{jar} {jar.stat().st_mtime_ns}" for jar in jars)]
    key = hashlib.sha256("\n".join(named).encode()).hexdigest()[:16]
    return kept_folder() / f"spark-{key}.jsa"


def make_archive(java: Java, exercise: Callable[[str], None]) -> bool:
    """Make the archive unless there is one, and say whether there is one now.

    `exercise` gets the option with which a JVM writes the archive when it ends. It runs with it what users
    run, and ends that JVM. Several processes may do so at once: each writes a file of its own.
    """
    path = archive_path(java)
    draft = path.with_suffix(f".{os.getpid()}")
    if not path.exists():
        with suppress(OSError):  # this Java cannot make one, or nothing can be kept here: all works as well
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                exercise(f"-Xlog:disable {MAKING}{draft}")
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)
    return path.exists()


def _jars() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent / "jars"

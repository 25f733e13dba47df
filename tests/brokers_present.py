"""Marks for tests that need a program beside Python: skipped where it is absent, but a failure under CI.

With the environment variable CI set these tests must run: a skip there would prove nothing.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

from topicloom.mesh.run.free_ports import FreePorts

_PORTS = FreePorts()


def find_program(name: str) -> str | None:
    """Where a broker's program is; Debian puts mosquitto where ordinary users do not look."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/sbin")


def is_present(name: str) -> bool:
    """Is the program, or the Python package, installed?"""
    return find_program(name) is not None or find_spec(name) is not None


def missing(names: Iterable[str]) -> list[str]:
    """What keeps a test from running here: under CI nothing does, it runs and fails."""
    return [] if "CI" in os.environ else [name for name in names if not is_present(name)]


needs_mosquitto = pytest.mark.needs("mosquitto")
needs_nats = pytest.mark.needs("nats-server")
needs_zenoh = pytest.mark.needs("zenoh")
needs_graphviz = pytest.mark.needs("dot")
needs_chromium = pytest.mark.needs("chromium", "playwright")
needs_openssl = pytest.mark.needs("openssl")


def zenoh_module() -> ModuleType:
    """The package, or a skipped test; under CI an import that fails."""
    return import_module("zenoh") if "CI" in os.environ else pytest.importorskip("zenoh")


def mosquitto() -> str:
    """The program's path, or a failed test."""
    return _found("mosquitto")


def nats_server() -> str:
    """The program's path, or a failed test."""
    return _found("nats-server")


def _found(name: str) -> str:
    path = find_program(name)
    if path is None:
        pytest.fail(f"{name} is not installed; with CI set that is a failure")
    return path


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody uses, none of them given out before.

    Workers of pytest draw from different ones: each starts its brokers a moment after it has asked.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    drawn = (_PORTS.take() for _ in itertools.count())
    return list(itertools.islice((port for port in drawn if port % workers == worker), count))


@contextmanager
def running(*commands: Sequence[str], cwd: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Start programs, with their output in files of `cwd`; they are gone afterwards whatever happens."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        for place, command in enumerate(commands):
            with (cwd / f"log-{place}").open("wb") as log:
                started.append(subprocess.Popen(command, cwd=cwd, stdout=log, stderr=subprocess.STDOUT))
        yield started
    finally:
        for process in started:
            process.terminate()
        for process in started:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_for(holds: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Look again and again until something holds; a failed test if it never does."""
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            pytest.fail(f"waited {seconds:g} s for {what}")
        time.sleep(0.02)

"""The processes of brokers: started one by one, and none of them outlives us.

Each runs in a session of its own, so that Ctrl-C in the terminal reaches only topicloom, which then stops
them in good order. The kernel kills them should topicloom itself be killed. Nothing here waits for the event
loop: stopping must also work while everything else is falling apart.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path

from topicloom.errors import MeshError
from topicloom.mesh.model.hidden import hide
from topicloom.mesh.run.adapter import Argv

PATIENCE = 3.0  # seconds from the polite signal to the one that cannot be refused
TAIL = 6  # lines of a broker's output in an error
FAULT = re.compile(r"error|refused|denied|fail", re.IGNORECASE)
PORT_TAKEN = "address already in use"
LEAST_FREE = 16_384  # bytes on the disk; with less brokers hang rather than fail
PR_SET_PDEATHSIG = 1


@dataclass(slots=True)
class _Running:
    process: subprocess.Popen[bytes]
    log: Path


class BrokerProcesses(AbstractContextManager["BrokerProcesses"]):
    """The processes of one mesh, one for each node; a context that ends with none of them running."""

    def __init__(self, folder: Path, logs: Path, secrets: Collection[str] = ()) -> None:
        self._folder = folder
        self._logs = logs
        self._secrets = secrets  # no message repeats them
        self._running: dict[str, _Running] = {}  # by node, in the order of starting
        self._started = 0
        self.lost_a_port = False  # did a broker end because another program had taken its port?

    def __exit__(self, *_fault: object) -> None:
        self.stop()

    def start(self, node: str, argv: Argv, folder: Path | None = None) -> None:
        """Start the process of a node, in the folder of all or another; its output goes to its own file."""
        log = self._logs / f"{self._started}.log"
        self._started += 1
        with log.open("wb") as output:
            try:
                process = subprocess.Popen(
                    argv,
                    cwd=folder or self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=_die_with_parent(),
                )
            except OSError as error:
                raise MeshError(f"cannot start the broker of {node}: {error}") from None
        self._running[node] = _Running(process, log)

    def nodes(self) -> list[str]:
        """Return the nodes with a process that we started and did not end yet, in the order of starting."""
        return list(self._running)

    def pids(self) -> dict[str, int]:
        """Return the process of each node where it runs now."""
        return {node: one.process.pid for node, one in self._running.items() if one.process.poll() is None}

    def check_alive(self) -> None:
        """Raise the last output of a broker that ended by itself, or that the disk is full."""
        if shutil.disk_usage(self._logs).free < LEAST_FREE:
            raise MeshError(
                f"the disk is full at {self._logs.parent}, where brokers write; make room there or set TMPDIR"
            )
        for node, one in self._running.items():
            code = one.process.poll()
            if code is not None:
                self.lost_a_port |= PORT_TAKEN in one.log.read_text(errors="replace").lower()
                how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
                raise MeshError(f"the broker of {node} {how}: {self._said(one.log)}")

    def kill(self, node: str) -> None:
        """End a node's process at once, as a crash would."""
        # Also when the broker itself has ended: a child that it left in its group has not.
        process = self._running.pop(node).process
        _signal_group(process, signal.SIGKILL)
        process.wait()

    def end(self, node: str) -> None:
        """End a node's process as its operator would."""
        process = self._running[node].process
        _signal_group(process, signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not _has_ended(process):
            time.sleep(0.01)
        self.kill(node)

    def hang_up(self, node: str) -> None:
        """Ask a node's process to read its passwords and access lists again."""
        _signal_group(self._running[node].process, signal.SIGHUP)

    def freeze(self, node: str) -> None:
        """Stop a node's process where it stands, as if its machine hung: its connections stay open."""
        _signal_group(self._running[node].process, signal.SIGSTOP)

    def thaw(self, node: str) -> None:
        """Let a frozen process go on; nothing happens if it has ended."""
        if node in self._running:
            _signal_group(self._running[node].process, signal.SIGCONT)

    def stop(self) -> None:
        """End all processes: politely, then by force."""
        processes = [one.process for one in self._running.values()]
        for process in processes:
            _signal_group(process, signal.SIGCONT)  # a frozen one would not hear
            _signal_group(process, signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not all(map(_has_ended, processes)):
            time.sleep(0.01)
        for node in self.nodes():
            self.kill(node)

    def said(self, node: str, about: str) -> str:
        """Return the last output of a node's broker, about this if there is any."""
        return self._said(self._running[node].log, about) if node in self._running else "it does not run"

    def _said(self, log: Path, about: str = "") -> str:
        return hide(_last_output(log, about), self._secrets)


def _last_output(log: Path, about: str = "") -> str:
    """Return the end of a broker's output in one line: lines `about` something and faults, if any."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    chosen = [line for line in lines if about in line or FAULT.search(line)] if about else lines
    return " | ".join((chosen or lines)[-TAIL:]) or "it said nothing"


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    if process.returncode is None:  # not waited for yet, so that its number cannot be another's by now
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a process ended, without reaping it: its number is that of its group too."""
    if process.returncode is not None:
        return True
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _die_with_parent() -> Callable[[], None] | None:
    """Return what a child does before it becomes the broker: ask the kernel to be killed when we die.

    The kernel means the thread that started it, which is the main one. Only Linux can do that.
    """
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)
    parent = os.getpid()

    def ask() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # we died before the child could ask
            os._exit(1)

    return ask

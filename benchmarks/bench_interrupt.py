"""How soon a kernel-heavy build ends after Ctrl-C, and with which exit code.

The command's stderr is a pseudo-terminal, because its progress bars tell when edges are being chosen.
"""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.harness import Broken, Figure, NotRun, Options, Row, attempt, checked, run_command
from benchmarks.harness import topicloom_command as topicloom

TITLE = "Ctrl-C during a build"
ASKED_SECONDS = 2.0
NODES = 100_000
MOMENTS = (3.0, 10.0)
"""Seconds into the choice of edges at which Ctrl-C comes; choosing them takes several times as long."""
PATIENCE = 180.0


def run(options: Options) -> Iterator[Row]:
    table = "gm, V=100,000 T=1,000 s=20 zipf:0.5; SIGINT to the process group, as a terminal sends it"
    if options.quick:
        yield Row(table, "all", not_run="left out by --quick")
        return
    interest = options.scratch / "interrupt.tsv"
    sizes = ["--nodes", str(NODES), "--topics", "1000", "--subscriptions", "20", "--popularity", "zipf:0.5"]
    checked(run_command(topicloom("generate", str(interest), *sizes, "--seed", "1", "--quiet")))
    for moment in MOMENTS:
        yield attempt(table, f"{moment:g} s into choosing edges", partial(_cells, options, interest, moment))


def _cells(options: Options, interest: Path, moment: float) -> dict[str, Figure | str]:
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        out = Path(folder) / "build"
        watched = Watched(topicloom("build", str(interest), "--algorithm", "gm", "--out", str(out)))
        try:
            watched.wait_for("choose edges")
            time.sleep(moment)
            if watched.process.poll() is not None:
                raise NotRun("the build was over before it could be interrupted")
            start = time.perf_counter()
            os.killpg(watched.process.pid, signal.SIGINT)
            code = watched.process.wait(PATIENCE)
            seconds = time.perf_counter() - start
        finally:
            watched.end()
        if code != 130:
            raise Broken(f"exit {code} instead of 130")
        left = [path.name for path in Path(folder).iterdir()]
        if left:
            raise Broken(f"{left[0]} was left behind")
    return {"time until the end": Figure(seconds, "s", ASKED_SECONDS), "exit code": str(code)}


class Watched:
    """A command in a session of its own whose stderr is a terminal that we read."""

    def __init__(self, command: list[str]) -> None:
        self._read, write = pty.openpty()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=write,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
            start_new_session=True,
            # In the background of a shell we ignore Ctrl-C; the command must not inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        os.close(write)
        self._words = b""
        self._reader = threading.Thread(target=self._collect, daemon=True)
        self._reader.start()

    def _collect(self) -> None:
        while True:
            try:
                piece = os.read(self._read, 65_536)
            except OSError:  # the other end is closed
                return
            if not piece:
                return
            self._words += piece

    def wait_for(self, words: str) -> None:
        """Wait until the command has written `words`; `Broken` if it ends or takes too long."""
        start = time.perf_counter()
        while words.encode() not in self._words:
            if self.process.poll() is not None or time.perf_counter() - start > PATIENCE:
                raise Broken(f"the command never said {words!r}")
            time.sleep(0.02)

    def end(self) -> None:
        """Leave no process and no open terminal behind."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self._reader.join(5)
        os.close(self._read)

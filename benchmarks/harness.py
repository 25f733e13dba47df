"""How a figure is measured, judged and written down; no case of its own lives here.

A benchmark is a module `bench_NAME.py` with a `TITLE` and a `run(options)` that yields rows as they are
ready. A measurement runs in a fresh process, so no case warms or fattens another one.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 1.2
"""A figure asked for counts as missed when it is exceeded by more than 20%."""
MEGABYTE = 1e6
REPEATS = 3
LIBRARIES = ("numpy", "numba", "pyarrow", "pandas", "pyspark", "scipy")


# --- rows ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number and, where one was asked for, the most it may be."""

    measured: float
    unit: str
    asked: float | None = None

    @property
    def missed(self) -> bool:
        return self.asked is not None and not self.measured <= self.asked * TOLERANCE

    def __str__(self) -> str:
        text = f"{short(self.measured)} {self.unit}".strip()
        if self.asked is None:
            return text
        verdict = "MISSED" if self.missed else "ok" if self.measured <= self.asked else "within 20%"
        return f"{text} (asked {self.asked:g}: {verdict})"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table; `not_run` says why there are no cells, `broken` that it should have run."""

    table: str
    case: str
    cells: Mapping[str, Figure | str] = field(default_factory=dict)
    not_run: str | None = None
    broken: bool = False

    @property
    def missed(self) -> bool:
        return self.broken or any(isinstance(cell, Figure) and cell.missed for cell in self.cells.values())


@dataclass(frozen=True, slots=True)
class Options:
    """What every benchmark is told: `quick` leaves out the large cases and repeats nothing."""

    scratch: Path
    quick: bool = False

    @property
    def repeats(self) -> int:
        return 1 if self.quick else REPEATS


class NotRun(Exception):  # noqa: N818 - a case that cannot run here is not a fault
    """Raised by a case that cannot run on this machine; the message is the reason."""


class Broken(NotRun):
    """Raised by a case that started and failed: its figures count as missed."""


def attempt(table: str, case: str, work: Callable[[], Mapping[str, Figure | str]]) -> Row:
    """The row of one case: its cells, or the reason why there are none."""
    try:
        return Row(table, case, work())
    except NotRun as reason:
        return Row(table, case, not_run=str(reason), broken=isinstance(reason, Broken))
    except Exception as error:  # a fault in one case must not lose the figures of all others
        return Row(table, case, not_run=last_line(f"{type(error).__name__}: {error}"), broken=True)


def short(number: float) -> str:
    """Three figures, thousands apart.

    >>> short(0.01234), short(5.236), short(21659.0)
    ('0.0123', '5.24', '21,659')
    """
    if number >= 100 or number == int(number):
        return f"{number:,.0f}"
    return f"{number:.3g}"


def fit_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The e of seconds ~ size^e, by least squares on logarithms.

    >>> round(fit_exponent([1, 2, 4], [3, 12, 48]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


# --- measuring inside a process of its own ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Measurement:
    """The best times of some runs and the most that the process grew by in any of them."""

    seconds: float
    megabytes: float
    result: Any
    processor_seconds: float = 0.0


def measure(work: Callable[[], Any], repeats: int, give_up_after: float = float("inf")) -> Measurement:
    """Run `work` up to `repeats` times (fewer once `give_up_after` seconds are spent).

    Memory is the PEAK GROWTH of this process: the high-water mark of its resident memory during the runs
    less what was resident just before. The mark is set back first (Linux: 5 into clear_refs), because
    otherwise a peak reached while importing or reading the input would hide the same amount of growth; and
    free heap is given back, so that it cannot be used again unseen.
    """
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    before = _status_bytes("VmRSS")
    times: list[float] = []
    used: list[float] = []
    result = None
    while len(times) < repeats and (not times or sum(times) < give_up_after):
        result = None  # two results at once would count as growth
        start, processor = time.perf_counter(), time.process_time()
        result = work()
        times.append(time.perf_counter() - start)
        used.append(time.process_time() - processor)
    return Measurement(min(times), (_status_bytes("VmHWM") - before) / MEGABYTE, result, min(used))


def _status_bytes(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise NotRun(f"this system does not tell {name} of a process")


def in_child(target: str, **arguments: Any) -> dict[str, Any]:
    """Call `bench_x:function` with JSON arguments in a fresh interpreter; its JSON answer."""
    command = [sys.executable, "-m", "benchmarks", "--child", target, json.dumps(arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise Broken(f"{target} failed: {last_line(done.stderr)}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def last_line(text: str) -> str:
    """The line that tells what went wrong: the last one naming an error, else the last of all."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if "Error: " in line] or lines
    return named[-1].replace(str(ROOT), ".").replace("|", "/") if named else "no message"


# --- measuring a whole command ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CommandRun:
    """A finished command: wall time, peak of resident memory over its process tree, processor time.

    Processor time far below wall time on a one-core task tells that the machine was busy with other things.
    """

    seconds: float
    megabytes: float
    returncode: int
    stdout: str
    stderr: str
    processor_seconds: float = 0.0


def topicloom_command(*arguments: str) -> list[str]:
    """The installed `topicloom` beside this interpreter; `NotRun` when there is none."""
    program = Path(sys.executable).with_name("topicloom")
    if not program.exists() or not (ROOT / "src" / "topicloom" / "cli" / "main.py").exists():
        raise NotRun("the topicloom command is not installed beside this interpreter")
    return [str(program), *arguments]


def run_command(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
    adopt: bool = False,
) -> CommandRun:
    """Run a command to its end while sampling the memory of its process tree ten times a second.

    Resident memory is summed over the processes, so pages they share count more than once: the sum is an
    upper bound. With `adopt` processor time counts what the command leaves behind too, such as a Java that
    is still stopping; wall time does not.
    """
    import psutil  # type: ignore[import-untyped]

    if adopt:
        _become_reaper()
    used = _children_seconds()
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    peak = 0

    def sample() -> None:
        nonlocal peak
        with suppress(psutil.Error):
            root = psutil.Process(process.pid)
            while process.poll() is None:
                peak = max(peak, tree_bytes(root))
                time.sleep(0.1)

    watcher = threading.Thread(target=sample, daemon=True)
    watcher.start()
    stdout, stderr = process.communicate()
    seconds = time.perf_counter() - start
    watcher.join()
    if adopt:
        _wait_for_orphans()
    used = _children_seconds() - used
    return CommandRun(seconds, peak / MEGABYTE, process.returncode, stdout, stderr, used)


PR_SET_CHILD_SUBREAPER = 36


def _become_reaper() -> None:
    """Have Linux hand orphans below this process to it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _wait_for_orphans(most: float = 60.0) -> None:
    """Wait until no process is left below this one: only then is their processor time told."""
    end = time.monotonic() + most
    with suppress(ChildProcessError):
        while time.monotonic() < end:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.05)


def _children_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def tree_bytes(root: Any) -> int:
    """Resident bytes of a process and all below it; those that end meanwhile count nothing."""
    import psutil

    total = 0
    for process in [root, *root.children(recursive=True)]:
        with suppress(psutil.Error):
            total += process.memory_info().rss
    return total


def checked(run: CommandRun, expected: int = 0) -> CommandRun:
    """`run` itself if it ended with the expected exit code, otherwise `Broken` with its last words."""
    if run.returncode != expected:
        raise Broken(f"exit {run.returncode} instead of {expected}: {last_line(run.stderr)}")
    return run


def json_of(run: CommandRun) -> dict[str, Any]:
    """The JSON object on the last line of a command's output; `Broken` if there is none."""
    try:
        answer: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        raise Broken(f"no JSON came out: {last_line(run.stderr)}") from None
    return answer


# --- tables and the results file -------------------------------------------------------------------


def machine() -> str:
    """Cores, memory, processor and versions: what a reader needs to judge the figures, nothing more."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    model = platform.machine()
    with suppress(OSError):
        names = [s for s in Path("/proc/cpuinfo").read_text().splitlines() if s.startswith("model name")]
        model = names[0].split(":", 1)[1].strip() if names else model
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return f"{cores} cores, {memory:.0f} GiB, {model}; Python {platform.python_version()}, {libraries}."


def table_lines(rows: Sequence[Row]) -> Iterator[str]:
    """The rows as Markdown, a heading before each change of table."""
    table, columns = None, []
    for row in rows:
        if row.table != table:
            table = row.table
            columns = list(dict.fromkeys(name for r in rows if r.table == table for name in r.cells))
            columns = columns or ["result"]
            yield from ("", f"### {table}", "", f"| case | {' | '.join(columns)} |")
            yield f"|---|{'---|' * len(columns)}"
        if row.not_run is not None:
            yield f"| {row.case} | NOT RUN: {row.not_run} |{' |' * (len(columns) - 1)}"
        else:
            yield f"| {row.case} | {' | '.join(str(row.cells.get(name, '')) for name in columns)} |"


def section(name: str, title: str, command: str, rows: Sequence[Row]) -> str:
    """What RESULTS.md says about one benchmark."""
    return "\n".join([f"## {name}: {title}", "", f"Made by `{command}`.", *table_lines(rows), ""])


def write_results(path: Path, sections: Mapping[str, str]) -> None:
    """Write RESULTS.md; sections not run now are kept if they were made on the same machine."""
    header = f"# Measured figures\n\nWritten by `make bench`; do not edit. {machine()}\n"
    kept: dict[str, str] = {}
    if path.exists():
        top, *old = path.read_text(encoding="utf-8").split("\n## ")
        if top.strip() == header.strip():
            kept = {text.split(":", 1)[0]: f"## {text.rstrip()}\n" for text in old}
    merged = {**kept, **sections}
    body = "\n".join(merged[name] for name in sorted(merged))
    path.write_text(f"{header}\n{body}", encoding="utf-8")

"""What the user sees: progress bars and messages on stderr, results on stdout. The clock lives here."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Annotated, Any, ClassVar

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from topicloom.base.first_use import told
from topicloom.base.summaries import Summary, plain, to_json
from topicloom.cli.option_names import in_options
from topicloom.cli.timings import Timings

# Identifiers are opaque: `[red]` and `:smile:` in one are text, not orders to the terminal.
PLAIN: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}


@dataclass(frozen=True)
class Screen:
    """What a command shows, and the options about it: `working` is for the work below, `report` ends it."""

    PANEL: ClassVar[str] = "Output"

    json: Annotated[bool, "Print one JSON object on stdout and nothing else there."] = False
    quiet: Annotated[bool, "Only errors, and notices that must not be missed (and --json)."] = False
    timings: Annotated[bool, "Tell on stderr where the time went; with --json also under that key."] = False

    @cached_property
    def err(self) -> Console:
        return Console(stderr=True, soft_wrap=True, **PLAIN)

    @cached_property
    def clock(self) -> Timings:
        return Timings()

    def say(self, text: str) -> None:
        """Make a remark on stderr."""
        if not self.quiet:
            self.notice(text)

    def notice(self, text: str) -> None:
        """Tell on stderr what must not be missed, even when quiet."""
        self.err.print(in_options(text))

    def report(
        self,
        summary: Summary,
        *parts: Any,
        holds: bool = True,
        why: Sequence[str] = (),
        always: bool = False,
    ) -> None:
        """Print the result on stdout, its parts for people or as one JSON object.

        Where what it should prove does not hold, say why and leave with exit code 1. When quiet, a result
        for people is only shown if it is bad, or `always`.
        """
        if self.timings:
            self.err.print(self.clock.told())
        if self.json:
            more = {"timings": self.clock.figures()} if self.timings else {}
            sys.stdout.write(to_json(plain(summary) | more).decode() + "\n")
            sys.stdout.flush()
        elif always or not (self.quiet and holds):
            out = Console(soft_wrap=not sys.stdout.isatty(), **PLAIN)
            for part in parts:
                out.print(part)
        if not holds:
            for line in why:
                self.notice(line)
            raise typer.Exit(1)

    @contextmanager
    def working(self) -> Iterator[Bars]:
        """Draw progress bars while the block runs."""
        columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=30)
        hidden = self.quiet or not self.err.is_terminal
        bars = Progress(*columns, _Done(), _Left(), console=self.err, transient=True, disable=hidden)
        with bars as drawn, told(lambda remark: self.say(f"{remark}; `topicloom warm --all` does it ahead")):
            self.clock.begin("read")  # until the work names its first phase
            yield Bars(drawn, self.clock)
            self.clock.begin(None)


LAST = 99.0  # percent: what is left then, writing for instance, cannot be told from what was


class _Done(ProgressColumn):
    """How much is done: of a count of things so many of all, otherwise the share."""

    def render(self, task: Task) -> Text:
        if not task.total:
            return Text("")
        if task.total >= 2 and float(task.total).is_integer():
            return Text(f"{int(task.completed + 1e-6):,} of {int(task.total):,}")
        return Text(f"{task.percentage:>3.0f}%")


class _Left(ProgressColumn):
    """How long it has taken and, once that can be told, how long it will still take."""

    def render(self, task: Task) -> Text:
        text = f"{_clock(task.elapsed)} so far"
        if task.total and task.percentage >= LAST:
            text += ", nearly done"
        elif task.total and task.completed and task.elapsed:
            # From the whole phase: groups may be minutes apart, longer than rich looks back.
            left = task.elapsed * (task.total - task.completed) / task.completed
            text += f", about {_clock(left)} left"
        return Text(text)


def _clock(seconds: float | None) -> str:
    return str(timedelta(seconds=round(seconds or 0)))


class Bars:
    """A `topicloom.base.progress.Progress` drawn by rich: one bar per phase, the clock included."""

    def __init__(self, drawn: Progress, clock: Timings) -> None:
        self._drawn, self._clock = drawn, clock
        self._task: TaskID | None = None

    def now(self) -> float:
        return time.monotonic()

    def phase(self, name: str, total: float | None = None) -> None:
        self._clock.begin(name)
        if self._task is not None:
            self._drawn.remove_task(self._task)
        self._task = self._drawn.add_task(name, total=total)

    def advance(self, amount: float = 1) -> None:
        if self._task is not None:
            self._drawn.advance(self._task, amount)

    def should_stop(self) -> bool:
        return False  # Ctrl-C arrives as KeyboardInterrupt


def table(title: str | None, columns: list[tuple[str, str]], rows: list[list[str]]) -> Table:
    """Return a plain table: columns are (heading, "left" or "right")."""
    drawn = Table(title=title, title_justify="left", title_style="bold", header_style="", box=SIMPLE_HEAD)
    drawn.padding = (0, 0, 0, 1)
    for heading, side in columns:
        right = side == "right"
        drawn.add_column(heading, justify="right" if right else "left", no_wrap=right, vertical="top")
    for row in rows:
        drawn.add_row(*map(Text, row))
    return drawn

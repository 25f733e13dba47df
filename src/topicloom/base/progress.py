"""How long work reports itself and learns that it should stop.

Only the command line and the Python interface own a clock; everything below is handed a `Progress`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from topicloom.errors import Interrupted


class Progress(Protocol):
    """What a worker may say and ask."""

    def now(self) -> float:
        """Return seconds on some steady clock."""

    def phase(self, name: str, total: float | None = None) -> None:
        """Begin a new named stage; `total` is its amount of work, None if unknown."""

    def advance(self, amount: float = 1) -> None:
        """Report that so much of the current phase is done."""

    def should_stop(self) -> bool:
        """Return True once the user asked to stop."""


class Silent:
    """Reports nothing, never stops; tells the time only if it was given a clock."""

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self._clock = clock

    def now(self) -> float:
        return self._clock() if self._clock else 0.0

    def phase(self, name: str, total: float | None = None) -> None:
        pass

    def advance(self, amount: float = 1) -> None:
        pass

    def should_stop(self) -> bool:
        return False


SILENT = Silent()


class QuietProgress(Silent):
    """Progress of small work inside larger work: knows the time and when to stop, reports nothing."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(progress.now)
        self._progress = progress

    def should_stop(self) -> bool:
        return self._progress.should_stop()


def check_stop(progress: Progress) -> None:
    """Raise `Interrupted` if the user asked to stop."""
    if progress.should_stop():
        raise Interrupted("stopped on request; nothing was written")


@dataclass(slots=True)
class Stopwatch:
    """Collects how long each named phase took, by the clock of a `Progress`."""

    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str, total: float | None = None, shown: str | None = None) -> Iterator[None]:
        """Time the block under `name`; the user sees `shown`, if it is given."""
        self.progress.phase(shown or name, total)
        start = self.progress.now()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + self.progress.now() - start

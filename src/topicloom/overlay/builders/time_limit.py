"""When a local search has to end: by a clock, or by what its moves are taken to cost where there is none."""

from __future__ import annotations

import math

from topicloom.base.first_use import seconds_compiled
from topicloom.base.progress import Progress

CHARGE = 3e-5  # seconds that a move is charged; about what it takes on a thousand nodes


class TimeLimit:
    """So many seconds from now on, 0 for no limit, by the caller's clock; it stands while kernels compile.

    A caller without a clock (its `now` stands still) is charged for moves instead, so that a search that
    only time ends comes to an end for everybody.

    >>> from topicloom.base.progress import SILENT
    >>> limit = TimeLimit(1.0, SILENT)
    >>> limit.charge(20_000), limit.over, limit.charge(20_000), limit.over
    (None, False, None, True)
    """

    def __init__(self, seconds: float, progress: Progress) -> None:
        self.seconds = seconds if seconds > 0 else math.inf
        self.progress = progress
        self.start = self._now()
        self.charged = 0.0

    def charge(self, moves: int) -> None:
        """Count so many moves."""
        self.charged += CHARGE * moves

    @property
    def over(self) -> bool:
        """Has the time passed?"""
        passed = self._now() - self.start
        return (passed if passed > 0 else self.charged) > self.seconds

    def _now(self) -> float:
        return self.progress.now() - seconds_compiled()

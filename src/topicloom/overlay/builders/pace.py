"""Turns what a greedy build has done into the share of its time that has passed.

The first edges join many topics each and come quickly, the last ones join one topic and take long to find;
a bar that counted joins would promise the end far too early.
"""

from __future__ import annotations

from topicloom.base.progress import Progress
from topicloom.overlay.model.interest import Interest


def count_joins(interest: Interest) -> int:
    """How many components of topics must be joined until every topic has one."""
    return interest.n_subscriptions - int((interest.topic_sizes() > 0).sum())


class Pace:
    """A `Progress` of total 1 for one build of `total` joins.

    The first scan of all rows is taken for `scan_share` of the time. With j the share of joins done, the
    share of the remaining time is taken for 1 - (1 - j) ** (1 / bend). Both constants were fitted to builds
    of 8,000 to 100,000 nodes.
    """

    def __init__(self, progress: Progress, total: int, *, scan_share: float, bend: float) -> None:
        self._progress = progress
        self.total = max(total, 1)
        self._scan_share = scan_share
        self._bend = bend
        self.rows = 1
        self._scanned = 0.0
        self._joined = 0
        self._shown = 0.0
        self.now = progress.now
        self.should_stop = progress.should_stop

    def phase(self, name: str, total: float | None = None) -> None:
        """Phases are the builder's affair, not the engine's."""

    def advance(self, amount: float = 1) -> None:
        """So many of all `rows` have been scanned; scans after the first change nothing."""
        self._scanned = min(self._scanned + amount / self.rows, 1.0)
        self._show()

    def joined(self, count: int) -> None:
        """So many joins of components more are done; the first scan is over."""
        self._scanned = 1.0
        self._joined += count
        self._show()

    def _show(self) -> None:
        left = max(1.0 - self._joined / self.total, 0.0)
        chosen = 1.0 - left ** (1.0 / self._bend)
        share = self._scan_share * self._scanned + (1.0 - self._scan_share) * chosen
        if share > self._shown:
            self._progress.advance(share - self._shown)
            self._shown = share

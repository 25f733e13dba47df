"""How builders report progress: estimated shares of time, and parts of larger work."""

from __future__ import annotations

from collections.abc import Callable

from topicloom.base.progress import Progress, QuietProgress
from topicloom.overlay.model.interest import Interest


def count_joins(interest: Interest) -> int:
    """Return how many joins of topic components it takes until every topic has one component."""
    return interest.n_subscriptions - int((interest.topic_sizes() > 0).sum())


class ShareOfProgress(QuietProgress):
    """Progress of one of several pieces of work: its 1 is `share` of the whole; stops once `left()`."""

    def __init__(self, progress: Progress, share: float, left: Callable[[], bool]) -> None:
        super().__init__(progress)
        self._share, self._left = share, left

    def advance(self, amount: float = 1) -> None:
        self._progress.advance(amount * self._share)

    def should_stop(self) -> bool:
        return self._left() or super().should_stop()


class GreedyProgress(QuietProgress):
    """Progress of total 1 for one greedy build of `total` joins, as an estimate of the time that has passed.

    The first edges join many topics each and come quickly, the last ones join one and take long to find, so a
    bar that counted joins would promise the end far too early. The first scan of all rows counts as
    `scan_share` of the time; of the rest 1 - (1 - j) ** (1 / bend) has passed, j being the share of joins
    done. Both constants were fitted to builds of 8,000 to 100,000 nodes.
    """

    def __init__(self, progress: Progress, total: int, *, scan_share: float, bend: float) -> None:
        super().__init__(progress)
        self.total = max(total, 1)
        self.rows = 1
        self._scan_share, self._bend = scan_share, bend
        self._scanned, self._joined, self._shown = 0.0, 0, 0.0

    def advance(self, amount: float = 1) -> None:
        """Count rows as scanned; scans after the first of all `rows` change nothing."""
        self._scanned = min(self._scanned + amount / self.rows, 1.0)
        self._show()

    def joined(self, count: int) -> None:
        """Count joins of components as done; the first scan is over."""
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

"""How many topics each node wants: a fixed number or a uniform integer. Drawing lives in the kernel."""

from __future__ import annotations

import re
from dataclasses import dataclass

from topicloom.errors import UsageError

_FORM = re.compile(r"([0-9]{1,9})(?::([0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Subscription sizes: every integer from `low` to `high`, both included, equally likely.

    >>> Sizes.parse("10:90"), str(Sizes.parse("10"))
    (Sizes(low=10, high=90), '10')
    """

    low: int
    high: int

    @classmethod
    def parse(cls, text: str | int) -> Sizes:
        """From `10` (fixed) or `10:90` (uniform, both ends included)."""
        match = _FORM.fullmatch(str(text))
        if match is None:
            raise UsageError(
                f"`subscriptions={text!r}` is not a size; use one number such as 10, or 10:90 for a uniform "
                "size from 10 to 90"
            )
        low = int(match[1])
        high = low if match[2] is None else int(match[2])
        if low < 1:
            raise UsageError(f"`subscriptions={text!r}`: a node wants at least 1 topic; start at 1")
        if high < low:
            raise UsageError(f"`subscriptions={text!r}`: {low} is more than {high}; use {high}:{low}")
        return cls(low, high)

    def check_topics(self, n_topics: int) -> None:
        """Refuse sizes that cannot be drawn from `n_topics` distinct topics."""
        if self.high > n_topics:
            raise UsageError(
                f"`subscriptions={self}`: a node cannot want {self.high} distinct topics of `topics` "
                f"{n_topics}; use at most {n_topics}"
            )

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}:{self.high}"

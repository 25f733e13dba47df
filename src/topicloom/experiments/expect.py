"""What a paper's number allows: a value with a tolerance, a bound, or a range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

LEAST = 1e-6  # a smaller tolerance is none: it is for rounding


class Expected(Protocol):
    """A printed number: who may differ from it by how much."""

    @property
    def printed(self) -> float | str:
        """What the paper prints."""

    def holds(self, ours: float) -> bool:
        """Return whether our number agrees."""

    def told(self, ours: float) -> str:
        """Say how far our number is from the printed one."""


@dataclass(frozen=True, slots=True)
class Near:
    """A number, right within a share `rel` of it or a distance `abs`, whichever is larger.

    >>> Near(10.0, rel=0.02).holds(10.1), Near(10.0).holds(10.1), Near(10.0, rel=0.02).told(11.0)
    (True, False, '+10.0%, 2% allowed')
    """

    value: float
    rel: float = 0.0
    abs: float = 1e-9

    @property
    def printed(self) -> float:
        return float(self.value)

    def holds(self, ours: float) -> bool:
        return abs(ours - self.value) <= max(self.rel * abs(self.value), self.abs)

    def told(self, ours: float) -> str:
        if ours == self.value:
            return "equal"
        off = f"{100 * (ours / self.value - 1):+.1f}%" if self.rel else f"{ours - self.value:+.3g}"
        allowed = f"{100 * self.rel:g}%" if self.rel else f"{self.abs:g}" if self.abs >= LEAST else "nothing"
        return f"{off}, {allowed} allowed"


@dataclass(frozen=True, slots=True)
class Between:
    """A range, its ends included; `text` is how the paper puts it.

    >>> Between(2.0, 3.0).holds(3.0), Between(high=3.0).printed, Between(low=1.0, text="more").told(2.0)
    (True, 'at most 3', 'within')
    """

    low: float = float("-inf")
    high: float = float("inf")
    text: str = ""

    @property
    def printed(self) -> str:
        if self.text:
            return self.text
        if self.low == float("-inf"):
            return f"at most {self.high:g}"
        return f"at least {self.low:g}" if self.high == float("inf") else f"{self.low:g} to {self.high:g}"

    def holds(self, ours: float) -> bool:
        return self.low <= ours <= self.high

    def told(self, ours: float) -> str:
        if self.holds(ours):
            return "within"
        end = self.high if ours > self.high else self.low
        return f"{ours - end:+.4g} from {end:g}"


def at_most(value: float, text: str = "") -> Between:
    """Return the range up to a value."""
    return Between(high=value, text=text)


def at_least(value: float, text: str = "") -> Between:
    """Return the range from a value on."""
    return Between(low=value, text=text)

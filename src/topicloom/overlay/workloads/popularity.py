"""How popular each topic is: the laws the papers draw subscriptions from, one line each in `LAWS`.

A law gives logarithms of weights, most popular topic first and never rising after it; the drawing kernel
relies on that order. Steep laws have weights far below the smallest float, hence logarithms throughout.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Floats
from topicloom.errors import UsageError

# The largest exponent of `zipf` and `geometric`: beyond it every node draws the same topics anyway.
STEEPEST = 1000.0


@dataclass(frozen=True, slots=True)
class Law:
    """One family of laws: what its parameter may be, and the log weights of `n` topics under it."""

    symbol: str
    allowed: str
    low: float
    high: float
    log_weights: Callable[[float, int], Floats]


def _zipf(exponent: float, n_topics: int) -> Floats:
    return -exponent * np.log(np.arange(1, n_topics + 1, dtype=np.float64))


def _geometric(rate: float, n_topics: int) -> Floats:
    return -rate * np.arange(1, n_topics + 1, dtype=np.float64)


def _exponential(share: float, n_topics: int) -> Floats:
    return _geometric(exponential_rate(share, n_topics), n_topics)


def _uniform(_: float, n_topics: int) -> Floats:
    return np.zeros(n_topics)


_BELOW_ONE = math.nextafter(1.0, 0.0)

LAWS: dict[str, Law] = {
    # [Chockler2007a, 8] and [Chockler2007b, 3.1]: p_i ~ 1 / i^A.
    "zipf": Law("A", f"a number from 0 to {STEEPEST:g}", 0.0, STEEPEST, _zipf),
    # [Chockler2007a, 8] and [Chockler2007b, 3.1] ("NYSE"): the 10% most popular topics have total
    # probability S.
    "exponential": Law("S", "a number between 0 and 1", math.nextafter(0.0, 1.0), _BELOW_ONE, _exponential),
    # [Chen2010, VI] calls this one exponential: p_i ~ e^(-R i).
    "geometric": Law("R", f"a number from 0 to {STEEPEST:g}", 0.0, STEEPEST, _geometric),
    "uniform": Law("", "", 0.0, 0.0, _uniform),
}


@dataclass(frozen=True, slots=True)
class Popularity:
    """A law with its parameter.

    >>> str(Popularity.parse("zipf:0.50")), Popularity.parse("zipf:1").probabilities(3).round(3).tolist()
    ('zipf:0.5', [0.545, 0.273, 0.182])
    """

    law: str
    value: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Popularity:
        """From `uniform`, `zipf:A`, `exponential:S` or `geometric:R`."""
        name, colon, number = text.partition(":")
        law = LAWS.get(name)
        if law is None or bool(law.symbol) != bool(colon):
            raise UsageError(f"`popularity={text!r}` is not a law; use {allowed_laws()}")
        if not law.symbol:
            return cls(name)
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not law.low <= value <= law.high:
            raise UsageError(f"`popularity={text!r}`: {law.symbol} in {name}:{law.symbol} is {law.allowed}")
        return cls(name, value)

    def check_topics(self, n_topics: int) -> None:
        """Refuse a share that the law cannot give to a tenth of so many topics."""
        if self.law == "exponential":
            exponential_rate(self.value, n_topics)

    def log_weights(self, n_topics: int) -> Floats:
        """Logarithms of unnormalised probabilities, most popular topic first."""
        return LAWS[self.law].log_weights(self.value, n_topics)

    def probabilities(self, n_topics: int) -> Floats:
        """The probability of each topic in a first draw; the far tail of a steep law may read 0."""
        weights = np.exp(self.log_weights(n_topics) - self.log_weights(n_topics).max(initial=-np.inf))
        return np.asarray(weights / weights.sum())

    def __str__(self) -> str:
        return f"{self.law}:{self.value:g}" if LAWS[self.law].symbol else self.law


def allowed_laws() -> str:
    """The laws as a user writes them: `zipf:A, exponential:S, ...`."""
    return ", ".join(f"{name}:{law.symbol}" if law.symbol else name for name, law in LAWS.items())


def exponential_rate(share: float, n_topics: int) -> float:
    """The c of p_i ~ e^(-ci) that gives the most popular 10% of topics (rounded up) the total `share`.

    >>> round(exponential_rate(0.55, 100), 4)
    0.0798
    """
    head = -(-n_topics // 10)
    if head == n_topics:
        return 0.0  # one topic: it has everything under any rate
    if share < head / n_topics:
        raise UsageError(
            f"`popularity=exponential:{share:g}` cannot be had with `topics={n_topics}`: the {head} most "
            f"popular topics have at least {head / n_topics:.4g} of the probability; use a larger share"
        )
    low, high = 0.0, 1.0
    while _head_share(high, head, n_topics) < share:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if _head_share(middle, head, n_topics) < share else (low, middle)
    return high


def _head_share(rate: float, head: int, n_topics: int) -> float:
    if rate == 0.0:
        return head / n_topics
    return math.expm1(-rate * head) / math.expm1(-rate * n_topics)

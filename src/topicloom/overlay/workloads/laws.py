"""The laws of a workload: how popular each topic is (one line each in `LAWS`), how many topics a node wants.

A law of popularity gives logarithms of weights, most popular topic first and never rising after it; the
drawing kernel relies on that order. Steep laws have weights far below the smallest float, hence logarithms.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Floats, Longs
from topicloom.errors import UsageError
from topicloom.overlay.kernels.draw import draw_sizes

STEEPEST = 1000.0  # the largest exponent: beyond it every node draws the same topics anyway
LOGNORMAL = "lognormal:"
WIDEST = 10.0  # the largest sigma
DRAWN = 1 << 40  # uniform numbers are drawn from so many
_SIZES = re.compile(r"([0-9]{1,9})(?::([0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class Law:
    """One family of laws: what its parameter may be, and the log weights of topics 1, 2, ... under it."""

    symbol: str
    allowed: str
    low: float
    high: float
    log_weights: Callable[[float, Floats], Floats]


def _exponential(share: float, ranks: Floats) -> Floats:
    return -exponential_rate(share, len(ranks)) * ranks


_UP_TO = f"a number from 0 to {STEEPEST:g}"
_ABOVE_0, _BELOW_1 = math.nextafter(0.0, 1.0), math.nextafter(1.0, 0.0)

LAWS: dict[str, Law] = {
    # [Chockler2007a, 8] and [Chockler2007b, 3.1]: p_i ~ 1 / i^A.
    "zipf": Law("A", _UP_TO, 0.0, STEEPEST, lambda exponent, ranks: -exponent * np.log(ranks)),
    # [Chockler2007a, 8] and [Chockler2007b, 3.1] ("NYSE"): the 10% most popular topics have total
    # probability S.
    "exponential": Law("S", "a number between 0 and 1", _ABOVE_0, _BELOW_1, _exponential),
    # [Chen2010, VI] calls this one exponential: p_i ~ e^(-R i).
    "geometric": Law("R", _UP_TO, 0.0, STEEPEST, lambda rate, ranks: -rate * ranks),
    "uniform": Law("", "", 0.0, 0.0, lambda _, ranks: np.zeros(len(ranks))),
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
        """Parse `uniform`, `zipf:A`, `exponential:S` or `geometric:R`."""
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
        """Return logarithms of unnormalised probabilities, most popular topic first."""
        return LAWS[self.law].log_weights(self.value, np.arange(1, n_topics + 1, dtype=np.float64))

    def probabilities(self, n_topics: int) -> Floats:
        """Return the probability of each topic in a first draw; the far tail of a steep law may read 0."""
        logs = self.log_weights(n_topics)
        weights = np.exp(logs - logs.max(initial=-np.inf))
        return np.asarray(weights / weights.sum())

    def __str__(self) -> str:
        return f"{self.law}:{self.value:g}" if LAWS[self.law].symbol else self.law


def allowed_laws() -> str:
    """Return the laws as a user writes them: `zipf:A, exponential:S, ...`."""
    return ", ".join(f"{name}:{law.symbol}" if law.symbol else name for name, law in LAWS.items())


def exponential_rate(share: float, n_topics: int) -> float:
    """Return the c of p_i ~ e^(-ci) that gives the most popular 10% of topics (rounded up) the total `share`.

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
        """Parse `10` (fixed), `10:90` (uniform, both ends included) or `lognormal:MEDIAN:SIGMA:LOW:HIGH`."""
        if str(text).startswith(LOGNORMAL):
            return LognormalSizes.parse(text)
        match = _SIZES.fullmatch(str(text))
        if match is None:
            raise UsageError(
                f"`subscriptions={text!r}` is not a size; use one number such as 10, or 10:90 for a uniform "
                f"size from 10 to 90, or {LOGNORMAL}MEDIAN:SIGMA:LOW:HIGH"
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

    def draw(self, key: int, start: int, stop: int) -> Longs:
        """Draw the sizes of the nodes start..stop-1."""
        return draw_sizes(key, start, stop, self.low, self.high)

    @property
    def mean(self) -> float:
        return (self.low + self.high) / 2

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}:{self.high}"


@dataclass(frozen=True, slots=True)
class LognormalSizes(Sizes):
    """Heavy-tailed sizes: logarithms are normal around that of `median`; beyond `low` and `high` is cut off.

    >>> sizes = Sizes.parse("lognormal:70:1:20:2400")
    >>> sizes, round(sizes.mean)
    (LognormalSizes(low=20, high=2400, median=70.0, sigma=1.0), 126)
    """

    median: float
    sigma: float

    @classmethod
    def parse(cls, text: str | int) -> LognormalSizes:
        """Parse `lognormal:MEDIAN:SIGMA:LOW:HIGH`."""
        try:
            median, sigma, low, high = str(text).removeprefix(LOGNORMAL).split(":")
            sizes = cls(int(low), int(high), float(median), float(sigma))
        except ValueError:
            raise UsageError(
                f"`subscriptions={text!r}`: write {LOGNORMAL}MEDIAN:SIGMA:LOW:HIGH, "
                f"such as {LOGNORMAL}70:1:20:2400"
            ) from None
        if not (1 <= sizes.low <= sizes.median <= sizes.high and 0 < sizes.sigma <= WIDEST):
            raise UsageError(
                f"`subscriptions={text!r}`: 1 <= LOW <= MEDIAN <= HIGH and 0 < SIGMA <= {WIDEST:g} are needed"
            )
        return sizes

    def shares(self) -> Floats:
        """Return the probability of each size from `low` to `high`: that of rounding to it."""
        edges = np.log(np.arange(self.low, self.high + 2) - 0.5) - math.log(self.median)
        below = np.array([math.erf(edge / (self.sigma * math.sqrt(2.0))) for edge in edges.tolist()])
        widths = np.diff(below)
        shares: Floats = widths / widths.sum()
        return shares

    def draw(self, key: int, start: int, stop: int) -> Longs:
        """Draw the sizes of the nodes start..stop-1: a uniform number each, looked up among the shares."""
        uniform = (draw_sizes(key, start, stop, 0, DRAWN - 1) + 0.5) / DRAWN
        places = np.searchsorted(np.cumsum(self.shares())[:-1], uniform)
        return (self.low + places).astype(np.int64)

    @property
    def mean(self) -> float:
        return float((self.shares() * np.arange(self.low, self.high + 1)).sum())

    def __str__(self) -> str:
        return f"{LOGNORMAL}{self.median:g}:{self.sigma:g}:{self.low}:{self.high}"

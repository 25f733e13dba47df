"""Content problems drawn at random as in [Zhao2011, VI-A], whole arrays at a time.

The content space is [0, 1), cut into equal channels. Each user publishes by a quadratic density whose
negative part is 0 and wants one interval.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs
from topicloom.base.ids import numbered_ids
from topicloom.base.seeds import generator
from topicloom.content.model.prices import Coordinates
from topicloom.content.model.problem import ContentProblem
from topicloom.errors import UsageError

ATTRIBUTE = "content"
MODELS = ("plane", "iid")
MOST = 2**31 - 1
BLOCK_CELLS = 1 << 20  # rates integrated at once; the result does not depend on it


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GeneratedContent:
    """A drawn problem; channel c is `edges[c] <= content < edges[c + 1]`. Coordinates only in the plane."""

    problem: ContentProblem
    edges: Floats
    coordinates: Coordinates | None

    def __repr__(self) -> str:
        return f"GeneratedContent({self.problem.told()})"

    def _repr_html_(self) -> str:
        return self.problem._repr_html_()


def generate_content(
    users: int,
    brokers: int,
    channels: int,
    model: str = "plane",
    ratio: float = 1.0,
    width: str | float = "uniform",
    seed: int = 0,
) -> GeneratedContent:
    """Draw a problem; `ratio` is the mean access price over the mean core price (two brokers at least).

    `width` is the mean length of the wanted intervals, or "uniform" for two uniform end points. All brokers
    have the same capacity, together twice the demand.

    >>> drawn = generate_content(50, 4, 10, ratio=3, seed=1).problem
    >>> pairs = np.triu_indices(4, 1)
    >>> round(float(drawn.access.mean() / drawn.core[pairs].mean()), 6)
    3.0
    >>> round(float(drawn.capacity.sum() / drawn.demand.sum()), 6)
    2.0
    """
    length = check_content(users, brokers, channels, model, ratio, width)
    edges = np.arange(channels + 1) / channels
    coordinates = _place(users, brokers, ratio, seed) if model == "plane" else None
    access, core = coordinates.prices() if coordinates else _independent_prices(users, brokers, ratio, seed)
    first, last = _draw_wants(users, edges, length, seed)
    problem = ContentProblem.of(
        numbered_ids("u", users),
        numbered_ids("b", brokers, digits=2),
        np.zeros(brokers),
        access,
        core,
        channels,
        rates=_draw_rates(users, edges, seed),
        wants=(np.arange(users), first, last),
    )
    capacity = np.full(brokers, 2 * problem.demand.sum() / brokers)
    return GeneratedContent(replace(problem, capacity=capacity), edges, coordinates)


def check_content(
    users: int, brokers: int, channels: int, model: str, ratio: float, width: str | float
) -> float | None:
    """Refuse what cannot be drawn; return the mean length of an interval, None for two uniform end points."""
    for name, count in (("users", users), ("brokers", brokers), ("channels", channels)):
        if not isinstance(count, Integral) or not 1 <= count < MOST:
            raise UsageError(f"`{name}={count}` is out of range; use a whole number from 1 to {MOST - 1}")
    if model not in MODELS:
        raise UsageError(f"`model={model!r}` is not known; use {' or '.join(MODELS)}")
    if not isinstance(ratio, Real) or not 0 < ratio < np.inf:
        raise UsageError(f"`ratio={ratio}` is out of range; use a number above 0")
    if width == "uniform":
        return None
    try:
        length = float(width)
    except (TypeError, ValueError):
        length = 0.0
    if not 0 < length <= 1:
        raise UsageError(f"`width={width}` is no length; use uniform or a number above 0 and at most 1")
    return length


def _place(users: int, brokers: int, ratio: float, seed: int) -> Coordinates:
    """Draw users and brokers uniformly in the unit square; the ratio scales what a distance costs users."""
    drawn = Coordinates(
        generator(seed, "content", "users").random((users, 2)),
        generator(seed, "content", "brokers").random((brokers, 2)),
        np.ones(users),
    )
    scale = _access_scale(*drawn.prices(), ratio)
    return replace(drawn, user_scale=np.full(users, scale))


def _independent_prices(users: int, brokers: int, ratio: float, seed: int) -> tuple[Floats, Floats]:
    """Draw independent prices; between 1 and 2 no detour is ever cheaper."""
    access = generator(seed, "content", "access").uniform(1, 2, (users, brokers))
    core = np.zeros((brokers, brokers))
    pairs = np.triu_indices(brokers, 1)
    core[pairs] = generator(seed, "content", "core").uniform(1, 2, len(pairs[0]))
    core += core.T.copy()
    access *= _access_scale(access, core, ratio)
    return access, core


def _access_scale(access: Floats, core: Floats, ratio: float) -> float:
    """Return the factor of the access prices that makes mean access price / mean core price = ratio."""
    n = len(core)
    mean_core = core.sum() / (n * (n - 1)) if n > 1 else 0.0
    # One broker has no core prices: the ratio then scales the access prices as they are.
    return float(ratio * mean_core / access.mean()) if mean_core > 0 else ratio


def _draw_wants(users: int, edges: Floats, length: float | None, seed: int) -> tuple[Longs, Longs]:
    """Draw the first and last channel of each user's interval: the fewest channels that cover it."""
    stream = generator(seed, "content", "wants")
    ends = stream.random((users, 2))
    if length is None:
        low, high = ends.min(axis=1), ends.max(axis=1)
    else:
        # With a mean above one half lengths cannot begin at 0: they must stay below the whole space.
        shortest, longest = max(0.0, 2 * length - 1), min(1.0, 2 * length)
        size = shortest + ends[:, 0] * (longest - shortest)
        low = ends[:, 1] * (1 - size)
        high = low + size
    first = np.searchsorted(edges, low, side="right") - 1
    last = np.searchsorted(edges, high, side="left") - 1
    return first, np.clip(last, first, len(edges) - 2)


def _draw_rates(users: int, edges: Floats, seed: int) -> tuple[Ints, Ints, Floats]:
    """Draw user, channel and rate of everything published: exact integrals of the clipped quadratics."""
    # The values at 0, 1/2 and 1 are drawn, not the coefficients, so humps and dips lie anywhere.
    values = generator(seed, "content", "rates").uniform(-1, 1, (users, 3))
    start, middle, end = values.T
    square, linear = 2 * (start + end) - 4 * middle, 4 * middle - 3 * start - end
    step = max(BLOCK_CELLS // len(edges), 1)
    parts: list[tuple[Any, Any, Any]] = []
    for first in range(0, users, step):
        block = slice(first, first + step)
        rates = channel_rates(square[block], linear[block], start[block], edges)
        user, channel = np.nonzero(rates)
        parts.append(((user + first).astype(np.int32), channel.astype(np.int32), rates[user, channel]))
    columns = zip(*parts, strict=True)
    user_column, channel_column, rate_column = (np.concatenate(column) for column in columns)
    return user_column, channel_column, rate_column


def channel_rates(square: Floats, linear: Floats, constant: Floats, edges: Floats) -> Floats:
    """Integrate max(0, square x^2 + linear x + constant) between neighboring edges within [0, 1].

    Exact, not by midpoints: the roots cut [0, 1] into three parts of one sign each.

    >>> channel_rates(np.array([0.0]), np.array([1.0]), np.array([-0.5]), np.array([0, 0.25, 0.75, 1]))
    array([[0.     , 0.03125, 0.09375]])
    """
    cuts = np.column_stack([np.zeros(len(square)), _roots(square, linear, constant), np.ones(len(square))])
    integral = np.zeros((len(square), len(edges)))
    for left, right in zip(cuts.T[:-1], cuts.T[1:], strict=True):
        centre = (left + right) / 2
        positive = (square * centre + linear) * centre + constant > 0
        reach = np.clip(edges, left[:, None], right[:, None])
        value = ((square / 3)[:, None] * reach + (linear / 2)[:, None]) * reach + constant[:, None]
        value *= reach
        value -= (((square / 3 * left + linear / 2) * left + constant) * left)[:, None]
        value *= positive[:, None]
        integral += value
    return np.maximum(np.diff(integral, axis=1), 0.0)


def _roots(square: Floats, linear: Floats, constant: Floats) -> Floats:
    """Return the two real roots, ascending, moved into [0, 1]; 0 for one that does not exist."""
    inside = linear * linear - 4 * square * constant
    half = -0.5 * (linear + np.copysign(np.sqrt(np.maximum(inside, 0.0)), linear))
    # Of the two usual formulas each root takes the one that subtracts no nearly equal numbers.
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = np.column_stack([half / square, constant / half])
    roots = np.where((inside < 0)[:, None] | ~np.isfinite(roots), 0.0, roots)
    return np.sort(np.clip(roots, 0.0, 1.0), axis=1)

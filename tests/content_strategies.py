"""Random content problems for property tests: small, with idle users, unwanted channels and full brokers."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from topicloom.content.model.problem import ContentProblem

PRICES = st.integers(0, 12).map(lambda quarters: quarters / 4)
"""Quarters: sums of them are exact, so equal costs are equal to the last bit and ties do occur."""


@st.composite
def content_problems(
    draw: st.DrawFn, max_users: int = 8, max_brokers: int = 5, max_channels: int = 6
) -> ContentProblem:
    """A problem whose brokers can carry the demand together, though maybe with no fitting assignment."""
    parts = draw(content_parts(max_users, max_brokers, max_channels))
    idle = ContentProblem.of(**{**parts, "capacity": np.zeros(len(parts["brokers"]))})
    return ContentProblem.of(**{**parts, "capacity": draw(capacities(idle.demand, idle.n_brokers))})


@st.composite
def content_parts(
    draw: st.DrawFn, max_users: int = 8, max_brokers: int = 5, max_channels: int = 6
) -> dict[str, Any]:
    """What `ContentProblem.of` takes, rows in any order, without capacities."""
    n_users = draw(st.integers(1, max_users))
    n_brokers = draw(st.integers(1, max_brokers))
    n_channels = draw(st.integers(1, max_channels))
    access, core = draw(st.one_of(plane_prices(n_users, n_brokers), table_prices(n_users, n_brokers)))
    user, channel = st.integers(0, n_users - 1), st.integers(0, n_channels - 1)
    rate = st.integers(0, 8).map(lambda quarters: quarters / 4)
    # Most problems shall have traffic: left to itself, a list of this kind is often empty.
    least = draw(st.sampled_from([n_users + 1, 2 * n_users, 1, 0]))
    rates = draw(st.lists(st.tuples(user, channel, rate), min_size=least, max_size=3 * n_users + 1))
    wants = draw(st.lists(st.tuples(user, channel, channel), min_size=least, max_size=2 * n_users + 1))
    wants = [(each, min(ends), max(ends)) for each, *ends in wants]
    return {
        "users": [f"u{number}" for number in range(n_users)],
        "brokers": [f"b{number}" for number in range(n_brokers)],
        "access": access,
        "core": core,
        "n_channels": n_channels,
        "rates": columns(rates),
        "wants": columns(wants),
    }


def columns(rows: list[tuple[Any, Any, Any]]) -> tuple[list[Any], list[Any], list[Any]]:
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


@st.composite
def plane_prices(draw: st.DrawFn, n_users: int, n_brokers: int) -> tuple[Any, Any]:
    """Euclidean prices of points on a small grid; several may lie on the same spot."""
    point = st.tuples(st.integers(0, 6), st.integers(0, 6))
    users = np.array(draw(st.lists(point, min_size=n_users, max_size=n_users)), dtype=float)
    brokers = np.array(draw(st.lists(point, min_size=n_brokers, max_size=n_brokers)), dtype=float)
    scale = draw(st.sampled_from([0.25, 1.0, 4.0]))
    return scale * _between(users, brokers), _between(brokers, brokers)


@st.composite
def table_prices(draw: st.DrawFn, n_users: int, n_brokers: int) -> tuple[Any, Any]:
    """Free access prices; core prices of the cheapest ways through a free table."""
    access = draw(st.lists(PRICES, min_size=n_users * n_brokers, max_size=n_users * n_brokers))
    core = np.zeros((n_brokers, n_brokers))
    for a in range(n_brokers):
        for b in range(a):
            core[a, b] = core[b, a] = draw(PRICES)
    for via in range(n_brokers):
        for a in range(n_brokers):
            for b in range(n_brokers):
                core[a, b] = min(core[a, b], core[a, via] + core[via, b])
    return np.array(access).reshape(n_users, n_brokers), core


@st.composite
def capacities(draw: st.DrawFn, demand: Any, n_brokers: int) -> Any:
    """Plenty, twice the demand, just what some assignment needs, or the demand in uneven parts."""
    total, kind = float(demand.sum()), draw(st.sampled_from(["plenty", "twice", "tight", "uneven"]))
    if kind == "plenty":
        return np.full(n_brokers, total + 1.0)
    if kind == "twice":
        return np.full(n_brokers, 2 * total / n_brokers)
    if kind == "tight":
        broker = st.integers(0, n_brokers - 1)
        chosen = draw(st.lists(broker, min_size=len(demand), max_size=len(demand)))
        return np.bincount(chosen, weights=demand, minlength=n_brokers)
    parts = np.array(draw(st.lists(st.integers(1, 5), min_size=n_brokers, max_size=n_brokers)), dtype=float)
    return (total + 0.5) * parts / parts.sum()


def _between(points: Any, others: Any) -> Any:
    return np.sqrt(((points[:, None, :] - others[None, :, :]) ** 2).sum(axis=2))

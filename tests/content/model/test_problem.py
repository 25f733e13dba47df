"""ContentProblem.of against the definition: what is dropped, merged and counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from content_strategies import columns, content_parts, content_problems
from naive.content_demand import naive_traffic
from topicloom.content.model.problem import ContentProblem

RATES = ([0, 0, 1], [0, 1, 1], [2.0, 4.0, 1.0])


def made(parts) -> ContentProblem:
    return ContentProblem.of(**parts, capacity=[0.0] * len(parts["brokers"]))


def dense_rates(problem: ContentProblem) -> list[list[float]]:
    dense = np.zeros((problem.n_users, problem.n_channels))
    for user in range(problem.n_users):
        own = slice(problem.rate_ptr[user], problem.rate_ptr[user + 1])
        assert np.all(np.diff(problem.rate_channels[own]) > 0), "a user's channels ascend, each once"
        dense[user, problem.rate_channels[own]] = problem.rates[own]
    return dense.tolist()


def dense_wants(problem: ContentProblem) -> list[list[bool]]:
    dense = np.zeros((problem.n_users, problem.n_channels), dtype=bool)
    for user in range(problem.n_users):
        own = slice(problem.want_ptr[user], problem.want_ptr[user + 1])
        first, last = problem.want_first[own], problem.want_last[own]
        assert np.all(first <= last) and np.all(first[1:] > last[:-1] + 1), "ranges ascend and never touch"
        for start, end in zip(first, last, strict=True):
            dense[user, start : end + 1] = True
    return dense.tolist()


@given(parts=content_parts())
def test_rates_wants_and_demand_are_those_of_the_definition(parts):
    problem = made(parts)
    published, wanted, demand = naive_traffic(
        problem.n_users, problem.n_channels, parts["rates"], parts["wants"]
    )
    assert dense_rates(problem) == published
    assert dense_wants(problem) == wanted
    assert problem.demand.tolist() == pytest.approx(demand, abs=1e-12)
    assert problem.channel_rate.tolist() == [sum(column) for column in zip(*published, strict=True)]
    assert problem.channel_wanted.tolist() == [sum(column) for column in zip(*wanted, strict=True)]
    assert problem.density == pytest.approx(np.mean(wanted))
    assert np.all(problem.rates > 0), "a rate of 0 is no entry"


@given(parts=content_parts(), random=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(parts, random):
    shuffled = dict(parts)
    for name in ("rates", "wants"):
        rows = list(zip(*parts[name], strict=True))
        random.shuffle(rows)
        shuffled[name] = columns(rows)
    one, other = made(parts), made(shuffled)
    for field in ("rate_ptr", "rate_channels", "rates", "want_ptr", "want_first", "want_last", "demand"):
        assert getattr(one, field).tolist() == getattr(other, field).tolist(), field


@given(problem=content_problems())
def test_random_problems_are_metric_and_their_brokers_can_carry_the_demand(problem):
    """The strategy itself: planners under test may count on this."""
    core = problem.core
    assert np.array_equal(core, core.T) and not np.diagonal(core).any()
    assert np.all(core[:, :, None] <= (core[:, None, :] + core.T[None, :, :]) * (1 + 1e-12))
    assert problem.capacity.sum() >= problem.demand.sum() * (1 - 1e-12)


@pytest.mark.parametrize(
    ("rates", "wants"),
    [(RATES, ([0], [0], [1])), (([], [], []), ([0], [0], [1])), (RATES, ([], [], [])), (([], [], []),) * 2],
    ids=["traffic", "no rates", "no wants", "nothing"],
)
def test_arrays_have_the_same_types_with_and_without_traffic_and_cannot_be_changed(rates, wants):
    """Kernels are compiled for one set of types: an empty problem must not bring another."""
    problem = ContentProblem.of(["i", "j"], ["b"], [1], [[1], [1]], [[0]], 2, rates=rates, wants=wants)
    ints, longs, floats = np.int32, np.int64, np.float64
    kinds = {
        "capacity": floats, "access": floats, "core": floats, "rate_ptr": longs, "rate_channels": ints,
        "rates": floats, "want_ptr": longs, "want_first": ints, "want_last": ints, "channel_rate": floats,
        "channel_wanted": longs, "demand": floats,
    }  # fmt: skip
    for field, kind in kinds.items():
        array = getattr(problem, field)
        assert array.dtype == kind and not array.flags.writeable, field

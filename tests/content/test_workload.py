"""Drawn content problems: the figures they promise, exact integrals, and draws that stay what they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicloom.content.model.prices import metric_closure
from topicloom.content.workload import channel_rates, generate_content
from topicloom.errors import UsageError

EDGES = np.arange(8) / 7
COEFFICIENT = st.integers(-40, 40).map(lambda tenths: tenths / 10)


def mean_core(problem):
    return problem.core[np.triu_indices(problem.n_brokers, 1)].mean()


@given(COEFFICIENT, COEFFICIENT, COEFFICIENT)
def test_rates_are_integrals_of_the_clipped_quadratic(square, linear, constant):
    """Against a sum over 1,400 midpoints: off by less than the bend of the function at its roots allows."""
    found = channel_rates(np.array([square]), np.array([linear]), np.array([constant]), EDGES)[0]
    points = (np.arange(1400) + 0.5) / 1400
    values = np.maximum(square * points**2 + linear * points + constant, 0)
    assert found.tolist() == pytest.approx((values.reshape(7, 200).sum(axis=1) / 1400).tolist(), abs=5e-6)
    beyond = [not part.any() for part in values.reshape(7, 200)]
    assert np.all(found[beyond] < 1e-5) and np.all(found >= 0)


def test_a_known_integral_is_exact():
    """1 - (4x - 2)^2 is above 0 between 1/4 and 3/4: 1/3 in all, half of it on either side of the middle."""
    found = channel_rates(
        np.array([-16.0]), np.array([16.0]), np.array([-3.0]), np.array([0, 0.25, 0.5, 0.8, 1])
    )
    assert found[0].tolist() == pytest.approx([0, 1 / 6, 1 / 6, 0], abs=1e-15)
    assert found[0, 0] == found[0, 3] == 0


@pytest.mark.parametrize("model", ["plane", "iid"])
@pytest.mark.parametrize("ratio", [0.1, 1, 10])
def test_prices_have_the_ratio_and_are_metric(model, ratio):
    problem = generate_content(300, 12, 5, model, ratio, seed=4).problem
    assert problem.access.mean() / mean_core(problem) == pytest.approx(ratio)
    assert metric_closure(problem.core)[1] is None
    assert np.array_equal(problem.core, problem.core.T) and not np.diagonal(problem.core).any()


def test_prices_in_the_plane_are_distances_of_uniform_points():
    drawn = generate_content(2000, 50, 5, "plane", 2.0, seed=1)
    places = drawn.coordinates
    expected = places.user_scale[7] * np.hypot(*(places.users[7] - places.brokers[3]))
    assert drawn.problem.access[7, 3] == pytest.approx(expected)
    assert drawn.problem.core[2, 9] == pytest.approx(np.hypot(*(places.brokers[2] - places.brokers[9])))
    assert np.histogram2d(*places.users.T, bins=2, range=[[0, 1]] * 2)[0].min() > 430  # 500 in each quarter


def test_independent_prices_know_nothing_of_each_other():
    drawn = generate_content(4000, 3, 5, "iid", seed=1)
    assert drawn.coordinates is None
    assert np.abs(np.corrcoef(drawn.problem.access.T)[np.triu_indices(3, 1)]).max() < 0.06
    assert drawn.problem.access.max() / drawn.problem.access.min() == pytest.approx(2, rel=0.01)


def test_capacities_are_equal_and_twice_the_demand():
    problem = generate_content(100, 7, 9, seed=2).problem
    assert len(set(problem.capacity.tolist())) == 1
    assert problem.capacity.sum() == pytest.approx(2 * problem.demand.sum())


def lengths(problem):
    return (problem.want_last - problem.want_first + 1) / problem.n_channels


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "mean"), [("uniform", 1 / 3), (0.02, 0.02), ("0.5", 0.5), (0.9, 0.9), (1.0, 1.0)]
)
def test_wanted_intervals_have_the_mean_length(width, mean):
    """The cover reaches half a channel beyond either end on average."""
    problem = generate_content(6000, 2, 2000, width=width, seed=3).problem
    assert np.all(np.diff(problem.want_ptr) == 1)
    assert lengths(problem).mean() == pytest.approx(mean, rel=0.03, abs=1 / 2000)
    assert problem.density == pytest.approx(lengths(problem).mean())


@pytest.mark.parametrize("width", ["uniform", 0.4])
def test_the_cover_is_the_smallest(width):
    """The same seed draws the same intervals for any number of channels: coarse covers enclose fine ones."""
    fine = generate_content(500, 1, 4096, width=width, seed=5).problem
    coarse = generate_content(500, 1, 8, width=width, seed=5).problem
    assert coarse.want_first.tolist() == (fine.want_first // 512).tolist()
    assert coarse.want_last.tolist() == (fine.want_last // 512).tolist()


def test_users_publish_differently():
    """Some nothing at all, some everywhere, some in the middle only, some at both ends only."""
    problem = generate_content(400, 1, 10, width=1.0, seed=6).problem
    published = np.zeros((400, 10), dtype=bool)
    published[np.repeat(np.arange(400), np.diff(problem.rate_ptr)), problem.rate_channels] = True
    silent, everywhere = ~published.any(axis=1), published.all(axis=1)
    ends, middle = published[:, 0] & published[:, 9], published[:, 4]
    for kind in (silent, everywhere, ends & ~middle, middle & ~published[:, 0] & ~published[:, 9]):
        assert kind.mean() > 0.04


def test_streams_are_apart():
    """More channels or another model must not move users to other places or other wishes."""
    one, other = generate_content(50, 4, 8, seed=7), generate_content(50, 4, 16, "plane", 3.0, seed=7)
    assert np.array_equal(one.coordinates.users, other.coordinates.users)
    assert one.problem.channel_rate.sum() > 0
    assert np.array_equal(
        generate_content(50, 4, 8, "iid", seed=7).problem.want_first, one.problem.want_first
    )
    again, third = generate_content(50, 4, 8, seed=7), generate_content(50, 4, 8, seed=8)
    assert np.array_equal(again.problem.access, one.problem.access)
    assert np.array_equal(again.problem.rates, one.problem.rates)
    assert not np.array_equal(third.problem.demand, one.problem.demand)


def test_the_result_does_not_depend_on_the_blocks(monkeypatch):
    import topicloom.content.workload as content

    one = generate_content(30, 4, 8, seed=9).problem
    monkeypatch.setattr(content, "BLOCK_CELLS", 20)
    other = generate_content(30, 4, 8, seed=9).problem
    assert np.array_equal(one.rates, other.rates) and np.array_equal(one.access, other.access)


def test_names_are_padded_and_sorted():
    problem = generate_content(12, 100, 2, seed=1).problem
    assert problem.users.to_pylist()[:2] == ["u0001", "u0002"]
    assert problem.brokers.to_pylist()[::99] == ["b001", "b100"]
    assert generate_content(1, 2, 1).problem.brokers.to_pylist() == ["b01", "b02"]


@pytest.mark.parametrize("model", ["plane", "iid"])
def test_the_smallest_problem(model):
    problem = generate_content(1, 1, 1, model).problem
    assert problem.core.tolist() == [[0]] and problem.demand.tolist() == [0] and problem.access[0, 0] > 0


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"users": 0}, "`users=0"),
        ({"brokers": -1}, "`brokers=-1"),
        ({"channels": 2**31}, "`channels"),
        ({"model": "ring"}, "`model='ring'.*plane or iid"),
        ({"ratio": 0}, "`ratio=0"),
        ({"ratio": float("nan")}, "`ratio=nan"),
        ({"ratio": float("inf")}, "`ratio=inf"),
        ({"width": 0}, "`width=0"),
        ({"width": 1.01}, "`width=1.01"),
        ({"width": "nan"}, "`width=nan"),
        ({"width": "wide"}, "`width=wide"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, complaint):
    with pytest.raises(UsageError, match=complaint):
        generate_content(**{"users": 2, "brokers": 2, "channels": 2, **options})

"""Channels against the slow version: where they begin and end, who wants them, what that brings in excess."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.traffic import naive_axis, naive_boxes, naive_shape, naive_traffic
from topicloom.base.progress import Silent
from topicloom.content.model.problem import WantedRanges
from topicloom.content.traffic import channels as channels_module
from topicloom.content.traffic.channel_merging import ChannelChain, merge_parts
from topicloom.content.traffic.channels import (
    AttributeAxis,
    SubscriptionBoxes,
    cover,
    make_grid,
    read_boxes,
    share_out,
    users_reached,
)
from topicloom.errors import Interrupted, UsageError

ends = st.integers(0, 12).map(float)


@st.composite
def cases(draw, n_attributes):
    """A log and subscriptions over few values, so that end points, users and messages meet often."""
    names = ["x", "y", "z"][:n_attributes]
    words = st.tuples(st.sampled_from("abcde"), st.sampled_from("12"), st.sampled_from(names))
    row = st.tuples(words, ends, ends).map(lambda row: (*row[0], min(row[1:]), max(row[1:])))
    subscriptions = draw(st.lists(row, min_size=1, max_size=12))
    value = st.one_of(ends, st.floats(-2, 14, allow_nan=False))
    messages = draw(st.lists(st.tuples(*[value] * n_attributes), min_size=2, max_size=25))
    log = [("p", float(i), dict(zip(names, found, strict=True))) for i, found in enumerate(messages)]
    return log, subscriptions, draw(st.integers(1, 12))


def boxes_of(subscriptions) -> SubscriptionBoxes:
    names = ("user", "subscription", "attribute", "low", "high")
    return read_boxes(pa.table({name: [row[i] for row in subscriptions] for i, name in enumerate(names)}))


def in_parts(axis: AttributeAxis, values) -> np.ndarray:
    return np.array([np.count_nonzero((a <= values) & (values < b)) for a, b in pairwise(axis.edges)])


def as_sets(boxes: SubscriptionBoxes, wants: WantedRanges) -> dict[str, set[int]]:
    taken: dict[str, set[int]] = {}
    for user, first, last in zip(wants.user, wants.first, wants.last, strict=True):
        taken.setdefault(boxes.users[int(user)].as_py(), set()).update(range(first, last + 1))
    return taken


def judge(log, subscriptions, limit):
    boxes = boxes_of(subscriptions)
    if not len(boxes):
        assert not naive_boxes(subscriptions)
        return
    values = np.array([[found[name] for name in boxes.attributes] for _, _, found in log])
    axes = [AttributeAxis.of(boxes, k) for k in range(len(boxes.attributes))]
    grid = make_grid(boxes, axes, [in_parts(axis, values[:, k]) for k, axis in enumerate(axes)], limit)
    expected = naive_traffic(log, subscriptions, limit)
    rows = grid.bounds().to_pylist()
    assert [row["channel"] for row in rows] == list(range(len(rows)))
    bounds = [{end["attribute"]: (end["low"], end["high"]) for end in row["bounds"]} for row in rows]
    assert bounds == expected["channels"]
    wants = cover(grid, boxes)
    assert as_sets(boxes, wants) == expected["wants"]
    channel = grid.channel_of(list(values.T))
    assert np.count_nonzero(channel < 0) == expected["dropped"]
    delivered = int(wants.wanted(grid.n_channels)[channel[channel >= 0]].sum())
    reached = int(users_reached(boxes, values).sum())
    assert (delivered - reached) / max(delivered, 1) == expected["false_positive_share"]


@examples(150)
@given(cases(1))
def test_channels_of_one_attribute_are_those_of_the_definition(case):
    judge(*case)


@examples(150)
@given(cases(3))
def test_channels_of_a_grid_are_those_of_the_definition(case):
    judge(*case)


@examples(60)
@given(cases(1))
def test_without_a_limit_there_is_no_false_traffic(case):
    log, subscriptions, _ = case
    judge(log, subscriptions, None)
    if naive_boxes(subscriptions):
        assert naive_traffic(log, subscriptions, None)["false_positive_share"] == 0.0


def test_infinite_ends_and_attributes_that_are_not_named():
    subscriptions = [("a", "1", "x", -np.inf, 2.0), ("b", "1", "y", 1.0, np.inf), ("b", "1", "y", 0.0, 5.0)]
    log = [
        ("p", 0.0, {"x": -1e9, "y": 3.0}),
        ("p", 1.0, {"x": 1e9, "y": 1.0}),
        ("p", 2.0, {"x": 2.0, "y": 9.0}),
    ]
    for limit in (1, 2, 4, 9):
        judge(log, subscriptions, limit)


def test_a_merge_takes_in_the_gap_between_two_channels_only_if_that_is_cheap():
    # Nobody wants [1, 2), where 9 messages lie; a and b could be joined across it, b and c without loss.
    ranges = [("a", 0.0, 1.0), ("b", 2.0, 3.0), ("c", 3.0, 4.0)]
    values = [0.5, *[1.5] * 9, 2.5, 3.5]
    boxes = boxes_of([(user, "1", "x", low, high) for user, low, high in ranges])
    axis = AttributeAxis.of(boxes, 0)
    assert merge_parts(in_parts(axis, np.array(values)), axis.ranges, 2) == [(0, 0), (2, 3)]
    assert [one[:2] for one in naive_axis(values, ranges, 2)] == [(0.0, 1.0), (2.0, 4.0)]


@examples(150)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=15),
    st.randoms(use_true_random=False),
)
def test_users_of_any_channel_are_counted_once(rows, random):
    """Whatever neighbors are merged, in any order: else merges would be chosen by wrong counts."""
    rows = [(user, min(a, b), max(a, b)) for user, a, b in rows]
    ranges = WantedRanges.of(*np.array(rows).T)
    firsts = np.flatnonzero(ranges.wanted(10)).tolist()
    chain, lasts = ChannelChain(np.ones(10, np.int64), ranges, firsts), list(firsts)

    def users(first, last):
        return len({user for user, a, b in rows if a <= last and first <= b})

    assert ranges.wanted(10)[firsts].tolist() == [chain.users(first) for first in firsts]
    while True:
        assert [chain.users(first) for first in firsts] == list(map(users, firsts, lasts))
        for (left, right), last in zip(pairwise(firsts), lasts[1:], strict=True):
            assert chain.users(left, right) == users(left, last)
        if len(firsts) == 1:
            break
        k = random.randrange(len(firsts) - 1)
        chain.merge(firsts[k], firsts[k + 1])
        del firsts[k + 1], lasts[k]


@examples(100)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=4), st.integers(1, 300))
def test_the_grid_never_has_more_channels_than_asked(sizes, limit):
    assert share_out(sizes, limit) == naive_shape(sizes, limit)
    assert np.prod(share_out(sizes, limit)) <= limit


def test_a_cover_that_would_not_fit_is_refused(monkeypatch):
    boxes = boxes_of([("a", "1", name, 0.0, float(i)) for name in "xy" for i in range(1, 2)])
    axes = [AttributeAxis.of(boxes, k) for k in range(2)]
    grid = make_grid(boxes, axes, [np.ones(1, np.int64)] * 2, 10)
    monkeypatch.setattr(channels_module, "COVER_RANGES", 0)
    with pytest.raises(UsageError, match="choose fewer channels"):
        cover(grid, boxes)


def test_merging_stops_on_request():
    class Stop(Silent):
        def should_stop(self) -> bool:
            return True

    n = 3_000
    ranges = WantedRanges.of(np.arange(n), np.arange(n), np.arange(n))
    with pytest.raises(Interrupted):
        merge_parts(np.ones(n, np.int64), ranges, 1, progress=Stop())

"""The index of subscriptions against a plain scan: after any additions and removals, at all ends."""

from __future__ import annotations

from itertools import pairwise
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.matching import matching
from topicloom.content.brokers import matching as index_module
from topicloom.content.brokers.matching import SubscriptionIndex
from topicloom.errors import UsageError

ENDS = st.sampled_from([-inf, 0.0, 1.0, 1.5, 2.0, 3.0, 4.0, inf])
VALUES = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 3.5, 4.0, 99.0])


@st.composite
def stories(draw: st.DrawFn) -> tuple[int, list[tuple[str, object]]]:
    """Boxes that come and go, and points that are asked for in between."""
    width = draw(st.integers(1, 3))
    box = st.lists(st.tuples(ENDS, ENDS).map(sorted).map(tuple), min_size=width, max_size=width).map(tuple)
    point = st.lists(VALUES, min_size=width, max_size=width).map(tuple)
    step = st.one_of(
        st.tuples(st.just("add"), st.lists(box, min_size=1, max_size=30)),
        st.tuples(st.just("remove"), st.integers(0, 100)),
        st.tuples(st.just("ask"), st.lists(point, min_size=1, max_size=4)),
    )
    return width, draw(st.lists(step, max_size=14))


@examples(60)
@given(stories())
def test_index_finds_what_a_scan_finds(story):
    width, steps = story
    index, boxes = SubscriptionIndex(width), {}
    for what, value in [*steps, ("ask", [(1.0,) * width, (0.0,) * width])]:
        if what == "add":
            ends = np.array(value, dtype=float)
            numbers = index.add_many([f"u{len(boxes) % 3}"] * len(value), ends[:, :, 0], ends[:, :, 1])
            boxes.update(zip(numbers, value, strict=True))
        elif what == "remove" and boxes:
            number = sorted(boxes)[value % len(boxes)]
            index.remove(number)
            del boxes[number]
        elif what == "ask":
            expected = [matching(boxes, point) for point in value]
            assert [index.match(point) for point in value] == expected
            ptr, found = index.match_batch(value)
            assert [sorted(found[a:b].tolist()) for a, b in pairwise(ptr)] == expected
        assert len(index) == len(boxes)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_many_boxes_fill_several_levels(width, monkeypatch):
    """Four levels of nodes, a result that needs the buffer to grow, and a tail of late comers."""
    monkeypatch.setattr(index_module, "FOUND", 16)
    rng = np.random.default_rng(width)
    low = rng.integers(0, 50, (5_000, width)) / 2
    high = low + rng.integers(0, 20, (5_000, width)) / 2
    index = SubscriptionIndex(width)
    index.add_many(range(4_990), low[:4_990], high[:4_990])
    assert index.match(low[7]) == sorted(index.match(low[7]))
    index.add_many(range(4_990, 5_000), low[4_990:], high[4_990:])
    points = rng.integers(0, 60, (40, width)) / 2
    ptr, found = index.match_batch(points)
    for k, point in enumerate(points):
        expected = np.flatnonzero(((low <= point) & (point < high)).all(axis=1))
        assert np.array_equal(np.sort(found[ptr[k] : ptr[k + 1]]), expected)


def test_owners_and_refusals():
    index = SubscriptionIndex(2)
    index.add("u", ((0, 2), (-inf, inf)))
    index.add("u", ((1, 3), (-inf, inf)))
    index.add("v", ((1, 3), (5, 6)))
    assert set(index.owners((1.5, 5))) == {"u", "v"}
    assert index.owners((1.5, 0)) == ["u", "u"], "a missing attribute is an unrestricted range"
    with pytest.raises(UsageError, match="each of the 2 attributes"):
        index.add("w", ((0, 1),))
    with pytest.raises(UsageError, match="never NaN"):
        index.add("w", ((0, 1), (float("nan"), 1)))
    with pytest.raises(KeyError):
        index.remove(99)


def test_subscriptions_that_change_without_any_event_take_no_room():
    index = SubscriptionIndex(1)
    index.add_many(range(100), [[0.0]] * 100, [[1.0]] * 100)
    for _ in range(5_000):
        index.remove(index.add("u", ((0, 1),)))
    assert len(index._low) < 1_000 and len(index.match((0.5,))) == 100

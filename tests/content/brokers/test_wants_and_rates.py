"""Unions of boxes, grids of channels, flows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from topicloom.content.brokers.wants_and_rates import Channels, flow_of, matches, union

boxes = st.lists(
    st.tuples(*[st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda pair: tuple(sorted(pair)))] * 2),
    max_size=6,
)


@given(boxes, st.booleans())
def test_a_union_holds_what_its_boxes_hold(given_boxes, flat):
    parts = [box[:1] for box in given_boxes] if flat else given_boxes
    whole = union(parts)
    for x in np.arange(-0.5, 6, 0.5):
        for y in (0,) if flat else np.arange(-0.5, 6, 0.5):
            point = (x,) if flat else (x, y)
            assert matches(whole, point) == matches(tuple(parts), point)
    assert len(whole) <= len(parts)
    if flat:
        assert all(a[0][1] < b[0][0] for a, b in pairwise(whole)), "ranges that meet are one"


@given(boxes)
def test_channels_cover_what_boxes_hold(given_boxes):
    grid = Channels([[0, 2, 3, 6], [1, 2, 4]])
    ranges = grid.ranges_of(tuple(given_boxes))
    inside = {channel for first, last in ranges for channel in range(first, last + 1)}
    needed = set()
    for x in np.arange(0.25, 6, 0.5):
        for y in np.arange(1.25, 4, 0.5):
            if matches(tuple(given_boxes), (x, y)):
                needed.add(grid.channel_of((x, y)))
    assert inside == needed, "no channel too few, and none that no box touches"
    assert all(b[0] > a[1] + 1 for a, b in pairwise(ranges))


def test_flows_add_up_what_comes_twice():
    flow = flow_of(((5, 1.0), (2, 2.0), (5, 3.0)))
    assert flow.channels.tolist() == [2, 5] and flow.rates.tolist() == [2.0, 4.0]
    assert flow.within([(0, 4)]) == 2.0 and flow_of(None).total == 0.0

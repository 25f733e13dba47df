"""The rows of the exact builder's program against all partitions, tried one by one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import topicloom.overlay.builders.exact_program as cuts
from drawing import examples
from topicloom.base.progress import SILENT, Silent
from topicloom.errors import Interrupted
from topicloom.overlay.builders.exact_program import ExactProgram, count_pairs
from topicloom.overlay.builders.exact_reduction import Part
from topicloom.overlay.model.interest import Interest

VALUES = [0.0, 0.0, 0.25, 0.3, 0.5, 0.5, 0.7, 1.0]


FIVE = Part(tuple(range(5)), (tuple(range(5)),))


def partitions(n: int, labels: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    if len(labels) == n:
        yield labels
        return
    for label in range(max(labels, default=-1) + 2):
        yield from partitions(n, (*labels, label))


def worst(topic: tuple[int, ...], values: dict[tuple[int, int], float]) -> float:
    """By how much x falls short of the partition of the topic that demands most of it."""
    shortest = 0.0
    for labels in partitions(len(topic)):
        block = dict(zip(topic, labels, strict=True))
        between = sum(values[a, b] for a, b in combinations(topic, 2) if block[a] != block[b])
        shortest = max(shortest, max(labels) - between)
    return shortest


@st.composite
def fractional(draw: st.DrawFn) -> tuple[Part, list[float]]:
    """A part with a topic of all its nodes and two more, and a value for every pair."""
    n = draw(st.integers(2, 6))
    others = st.sets(st.integers(0, n - 1), min_size=2).map(lambda own: tuple(sorted(own)))
    part = Part(tuple(range(n)), (tuple(range(n)), draw(others), draw(others)))
    pairs = n * (n - 1) // 2
    return part, draw(st.lists(st.sampled_from(VALUES), min_size=pairs, max_size=pairs))


@pytest.mark.parametrize("slice_work", [1e8, 1.0])
@examples(150)
@given(case=fractional())
@example(case=(FIVE, [0.9, 0.5, 0.25, 0.7, 0.0, 0.9, 0.0, 0.3, 0.0, 0.2]))  # a node of value above 0
def test_each_topic_gets_its_most_violated_partition(slice_work, case):
    """Otherwise the linear bound is weaker than it could be, or a row is demanded that nothing violates."""
    part, values = case
    program = ExactProgram(part, SILENT)
    named = dict(zip(zip(program.u.tolist(), program.v.tolist(), strict=True), values, strict=True))
    old, cuts.SLICE_WORK = cuts.SLICE_WORK, slice_work
    try:
        rows = program.violated(np.array(values))
    finally:
        cuts.SLICE_WORK = old
    found = sorted(row.least - sum(values[pair] for pair in row.columns) for row in rows)
    expected = sorted(short for topic in part.topics if (short := worst(topic, named)) > 1e-6)
    assert found == pytest.approx(expected)


def test_start_rows_hold_for_a_tree_and_fail_without_an_edge():
    """A broken overlay must violate a row: here the node left alone, and the number of edges."""
    part = Part((4, 7, 9), ((4, 7, 9),))
    program = ExactProgram(part, SILENT)
    path = (program.u == 0) | (program.v == 0)
    rows = program.start_rows()
    assert len(rows) == 4
    assert all(path[row.columns].sum() >= row.least for row in rows)
    one = program.u + program.v == 1
    assert [one[row.columns].sum() >= row.least for row in rows] == [False, True, True, False]
    assert program.violated(path.astype(float)) == []
    assert [row.least for row in program.violated(one.astype(float))] == [1.0]


def test_degree_rows_hold_the_pairs_of_each_node():
    """Otherwise a cap on the degrees binds the wrong node."""
    program = ExactProgram(Part((0, 1, 2, 3), ((0, 1, 2), (2, 3))), SILENT)
    named = list(zip(program.u.tolist(), program.v.tolist(), strict=True))
    held = [sorted(named[pair] for pair in row.columns) for row in program.degree_rows(2)]
    assert held == [[(0, 1), (0, 2)], [(0, 1), (1, 2)], [(0, 2), (1, 2), (2, 3)], [(2, 3)]]
    assert {row.most for row in program.degree_rows(2)} == {2.0}


def test_pairs_are_counted_once_and_counting_ends_early():
    """Otherwise an interest is refused for pairs it counts twice, or memory is spent before it is."""
    interest = Interest.from_pairs([(node, topic) for node in "abc" for topic in "xy"] + [("d", "x")])
    assert count_pairs(interest, 100) == 6
    assert count_pairs(interest, 5) == 6
    assert count_pairs(interest, 2) == 3


def test_the_kernel_is_left_between_components_when_asked_to_stop():
    class Stopped(Silent):
        def should_stop(self) -> bool:
            return True

    program = ExactProgram(Part((0, 1, 2), ((0, 1, 2),)), Stopped())
    with pytest.raises(Interrupted):
        program.violated(np.full(3, 0.5))

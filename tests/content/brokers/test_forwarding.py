"""The trees that events travel on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicloom.content.brokers.forwarding import RoutingTrees, branches
from topicloom.content.planners.broker_trees import CoreModel


@given(st.integers(0, 10**6), st.integers(2, 6), st.data())
def test_trees_are_lightest_and_fall_into_their_branches(seed, n, data):
    points = np.random.default_rng(seed).random((n, 2))
    core = np.linalg.norm(points[:, None] - points[None], axis=2)
    root = data.draw(st.integers(0, n - 1))
    targets = data.draw(st.sets(st.integers(0, n - 1), min_size=1))
    links = RoutingTrees(range(n), core).links(root, targets)
    assert {root, *targets} == {root, *(child for _, child in links)}
    weight = CoreModel.of(core, "free").weights(sorted(targets))[root]
    assert sum(core[a, b] for a, b in links) == pytest.approx(weight), "the tree that the cost model pays for"
    parts = list(branches(root, links))
    rebuilt = [(root, child) for child, _ in parts] + [link for _, below in parts for link in below]
    assert sorted(rebuilt) == sorted(links)


def test_branches_of_a_tree_that_is_none():
    assert list(branches("a", (("a", "b"), ("b", "a"), ("b", "b"), ("a", "b")))) == [("b", ())]

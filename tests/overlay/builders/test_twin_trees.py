"""Twins as trees: the same edges between sets, logarithmic depth, no maximum above the path's or 3."""

from __future__ import annotations

import math
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.greedy import naive_gm, naive_gm_m, replay
from naive.low_oda import naive_low_oda
from naive.measures import topic_component_counts
from naive.twins import naive_planted
from strategies import interests
from topicloom.overlay.builders.balanced import build_balanced
from topicloom.overlay.builders.dcb_m import build_dcbr_m
from topicloom.overlay.builders.gm import build_gm, build_gm_m
from topicloom.overlay.builders.low_oda import build_low_oda
from topicloom.overlay.builders.serving_tree import serving_tree
from topicloom.overlay.builders.twin_trees import plant_twins
from topicloom.overlay.model.interest import Interest

GREEDIES = {
    build_gm: naive_gm,
    build_gm_m: naive_gm_m,
    build_low_oda: naive_low_oda,
}


@st.composite
def twin_interests(draw: st.DrawFn, max_sets: int = 5, max_twins: int = 9) -> Interest:
    """A few topic sets, each held by many nodes; node numbers are shuffled."""
    topics = [f"t{i}" for i in range(draw(st.integers(1, 5)))]
    sets = draw(st.lists(st.sets(st.sampled_from(topics), min_size=1), min_size=1, max_size=max_sets))
    holders = [held for held in sets for _ in range(draw(st.integers(1, max_twins)))]
    order = draw(st.permutations(range(len(holders))))
    return Interest.from_pairs(
        (f"n{node:02}", t) for node, held in zip(order, holders, strict=True) for t in held
    )


def edges_of(overlay) -> list[tuple[int, int]]:
    return list(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))


def sets_joined(interest, edges) -> Counter:
    """How often each two topic sets are linked: what a tree of twins must not change."""
    wanted = [frozenset(interest.topics_of(node).tolist()) for node in range(interest.n_nodes)]
    return Counter(frozenset((wanted[edge[0]], wanted[edge[1]])) for edge in edges)


def maximum(edges) -> int:
    return max(Counter(node for edge in edges for node in edge[:2]).values(), default=0)


@pytest.mark.parametrize("build", list(GREEDIES))
@examples(60)
@given(interest=twin_interests())
def test_the_edges_are_those_of_the_reference(build, interest):
    steps = naive_planted(interest, GREEDIES[build](interest))
    assert edges_of(build(interest).overlay) == sorted(step[:2] for step in steps)
    path = build(interest, twins="path").overlay
    assert edges_of(path) == sorted(step[:2] for step in GREEDIES[build](interest))


@examples(60)
@given(interest=twin_interests())
def test_each_step_of_gm_is_still_greedy(interest):
    """Contributions are those of the path, step by step; only ties among twins go another way."""
    replay(interest, naive_planted(interest, naive_gm(interest)))


@examples(100)
@given(interest=twin_interests(max_twins=20))
def test_as_many_edges_between_the_same_sets_and_no_higher_maximum(interest):
    for build in GREEDIES:
        tree, path = (edges_of(build(interest, twins=twins).overlay) for twins in ("tree", "path"))
        assert sets_joined(interest, tree) == sets_joined(interest, path)
        assert maximum(tree) <= max(maximum(path), 3)


@examples(60)
@given(interest=st.one_of(twin_interests(max_twins=20), interests(max_nodes=20)))
def test_every_builder_that_folds_twins_stays_connected(interest):
    for build in (*GREEDIES, build_balanced, build_dcbr_m):
        counts = topic_component_counts(interest, build(interest).overlay)
        assert all(count <= 1 for count in counts)


@pytest.mark.parametrize(
    ("build", "extra"), [*((build, extra) for build in GREEDIES for extra in (0, 1)), (build_balanced, 0)]
)
def test_many_twins_are_close_to_each_other(build, extra):
    """The path is as long as there are twins; with a second topic set beside them nothing changes."""
    n = 500
    pairs = [(f"n{node:03}", topic) for node in range(n) for topic in "xy"]
    pairs += [(f"o{node}", topic) for node in range(3) for topic in ("x", f"z{node}")] * extra
    interest = Interest.from_pairs(pairs)
    overlay = build(interest).overlay
    assert overlay.n_edges == interest.n_nodes - 1
    graph = nx.Graph(edges_of(overlay))
    assert nx.diameter(graph) <= 2 * math.ceil(math.log2(n)) + 4 * extra
    assert overlay.degrees().max() <= 3
    if build is not build_balanced:
        path = build(interest, twins="path").overlay
        assert nx.diameter(nx.Graph(edges_of(path))) >= n - 1


def test_a_serving_tree_has_its_twins_in_a_tree_or_a_path():
    interest = Interest.from_pairs([(f"n{node:02}", "x") for node in range(50)])
    for twins, degree, diameter in (("tree", 3, 10), ("path", 2, 49)):
        graph = nx.Graph(zip(*(end.tolist() for end in serving_tree(interest, twins=twins)), strict=True))
        assert max(dict(graph.degree()).values()) == degree and nx.diameter(graph) == diameter


def test_without_twins_nothing_is_touched():
    interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("c", "z"), ("d", "z")])
    u, v = np.array([0, 1, 2]), np.array([1, 2, 3])
    assert plant_twins(interest, u, v) == (u, v)

"""What every builder promises, for every entry of the registry."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from drawing import examples
from naive.measures import topic_component_counts
from strategies import interests, tangled
from topicloom.errors import UsageError
from topicloom.overlay.builders.registry import BUILDERS, parse_parameters
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def topic_connected(interest: Interest, overlay: Overlay) -> bool:
    return all(count <= 1 for count in topic_component_counts(interest, overlay))


EDGE_CASES = {
    "one node": [("a", "x"), ("a", "y")],
    "one topic": [(node, "x") for node in "abcdefg"],
    "disjoint interests": [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"), ("e", "z")],
    "identical nodes": [(node, topic) for node in "abcde" for topic in "xyz"],
    "a node with no partner": [("a", "x"), ("b", "x"), ("c", "lonely")],
    "two nodes": [("a", "x"), ("b", "x")],
}


def empty_interest() -> Interest:
    none = pa.array([], pa.string())
    return Interest.from_arrow(pa.table({"node": none, "topic": none}))


@pytest.fixture(params=list(BUILDERS))
def builder(request):
    return BUILDERS[request.param]


@pytest.mark.parametrize("case", list(EDGE_CASES))
def test_edge_cases_are_connected(builder, case):
    interest = Interest.from_pairs(EDGE_CASES[case])
    assert topic_connected(interest, builder.build(interest).overlay)


def test_an_empty_interest_gives_an_empty_overlay(builder):
    build = builder.build(empty_interest())
    assert (build.overlay.n_nodes, build.overlay.n_edges) == (0, 0)


def test_topics_that_nobody_wants_and_nodes_that_want_nothing_do_no_harm(builder):
    from scipy.sparse import csr_array

    interest = Interest.from_scipy(csr_array(np.array([[1, 0, 0], [1, 0, 1], [0, 0, 0], [0, 0, 0]])))
    assert builder.build(interest).overlay.n_edges == 1


@examples(60)
@given(interest=interests(max_nodes=25))
def test_every_overlay_is_topic_connected(interest):
    for builder in BUILDERS.values():
        assert topic_connected(interest, builder.build(interest).overlay)


@examples(60)
@given(interest=tangled(max_nodes=12))
def test_interests_that_no_tree_serves_are_connected_too(interest):
    for builder in BUILDERS.values():
        assert topic_connected(interest, builder.build(interest).overlay)


@examples(20)
@given(interest=interests(max_nodes=25))
def test_no_edge_between_nodes_that_share_nothing(interest):
    """Such an edge would carry no message at all."""
    for builder in BUILDERS.values():
        if builder.links_strangers:
            continue
        overlay = builder.build(interest).overlay
        for u, v in zip(overlay.u.tolist(), overlay.v.tolist(), strict=True):
            assert set(interest.topics_of(u).tolist()) & set(interest.topics_of(v).tolist())


def test_the_same_seed_gives_the_same_edges(builder):
    interest = Interest.from_pairs([(f"n{v}", f"t{v * k % 11}") for v in range(60) for k in range(1, 5)])
    assert builder.build(interest, seed=5).overlay == builder.build(interest, seed=5).overlay


def test_builds_can_be_sent_to_another_process(builder):
    build = builder.build(Interest.from_pairs(EDGE_CASES["one topic"]))
    assert pickle.loads(pickle.dumps(build)).overlay == build.overlay


def test_wrong_parameters_are_named(builder):
    name = next(key for key, value in BUILDERS.items() if value is builder)
    with pytest.raises(UsageError, match="nonsense"):
        parse_parameters(name, ["nonsense=1"])
    with pytest.raises(UsageError, match="key=value"):
        parse_parameters(name, ["nonsense"])
    for key in builder.parameters:
        with pytest.raises(UsageError, match=key):
            parse_parameters(name, [f"{key}=-7"])


def test_an_unknown_builder_is_refused_with_the_list():
    with pytest.raises(UsageError, match="gm-m"):
        parse_parameters("no-such-builder", [])

"""The judge of deliveries: exact only when nothing is missing, doubled or astray; faults have witnesses."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hand_mesh import INTEREST, LINKS, HandLink, hand_mesh
from topicloom.mesh.run.adapter import Arrival, Stray
from topicloom.mesh.run.delivery import (
    MissingDelivery,
    connections_per_node,
    due_arrivals,
    hops_max,
    judge,
    neighbors_by_topic,
    parts_of,
    plan_publications,
)

MESH = hand_mesh(INTEREST, LINKS)
PLAN = plan_publications(MESH, 5)


@pytest.fixture
def arrivals() -> Counter[Arrival]:
    """Everything due, once."""
    return Counter(due_arrivals(MESH, PLAN))


def test_every_topic_gets_its_messages_from_its_subscribers_in_turn():
    for topic in MESH.topics:
        mine = [one for one in PLAN if one.topic == topic.topic]
        assert len(mine) == 5
        assert {one.node for one in mine} == set(topic.subscribers)
    assert len({one.message for one in PLAN}) == len(PLAN)
    assert plan_publications(MESH, 5) == PLAN
    assert plan_publications(MESH, 5, seed=1) != PLAN


def test_the_publisher_s_own_node_must_get_it_too(arrivals):
    verdict = judge(MESH, PLAN, arrivals)
    assert verdict.exact
    # Three topics with three subscribers, one with one, five messages on each.
    assert (verdict.published, verdict.expected, verdict.delivered) == (20, 50, 50)


def test_a_missing_delivery_is_named(arrivals):
    gone = next(one for one in sorted(arrivals, key=str) if one.topic == "x")
    del arrivals[gone]
    verdict = judge(MESH, PLAN, arrivals)
    publisher = next(one.node for one in PLAN if one.message == gone.message)
    assert not verdict.exact
    assert verdict.delivered == verdict.expected - 1
    assert verdict.missing == (MissingDelivery("x", gone.message, publisher, gone.node),)


def test_a_repeated_delivery_is_a_duplicate_and_not_a_further_delivery(arrivals):
    twice = next(iter(sorted(arrivals, key=str)))
    arrivals[twice] += 2
    verdict = judge(MESH, PLAN, arrivals)
    assert (verdict.delivered, verdict.duplicates, verdict.strays) == (verdict.expected, 2, 0)
    assert verdict.duplicate_witnesses == (twice,)
    assert not verdict.exact


def test_a_duplicate_cannot_make_up_for_a_missing_delivery(arrivals):
    first, second, *_ = sorted(arrivals, key=str)
    del arrivals[first]
    arrivals[second] += 1
    verdict = judge(MESH, PLAN, arrivals)
    assert (verdict.delivered, verdict.duplicates) == (verdict.expected - 1, 1)


@pytest.mark.parametrize(
    ("arrival", "why"),
    [
        (Arrival("c", "y", 1), "not for it"),  # c does not want y
        (Arrival("a", "x", 999), "nobody published"),
        (Arrival("a", "y", 0), "not for it"),  # published on x, arrived on y
    ],
)
def test_what_a_client_gets_undue_is_a_stray(arrivals, arrival, why):
    assert PLAN[0].topic == "x"
    arrivals[arrival] += 3
    verdict = judge(MESH, PLAN, arrivals)
    assert (verdict.delivered, verdict.duplicates, verdict.strays) == (verdict.expected, 0, 3)
    assert why in verdict.stray_witnesses[0].detail


def test_strays_that_a_target_saw_count(arrivals):
    verdict = judge(MESH, PLAN, arrivals, [Stray("c", 4, "carried y")])
    assert verdict.strays == 4
    assert not verdict.exact


def test_figures_of_the_links_as_configured():
    assert hops_max(MESH) == 2
    assert connections_per_node(MESH) == {"a": 1, "b": 3, "c": 1, "d": 1}
    # A path through a node that does not want the topic is none.
    through = hand_mesh(
        {"a": ("x",), "b": (), "c": ("x",)}, [HandLink("b", "a", ("x",)), HandLink("c", "b", ("x",))]
    )
    assert hops_max(through) == 0


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14))
def test_hops_and_parts_of_any_links_are_those_of_the_graph(pairs):
    """Also where links go round: the longest of the shortest ways within a part."""
    names = [f"n{index}" for index in range(8)]
    pairs = {(max(pair), min(pair)) for pair in pairs if pair[0] != pair[1]}
    links = [HandLink(names[one], names[other], ("t",)) for one, other in sorted(pairs)]
    mesh = hand_mesh(dict.fromkeys(names, ("t",)), links)
    graph = nx.Graph()
    graph.add_nodes_from(names)
    graph.add_edges_from((one.dialer, one.acceptor) for one in links)
    parts = list(nx.connected_components(graph))
    assert hops_max(mesh) == max(nx.diameter(graph.subgraph(part)) for part in parts)
    near = neighbors_by_topic((one.dialer, one.acceptor, one.topics) for one in links)
    assert sorted(map(sorted, parts_of(names, near.get("t", {})))) == sorted(map(sorted, parts))

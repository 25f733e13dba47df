"""The judge of deliveries: exact only when nothing is missing, doubled or astray; faults have witnesses."""

from __future__ import annotations

from collections import Counter

import pytest

from hand_mesh import INTEREST, LINKS, hand_mesh
from topicloom.mesh.run.adapter import Arrival, Stray
from topicloom.mesh.run.delivery import (
    MissingDelivery,
    due_arrivals,
    judge_delivery,
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
    verdict = judge_delivery(MESH, PLAN, arrivals)
    assert verdict.exact
    # Three topics with three subscribers, one with one, five messages on each.
    assert (verdict.published, verdict.expected, verdict.delivered) == (20, 50, 50)


def test_a_missing_delivery_is_named(arrivals):
    gone = next(one for one in sorted(arrivals, key=str) if one.topic == "x")
    del arrivals[gone]
    verdict = judge_delivery(MESH, PLAN, arrivals)
    publisher = next(one.node for one in PLAN if one.message == gone.message)
    assert not verdict.exact
    assert verdict.delivered == verdict.expected - 1
    assert verdict.missing == (MissingDelivery("x", gone.message, publisher, gone.node),)


def test_a_repeated_delivery_is_a_duplicate_and_not_a_further_delivery(arrivals):
    twice = next(iter(sorted(arrivals, key=str)))
    arrivals[twice] += 2
    verdict = judge_delivery(MESH, PLAN, arrivals)
    assert (verdict.delivered, verdict.duplicates, verdict.strays) == (verdict.expected, 2, 0)
    assert verdict.duplicate_witnesses == (twice,)
    assert not verdict.exact


def test_a_duplicate_cannot_make_up_for_a_missing_delivery(arrivals):
    first, second, *_ = sorted(arrivals, key=str)
    del arrivals[first]
    arrivals[second] += 1
    verdict = judge_delivery(MESH, PLAN, arrivals)
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
    verdict = judge_delivery(MESH, PLAN, arrivals)
    assert (verdict.delivered, verdict.duplicates, verdict.strays) == (verdict.expected, 0, 3)
    assert why in verdict.stray_witnesses[0].detail


def test_strays_that_probes_saw_count(arrivals):
    verdict = judge_delivery(MESH, PLAN, arrivals, [Stray("c", 4, "carried y")])
    assert verdict.strays == 4
    assert not verdict.exact

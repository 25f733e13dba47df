"""Nodes on a wire that delays, loses, doubles and reorders, among nodes that come, go, crash and change their
minds: nothing raises, every step is one of the table, and what was broken heals once the wire is sound.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from spidercast.protocol.node_wire import Wire
from topicloom.spidercast.protocol.goals import NodeGoals
from topicloom.spidercast.protocol.messages import (
    AskInterest,
    Connect,
    ConnectOk,
    Descriptor,
    Disconnect,
    DisconnectOk,
    Event,
    EventId,
    Have,
    Heartbeat,
    Leave,
    NodeId,
    Prune,
    Redirect,
    Shuffle,
    ShuffleReply,
    TaskId,
    TellInterest,
    Topic,
    Want,
)
from topicloom.wire.core import Close, Deliver

QUIET = 15.0
"""Seconds of a sound wire after which everything must be well: the slowest message of before arrives within
2 s, silence is noticed within 3 s, quarantines of CONNECT last 2 s, one of DISCONNECT 10 s."""

TOPICS = "wxyz"
Action: TypeAlias = tuple[str, int, Any]

names = st.integers(0, 6)
some_topics = st.frozensets(st.sampled_from(TOPICS), min_size=1)
actions = st.one_of(
    st.tuples(st.just("join"), names, some_topics),
    st.tuples(st.sampled_from(["leave", "crash"]), names, st.none()),
    st.tuples(st.sampled_from(["subscribe", "unsubscribe"]), names, some_topics),
    st.tuples(st.just("publish"), names, st.sampled_from(TOPICS)),
    st.tuples(st.just("cut"), names, st.none()),
    st.tuples(st.just("wait"), st.integers(1, 30), st.none()),
)
many_goals = st.sampled_from(
    [
        NodeGoals(greedy=3),
        NodeGoals(greedy=1, random=1),
        NodeGoals(greedy=2, adaptive=True),
        NodeGoals(greedy=0, random=2),
        NodeGoals(greedy=2, random=1, by_coverage=False),
    ]
)


def act(wire: Wire, action: Action) -> None:
    kind, who, what = action
    here = who in wire.nodes
    if kind == "wait":
        wire.run(who / 10)
    elif kind == "cut":
        wire.cut(range(who))
    elif kind == "join":
        if not here:
            wire.add(who, what)
    elif here:
        if kind == "publish":
            if what in wire.nodes[who].interest:
                wire.publish(who, what)
        elif what is None:
            getattr(wire, kind)(who)
        else:
            getattr(wire, kind)(who, what)


def component(wire: Wire, start: NodeId, topic: Topic) -> set[NodeId]:
    """Who can be reached over links whose both ends want the topic."""
    found, todo = {start}, [start]
    while todo:
        for peer in wire.nodes[todo.pop()].neighbors:
            if peer not in found and topic in wire.nodes[peer].interest:
                found.add(peer)
                todo.append(peer)
    return found


def split_topics(wire: Wire) -> list[str]:
    """Topics whose subscribers are not all connected, or do not name one root among them."""
    found = []
    for topic in sorted({topic for node in wire.nodes.values() for topic in node.interest}, key=str):
        members = {name for name, node in wire.nodes.items() if topic in node.interest}
        roots = {wire.nodes[name].roots[topic][:2] for name in members}
        if component(wire, min(members), topic) != members or {name for _, name in roots} - members:
            found.append(str(topic))
        assert len(roots) == 1, (topic, roots)
    return found


def calm(wire: Wire) -> None:
    """From now on the wire is sound."""
    wire.loss = wire.doubling = 0.0
    wire.latency = (0.01, 0.01)
    wire.cut()
    wire.run(QUIET)


@examples(120)
@given(
    st.lists(some_topics, min_size=2, max_size=6),
    st.lists(actions, max_size=25),
    many_goals,
    st.sampled_from([(0.01, 0.01), (0.0, 0.2), (0.0, 2.0)]),
    st.floats(0, 0.6),
    st.floats(0, 0.5),
    st.booleans(),
    st.integers(0, 1 << 20),
)
def test_after_the_disturbance_links_have_two_ends_all_are_covered_and_nothing_came_twice(
    interests: list[frozenset[str]],
    course: list[Action],
    goals: NodeGoals,
    latency: tuple[float, float],
    loss: float,
    doubling: float,
    as_bytes: bool,
    seed: int,
) -> None:
    wire = Wire(seed, goals=goals, latency=latency, as_bytes=as_bytes)
    wire.loss, wire.doubling = loss, doubling
    for name, topics in enumerate(interests):
        wire.add(name, topics)
    for action in course:
        act(wire, action)
    calm(wire)
    assert wire.one_sided() == []
    if goals.by_coverage:
        assert wire.uncovered() == []
        wire.run(20.0)  # a look for other roots, for each of its topics in turn
        assert split_topics(wire) == []
    events = {
        wire.publish(name, topic): component(wire, name, topic)
        for name, node in wire.nodes.items()
        for topic in sorted(node.interest, key=str)
    }
    wire.run(2.0)
    for event, expected in events.items():
        got = {name for name, life, id in wire.delivered if id == event and life == wire.lives[name]}
        assert got == expected
    assert max(wire.delivered.values(), default=1) == 1


@examples(40)
@given(
    st.lists(some_topics, min_size=8, max_size=14), st.integers(0, 1), st.integers(1, 2), st.integers(0, 99)
)
def test_with_no_room_to_spare_links_still_have_two_ends_and_who_is_not_covered_found_no_room(
    interests: list[frozenset[str]], margin: int, k: int, seed: int
) -> None:
    wire = Wire(seed, goals=NodeGoals(greedy=k), latency=(0.0, 0.1), margin=margin)
    for name, topics in enumerate(interests):
        wire.add(name, topics)
    wire.loss = 0.2
    wire.run(5.0)
    calm(wire)
    assert wire.one_sided() == []
    assert wire.uncovered() == []


numbers = st.sampled_from([-(2**63), -1, 0, 1, 999, 1001, 2**63 - 1])
ages = st.floats()
ids = st.sampled_from([0, 1, 2, -1, "", "0", "ghost", 2**63 - 1])
tasks = st.sampled_from(TaskId)
topics = st.frozensets(st.sampled_from([*TOPICS, "", 7]), max_size=4)
event_ids = st.builds(EventId, ids, st.sampled_from([*TOPICS, 7]), numbers)
many_ids = st.lists(event_ids, max_size=3).map(tuple)
descriptors = st.lists(st.builds(Descriptor, ids, numbers, ages, topics), max_size=3).map(tuple)
garbage = st.one_of(
    st.builds(Connect, tasks, numbers, numbers, numbers, topics),
    st.builds(ConnectOk, tasks, numbers, numbers, numbers, topics),
    st.builds(Redirect, tasks, st.none() | ids, topics),
    st.builds(Disconnect, tasks),
    st.builds(DisconnectOk, tasks),
    st.builds(Leave, tasks, st.booleans()),
    st.builds(Heartbeat, tasks, numbers, numbers, numbers),
    st.builds(AskInterest),
    st.builds(TellInterest, numbers, topics),
    st.builds(Shuffle, descriptors),
    st.builds(ShuffleReply, descriptors),
    st.builds(Event, event_ids, numbers, numbers, ages, st.binary(max_size=2)),
    st.builds(Have, many_ids, st.lists(ages, max_size=3).map(tuple)),
    st.builds(Want, many_ids),
    st.builds(Prune, st.sampled_from([*TOPICS, 7])),
)


@examples(150)
@given(st.lists(st.tuples(st.integers(0, 2), ids, garbage, st.integers(0, 8)), max_size=30), many_goals)
def test_garbage_never_raises_and_leaves_no_one_sided_links(
    course: list[tuple[int, NodeId, Any, int]], goals: NodeGoals
) -> None:
    wire = Wire(1, goals=goals)
    for name in range(3):
        wire.add(name, TOPICS[name : name + 2])
    wire.publish(0, "w")
    for to, sender, message, tenths in course:
        wire.hand(to, sender, message)
        wire.run(tenths / 10)
    wire.run(QUIET)
    assert wire.one_sided() == []
    assert max(wire.delivered.values()) == 1


def test_a_message_of_no_known_type_ends_the_link_and_does_not_raise() -> None:
    wire = Wire()
    node = wire.add("a", "x")
    for message in (object(), None, Deliver(EventId("b", "x", 1), 1)):
        node.receive("b", message, 0.0)  # type: ignore[arg-type]
    effects = node.take_effects()
    assert [type(effect) for effect in effects] == [Close] * 3
    assert [effect.peer for effect in effects] == ["b"] * 3  # type: ignore[union-attr]


@given(st.lists(st.tuples(ids, garbage), min_size=1, max_size=5), st.booleans())
def test_messages_before_the_start_and_after_leave_are_answered_at_most_by_leave(
    course: list[tuple[NodeId, Any]], started: bool
) -> None:
    wire = Wire()
    node = wire.place("a", "x")
    if started:
        node.start(0.0)
        node.leave(1.0)
    node.take_effects()
    for sender, message in course:
        node.receive(sender, message, 2.0)
        sent = [effect.message for effect in node.take_effects()]  # type: ignore[union-attr]
        assert sent == ([Leave(message.task, gone=True)] if type(message) is Heartbeat else [])
    assert node.neighbors == ()

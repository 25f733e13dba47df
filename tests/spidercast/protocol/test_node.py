"""A few nodes together: interests that change, neighbors that fall silent, orderly leave, equal runs."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256
from math import inf
from pathlib import Path
from random import Random

import pytest

from spidercast.protocol.node_wire import Wire, tasks_of
from topicloom.errors import UsageError
from topicloom.spidercast.protocol.goals import NodeGoals
from topicloom.spidercast.protocol.gossip import Gossip
from topicloom.spidercast.protocol.link_rules import LinkState
from topicloom.spidercast.protocol.messages import (
    AskInterest,
    Connect,
    Descriptor,
    Event,
    Heartbeat,
    Leave,
    TaskId,
    TellInterest,
)
from topicloom.wire.core import Close, Deliver, LinkDown, LinkUp, Send

G = TaskId.GREEDY


@pytest.fixture(params=[False, True], ids=["objects", "bytes"])
def pair(request: pytest.FixtureRequest) -> Wire:
    """a and b, linked for x. Heartbeats come as the same object each time, or as one of their own."""
    wire = Wire(goals=NodeGoals(greedy=1), as_bytes=request.param)
    wire.add("a", "xy")
    wire.add("b", "xz")
    wire.run(3.0)
    assert wire.nodes["a"].has_link("b")
    return wire


def lacking(wire: Wire, name: str) -> list[str]:
    return sorted(wire.nodes[name]._tasks[G].goal.wanted)  # type: ignore[type-var]


# --- interests at run time -----------------------------------------------------------------------------


def test_a_neighbor_learns_a_new_interest_at_once_and_coverage_follows(pair: Wire) -> None:
    assert (lacking(pair, "a"), lacking(pair, "b")) == (["y"], ["z"])
    pair.subscribe("b", "y")
    pair.run(0.05)
    assert lacking(pair, "a") == []
    assert lacking(pair, "b") == ["z"], "y of its own is covered by a"
    pair.unsubscribe("b", "xz")
    pair.run(0.05)
    assert lacking(pair, "a") == ["x"]
    assert lacking(pair, "b") == []
    assert not pair.sent(AskInterest)


def test_a_lost_interest_is_asked_for_at_the_next_heartbeat(pair: Wire) -> None:
    pair.lost = lambda sender, to, message: type(message) is TellInterest
    pair.subscribe("b", "y")
    pair.run(0.05)
    pair.lost = lambda sender, to, message: False
    assert lacking(pair, "a") == ["y"]
    pair.run(1.1)
    assert len(pair.sent(AskInterest, "a", "b")) == 1
    assert lacking(pair, "a") == []


def test_it_is_asked_for_again_if_question_or_answer_is_lost(pair: Wire) -> None:
    pair.lost = lambda sender, to, message: type(message) in (TellInterest, AskInterest)
    pair.subscribe("b", "y")
    pair.run(3.0)
    pair.lost = lambda sender, to, message: type(message) is TellInterest
    pair.run(3.0)
    assert lacking(pair, "a") == ["y"]
    pair.lost = lambda sender, to, message: False
    pair.run(1.1)
    assert lacking(pair, "a") == []
    asked = len(pair.sent(AskInterest, "a", "b"))
    pair.run(3.0)
    assert len(pair.sent(AskInterest, "a", "b")) == asked, "now it knows"


def test_word_of_an_older_interest_changes_nothing(pair: Wire) -> None:
    pair.subscribe("b", "y")
    pair.run(0.05)
    pair.hand("a", "b", TellInterest(1, frozenset("q")))
    assert lacking(pair, "a") == []


def test_events_follow_an_interest_that_changes(pair: Wire) -> None:
    pair.subscribe("b", "y")
    pair.run(0.05)
    event = pair.publish("a", "y")
    pair.run(0.05)
    assert pair.delivered["b", 1, event] == 1
    pair.unsubscribe("b", "y")
    pair.run(0.05)
    event = pair.publish("a", "y")
    pair.run(5.0)
    assert pair.delivered["b", 1, event] == 0


def link_both_tasks(wire: Wire) -> None:
    """Let the random tasks of a and b hold the link that their greedy tasks have, too."""
    for one, other in (("a", "b"), ("b", "a")):
        node = wire.nodes[other]
        wire.hand(one, other, Connect(TaskId.RANDOM, 1, 1, node.version, node.interest))
    wire.run(0.1)


def test_both_tasks_and_the_events_follow_a_new_interest() -> None:
    """A link that both tasks hold: the second one must not keep the old interest."""
    wire = Wire(goals=NodeGoals(greedy=1, random=1))
    wire.add("a", "xy")
    wire.add("b", "x")
    wire.run(3.0)
    link_both_tasks(wire)
    wire.subscribe("b", "y")
    wire.run(0.5)
    assert all(set(task.neighbors["b"].shared) == {"x", "y"} for task in tasks_of(wire.nodes["a"]))
    assert all(not task.goal.lacking for task in tasks_of(wire.nodes["a"]))


def test_who_wants_nothing_any_more_is_let_go(pair: Wire) -> None:
    pair.unsubscribe("b", "xz")
    pair.run(3.0)
    assert pair.nodes["a"].neighbors == ()
    assert pair.nodes["b"].neighbors == ()
    assert [effect.peer for _, name, effect in pair.log if isinstance(effect, LinkDown) and name == "a"] == [
        "b"
    ]


def test_publish_needs_a_subscription() -> None:
    with pytest.raises(UsageError, match="publish on topic q needs a subscription"):
        Wire().add("a", "x").publish("q", b"", 0.0)


# --- doubt, silence, leave -----------------------------------------------------------------------------


def mute(wire: Wire) -> None:
    wire.lost = lambda sender, to, message: type(message) is Heartbeat


def last_heard(wire: Wire) -> float:
    return wire.nodes["a"]._tasks[G].neighbors["b"].heard


def test_a_silent_neighbor_is_doubted_counts_no_longer_and_counts_again_when_it_is_heard(pair: Wire) -> None:
    mute(pair)
    pair.run(last_heard(pair) + 1.45 - pair.now)
    assert lacking(pair, "a") == ["y"]
    pair.run(0.1)
    assert pair.state("a", "b") is LinkState.DOUBTED
    assert lacking(pair, "a") == ["x", "y"]
    assert pair.nodes["a"].has_link("b"), "it is not given up"
    pair.lost = lambda sender, to, message: False
    pair.run(1.0)
    assert pair.state("a", "b") is LinkState.LINKED
    assert lacking(pair, "a") == ["y"]
    assert pair.nodes["a"]._tasks[G].goal._counts == {"x": 1, "y": 0}  # type: ignore[attr-defined]


def test_the_replacement_is_there_before_the_silent_one_is_given_up(pair: Wire) -> None:
    pair.known.clear()
    pair.add("c", "x")
    pair.add("d", "x")
    pair.run(2.0)  # c and d find each other, as they know of nobody else
    assert pair.nodes["a"].neighbors == ("b",)
    pair.known.pop("d")
    heard = last_heard(pair)
    pair.crash("b")
    pair.run(heard + 1.8 - pair.now)
    assert pair.nodes["a"].has_link("c")
    assert pair.nodes["a"].has_link("b")
    pair.run(1.3)
    assert pair.nodes["a"].neighbors == ("c",)


def test_silence_for_as_long_as_the_detector_ends_the_link_not_earlier(pair: Wire) -> None:
    heard = last_heard(pair)
    pair.crash("b")
    pair.run(heard + 2.95 - pair.now)
    assert pair.nodes["a"].has_link("b")
    pair.run(0.1)
    assert not pair.nodes["a"].has_link("b")
    assert pair.log[-1][2] == LinkDown("b", "silent")


def test_leave_tells_all_neighbors_and_ends_every_timer() -> None:
    wire = Wire(goals=NodeGoals(greedy=2, random=1))
    for name in range(5):
        wire.add(name, "x")
    wire.run(3.0)
    node, links = wire.nodes[0], wire.nodes[0].neighbors
    assert len(links) >= 2
    wire.leave(0)
    assert node.neighbors == ()
    assert node.next_timer() == inf
    told = {to for _, name, effect in wire.log if name == 0 and isinstance(effect, Send)
            and isinstance(effect.message, Leave) and effect.message.gone for to in effect.to}  # fmt: skip
    assert told == set(links)
    wire.run(0.05)
    assert not any(other.has_link(0) for other in wire.nodes.values())


def test_a_node_that_does_not_run_wants_no_timer_whatever_the_application_does(pair: Wire) -> None:
    """Else a driver that waits for `next_timer` would call again and again."""
    pair.publish("a", "x")
    node = pair.nodes["a"]
    node.leave(pair.now)
    node.subscribe("q", pair.now)
    node.unsubscribe("y", pair.now)
    with pytest.raises(UsageError, match="it has left or not started"):
        node.publish("x", b"", pair.now)
    node.handle_timer(pair.now + 9)
    assert node.next_timer() == inf


def test_a_neighbor_that_says_what_nobody_understands_is_none_any_more(pair: Wire) -> None:
    """The driver is told to close the connection, so the node must not count on it either."""
    node = pair.nodes["a"]
    assert "b" in node.neighbors
    node.receive("b", object(), pair.now)  # type: ignore[arg-type]
    assert "b" not in node.neighbors
    reason = "unknown message object"
    told = [effect for effect in node.take_effects() if isinstance(effect, LinkDown | Close)]
    assert told == [LinkDown("b", reason), Close("b", reason)]


def test_a_node_that_comes_back_is_not_taken_for_its_former_life(pair: Wire) -> None:
    pair.crash("b")
    pair.run(0.3)
    pair.add("b", "y")
    pair.run(3.0)
    assert pair.one_sided() == []
    assert pair.nodes["a"]._tasks[G].neighbors["b"].interest == frozenset("y")
    assert lacking(pair, "a") == ["x"]


def test_a_link_that_both_tasks_hold_ends_with_the_second_one() -> None:
    wire = Wire(goals=NodeGoals(greedy=1, random=1))
    wire.add("a", "x")
    wire.add("b", "x")
    wire.run(3.0)
    link_both_tasks(wire)
    assert [sum("b" in task.neighbors for task in tasks_of(wire.nodes["a"]))] == [2]
    ups = [effect for _, name, effect in wire.log if name == "a" and isinstance(effect, LinkUp)]
    assert ups == [LinkUp("b")]
    wire.hand("a", "b", Leave(TaskId.RANDOM))
    assert wire.nodes["a"].has_link("b")
    wire.hand("a", "b", Leave(TaskId.GREEDY))
    assert not wire.nodes["a"].has_link("b")


@pytest.mark.parametrize("goals", [NodeGoals(1, 0), NodeGoals(0, 1), NodeGoals(0, 2, by_coverage=False)])
def test_a_lost_event_is_announced_again_also_if_the_greedy_task_sleeps(goals: NodeGoals) -> None:
    wire = Wire(goals=goals)
    wire.add("a", "x")
    wire.add("b", "x")
    wire.run(3.0)
    wire.lost = lambda sender, to, message: type(message) is Event
    event = wire.publish("a", "x")
    wire.run(0.05)
    wire.lost = lambda sender, to, message: False
    wire.run(2.0)
    assert wire.delivered["b", 1, event] == 1


# --- equal seeds, equal runs ---------------------------------------------------------------------------


def course(seed: int, *, gossip: bool = False) -> str:
    """The digest of all effects of a lively run with names and topics that are strings."""
    rng = Random(seed)
    membership = None
    if gossip:
        entry = [Descriptor("node 0", 1, 0.0, frozenset())]
        membership = lambda context: Gossip(context, entry)  # noqa: E731
    wire = Wire(
        seed,
        goals=NodeGoals(2, adaptive=True),
        latency=(0.0, 0.2),
        margin=1,
        ordered=True,
        membership=membership,
    )
    wire.loss = wire.doubling = 0.1
    names = [f"node {number}" for number in range(12)]
    topics = [f"topic {number}" for number in range(8)]
    for name in names:
        wire.add(name, rng.sample(topics, 3))
    for turn in range(12):
        wire.run(0.6)
        name = rng.choice(sorted(map(str, wire.nodes)))
        if turn % 3 == 0:
            wire.crash(name)
            wire.run(0.4)
            wire.add(name, rng.sample(topics, 4))
        elif turn % 3 == 1:
            wire.subscribe(name, rng.sample(topics, 2))
        wire.publish(name, rng.choice(sorted(map(str, wire.nodes[name].interest))))
    assert any(isinstance(effect, Deliver) for _, _, effect in wire.log)
    plain = [(time, name, plainly(effect)) for time, name, effect in wire.log]
    return sha256(repr(plain).encode()).hexdigest()


def plainly(value: object) -> object:
    """Sets, which print in any order, as sorted lists."""
    if isinstance(value, frozenset):
        return sorted(map(str, value))
    if isinstance(value, tuple):
        return [plainly(part) for part in value]
    fields = getattr(value, "__struct_fields__", None)
    if fields is None:
        return value
    return type(value).__name__, [plainly(getattr(value, field)) for field in fields]


@pytest.mark.slow
@pytest.mark.parametrize("gossip", [False, True])
def test_equal_seeds_give_equal_effects_and_others_do_not(gossip: bool) -> None:
    assert course(1, gossip=gossip) == course(1, gossip=gossip) != course(2, gossip=gossip)


@pytest.mark.slow
def test_a_run_does_not_depend_on_the_order_of_sets() -> None:
    here = Path(__file__)
    command = (
        f"import sys; sys.path.insert(0, {str(here.parents[2])!r}); "
        "from spidercast.protocol.test_node import course; "
        "print(course(1), course(1, gossip=True))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", command],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert found == {f"{course(1)} {course(1, gossip=True)}\n"}


def test_what_a_node_shows_cannot_be_used_to_change_it(pair: Wire) -> None:
    """All parts are private; what is public is a call of the interface, or a figure that is a copy."""
    calls = {
        "start", "receive", "subscribe", "unsubscribe", "publish", "connected", "lost", "refused",
        "congested", "leave", "handle_timer", "next_timer", "take_effects", "address_of", "has_link",
        "linked", "unlinked",
    }  # fmt: skip
    figures = {
        "name", "interest", "incarnation", "version", "running", "event_counts", "roots", "neighbors",
    }  # fmt: skip
    node = pair.nodes["a"]
    assert {name for name in dir(node) if not name.startswith("_")} == calls | figures
    for name in figures:
        with pytest.raises(AttributeError):
            setattr(node, name, None)
    node.roots.clear()
    assert node.roots
    assert type(node.event_counts)._fields == ("duplicates", "repaired", "late", "held_bytes")

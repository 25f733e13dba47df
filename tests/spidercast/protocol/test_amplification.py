"""Small questions with large answers: a peer that asks again and again gets no more bytes for it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from topicloom.spidercast.protocol import answers
from topicloom.spidercast.protocol import messages as msg
from topicloom.spidercast.protocol.goals import NodeGoals
from topicloom.spidercast.protocol.gossip import Gossip
from topicloom.spidercast.protocol.messages import CODEC, TaskId
from topicloom.spidercast.protocol.node import Node
from topicloom.wire.core import Send

G = TaskId.GREEDY
X, XY = frozenset("x"), frozenset("xy")
HELD, TIMES = 10_000, 1_000
WIDE = frozenset(f"topic number {number}" for number in range(300)) | X


def holder(events: int = 0, interest: frozenset[str] = XY) -> Node:
    """A node with neighbor b, that holds `events` events."""
    entries = [msg.Descriptor(f"n{number}", 1, 0.0, WIDE) for number in range(40)]
    node = Node(
        "a", interest, membership=lambda context: Gossip(context, entries), rng=Random(1),
        goals=NodeGoals(greedy=2),
    )  # fmt: skip
    node.start(0.0)
    node.receive("b", msg.Connect(G, 1, 9, 1, XY), 0.1)
    for _ in range(events):
        node.publish("x", b"", 0.1)
    node.take_effects()
    return node


def bytes_sent(node: Node, kind: type = object) -> int:
    sent = [effect for effect in node.take_effects() if isinstance(effect, Send)]
    sent = [effect for effect in sent if isinstance(effect.message, kind)]
    return sum(len(effect.to) * len(CODEC.encode(effect.message)) for effect in sent)


def connect(task: TaskId = G) -> msg.Connect:
    return msg.Connect(task, 1, 9, 1, XY)


def beat(node: Node, now: float) -> float:
    """The heartbeat of the node, and whatever else is due until then."""
    end = now + 1.0
    while node.next_timer() <= end:
        now = node.next_timer()
        node.handle_timer(now)
    return end


def test_flipping_an_interest_is_told_all_events_once_in_a_beat() -> None:
    node = holder(HELD)
    node.receive("b", msg.TellInterest(2, frozenset("y")), 0.2)
    node.receive("b", msg.TellInterest(3, XY), 0.2)
    once = bytes_sent(node)
    for version in range(4, 4 + TIMES):
        node.receive("b", msg.TellInterest(version, XY if version % 2 else frozenset("y")), 0.2)
    assert bytes_sent(node) < 20_000
    node.receive("b", msg.TellInterest(9_999, XY), 0.2)
    beat(node, 0.2)
    assert bytes_sent(node, msg.Have) <= 1.01 * once, "at the beat it is told what it missed, once"


def test_many_that_link_and_leave_by_turns_are_told_a_bounded_number_of_times() -> None:
    node = holder(HELD)
    node.receive("b", msg.TellInterest(2, frozenset("y")), 0.2)
    node.receive("b", msg.TellInterest(3, XY), 0.2)
    once = bytes_sent(node)
    for number in range(TIMES):
        node.receive(f"n{number}", connect(), 0.2)
        node.receive(f"n{number}", msg.Leave(G), 0.2)
    assert bytes_sent(node) < 40 * once


QUESTIONS: dict[str, tuple[Any, str]] = {
    "ask-interest of a neighbor": (msg.AskInterest(), "b"),
    "ask-interest of a stranger": (msg.AskInterest(), "c"),
    "connect of a neighbor": (connect(), "b"),
    "connect of a stranger": (msg.Connect(TaskId.RANDOM, 1, 9, 1, WIDE), "c"),
    "shuffle": (msg.Shuffle(()), "c"),
    "probe": (msg.Probe({"x": (0, "0")}), "c"),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_that_is_repeated_is_not_answered_each_time(name: str) -> None:
    question, peer = QUESTIONS[name]
    node = holder(HELD if "connect" in name else 0, interest=WIDE | XY)
    now = beat(node, 0.2)
    bytes_sent(node)
    node.receive(peer, question, now)
    once = bytes_sent(node)
    for _ in range(TIMES):
        node.receive(peer, question, now + 0.1)
    assert bytes_sent(node) <= {"shuffle": 2, "ask": 1}.get(name.split("-")[0], 0) * 1.2 * once
    if "probe" not in name:
        assert once > 0, "otherwise nothing was tested"
        now = beat(node, now + 0.1)
        bytes_sent(node)
        node.receive(peer, question, now)
        assert bytes_sent(node) > 0, "in the next beat it may ask again"


@pytest.mark.parametrize("ask", [lambda: msg.AskInterest(), lambda: msg.Shuffle(()), connect])
def test_all_strangers_together_get_a_fixed_number_of_answers(
    ask: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MOST_STRANGERS", 50)
    node = holder(interest=WIDE | XY)
    node.receive("first", ask(), 0.2)
    once = bytes_sent(node)
    assert once > 0
    for number in range(TIMES):
        node.receive(f"stranger {number}", ask(), 0.2)
    assert bytes_sent(node) < 60 * max(once, 3_000)


def test_losing_a_parent_again_and_again_sends_no_heartbeat_each_time() -> None:
    """A neighbor that names a better root and takes it back would make each of our neighbors hear of it."""
    node = holder()
    for name in "cdef":
        node.receive(name, connect(), 0.2)
    now = beat(node, 0.2)
    bytes_sent(node)
    for number in range(1, TIMES):
        wants = XY if number % 2 else frozenset("y")
        root = {"x": (0, "b", 0)} if number % 2 else {}
        node.receive("b", msg.TellInterest(number + 1, wants, 0, number, root), now)
        if node.next_timer() <= now:
            node.handle_timer(now)
    sent = [e for e in node.take_effects() if isinstance(e, Send) and type(e.message) is msg.Heartbeat]
    assert len(sent) <= 3

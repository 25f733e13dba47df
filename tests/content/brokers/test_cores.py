"""Single users and brokers: lost brokers, restarts, refusals, nonsense from remote members."""

from __future__ import annotations

import pytest

from content.brokers.fake_wire import Wire
from topicloom.content.brokers.messages import (
    Accept,
    Beat,
    Delivery,
    Event,
    EventId,
    Forward,
    Letter,
    News,
    Ping,
    Pong,
    Publish,
    Receipt,
    Redirect,
    Register,
    Replicate,
    RequestToMove,
    Welcome,
)
from topicloom.content.brokers.user import User, UserStage
from topicloom.content.brokers.user_rules import UserState
from topicloom.errors import UsageError

ALL = (((0.0, 10.0),),)
NAN = float("nan")


def pair(**options) -> Wire:
    wire = Wire("ABC", **options)
    wire.add("u", ALL, "A")
    wire.add("v", ALL, "B")
    wire.run(1.0)
    return wire


def test_a_move_step_by_step():
    """Section V: request_to_move, accept, replicate, connect, redirect; then the home broker forgets."""
    wire = pair()
    assert wire.move("u", "C")
    assert wire.state("A", "u") is UserState.ASKED
    wire.run(1.0)
    assert wire.users["u"].broker == "C"
    assert (wire.state("A", "u"), wire.state("C", "u")) == (UserState.REDIRECTING, UserState.ATTACHED)
    once = ("request-to-move", "accept", "replicate", "replicated", "ready", "connect", "took-over")
    assert [wire.sent[word] for word in once] == [1] * len(once)
    assert wire.sent["cancel"] == wire.sent["refused"] == 0
    wire.run(wire.settings.ttl + 1.0)
    assert wire.state("A", "u") is UserState.ABSENT
    wire.publish("v", 3.0)
    wire.run(1.0)
    assert wire.faulty(1.0) == [] and wire.unquiet() == []
    assert wire.sent["redirect"] == 0, "nothing came for u while it moved"


def test_while_moving_the_home_broker_redirects():
    wire = pair()
    wire.move("u", "C")
    wire.run(0.7)
    assert wire.state("A", "u") is UserState.REDIRECTING
    wire.publish("v", 3.0)
    wire.run(1.0)
    assert wire.sent["redirect"] >= 1, "all brokers still send to A as well"
    assert wire.faulty(0.5) == []


def test_a_client_whose_broker_dies_finds_another_and_publishes_what_was_not_confirmed():
    wire = pair()
    wire.kill("A")
    lost = wire.publish("u", 5.0)
    wire.run(wire.settings.notice + 1.0)
    assert wire.users["u"].broker in ("B", "C")
    assert wire.delivered["v", lost], "its broker never had it, so the next one must"
    wire.publish("v", 5.0)
    wire.run(1.0)
    assert wire.faulty(2.0) == []


def test_a_broker_that_was_started_anew_is_told_again():
    wire = pair()
    broker = wire.brokers["A"]
    record = broker.state.users.records.get("u")
    broker.state.users.remove(record)  # as if it had lost its memory
    wire.run(wire.settings.ping + 1.0)
    assert wire.state("A", "u") is UserState.ATTACHED and wire.users["u"].broker == "A"


def test_a_broker_given_up_too_early_is_heard_again():
    wire = pair()
    wire.brokers["A"].state.others.mark_dead("B")
    wire.run(2.0)
    wire.publish("u", 1.0)
    wire.run(1.0)
    assert wire.faulty(1.0) == []


def test_without_room_the_next_broker_is_tried_and_in_the_end_one_must():
    wire = Wire("ABC", capacity=0.5)
    wire.add("u", ALL, "A", rates=((1, 1.0),))
    wire.run(4.0)
    assert wire.sent["refused"] == 3, "A, B and C, each once"
    assert wire.users["u"].stage is UserStage.ATTACHED
    roomy = Wire("ABC", capacity=5.0)
    roomy.add("u", ALL, "A", rates=((1, 4.0),))
    roomy.run(1.0)
    roomy.add("v", ALL, "A", rates=((1, 4.0),))
    roomy.run(2.0)
    assert roomy.users["v"].broker in ("B", "C") and roomy.sent["refused"] == 1


def test_a_client_may_leave():
    wire = pair()
    wire.move("u", "C")
    wire.run(0.6)
    wire.leave("u")
    wire.run(1.0)
    assert all(wire.state(broker, "u") is UserState.ABSENT for broker in "ABC"), "redirecting ends too"
    with pytest.raises(UsageError, match="cannot publish"):
        wire.publish("u", 1.0)


def test_a_client_refuses_what_it_cannot_send():
    with pytest.raises(UsageError, match="2 ranges where there are 1"):
        User("u", (((0, 1), (0, 1)),), brokers=["A"])
    wire = pair()
    with pytest.raises(UsageError, match="ends before it begins"):
        wire.subscribe("u", (((3, 1),),))
    for point in ((1.0, 2.0), (NAN,), ()):
        with pytest.raises(UsageError, match="1 finite values"):
            wire.users["u"].publish(point, b"", wire.now)


def event(*point: float, publisher: str = "x") -> Event:
    return Event(EventId(publisher, 1), point, b"")


NONSENSE = [
    ("v", Publish(event(1.0))),
    ("v", Publish(event(1.0, 2.0, publisher="v"))),
    ("v", Publish(event(NAN, publisher="v"))),
    ("v", Forward(event(1.0), ())),
    ("v", Welcome(3)),
    ("w", Register(1, 1, (((0, 1), (0, 1)),), None, ())),
    ("w", Register(1, 1, (((NAN, 1),),), None, ())),
    ("w", Register(1, 1, ALL, ((99, 1.0),), ())),
    ("w", Register(1, 1, ALL, ((1, -1.0),), ())),
    ("B", Accept(1)),
    ("B", Forward(event(1.0, 2.0), ())),
    ("B", News(99, (((2, 1),),), None, (), 0.0, 1.0)),
    ("B", News(99, ALL, ((-1, 1.0),), (), 0.0, 1.0)),
    ("B", News(99, ALL, (), (), NAN, 1.0)),
    ("B", News(99, ALL, (), ((3, 10),), 0.0, 1.0)),
    ("B", News(99, ALL, (), ((3, 2),), 0.0, 1.0)),
    ("B", Replicate(1, "w", 1, 1, (((2, 1),),), None, (), 0.0)),
]


@pytest.mark.parametrize(("sender", "body"), NONSENSE, ids=lambda value: type(value).__name__)
def test_nonsense_to_a_broker_is_a_fault_and_nothing_else(sender, body):
    wire = pair()
    wire.hand("A", sender, Letter(1, 10_000, 0, body))
    assert [fault.peer for fault in wire.faults] == [sender]
    wire.run(1.0)
    wire.publish("v", 2.0)
    wire.run(1.0)
    assert wire.faulty(1.0) == []


@pytest.mark.parametrize("sender", ["A", "C", "stranger"])
def test_nonsense_to_a_client_changes_nothing(sender):
    wire = pair()
    user = wire.users["u"]
    before = user.broker, user.term, user.stage
    bodies = [Welcome(1), Welcome(user.term), RequestToMove(9, "nowhere"), Accept(1)]
    for number, body in enumerate([*bodies, Delivery(event(1.0, 2.0))]):
        wire.hand("u", sender, Letter(1, 10_000 + number, 0, body))
    for message in (Beat(1), Ping(1), Pong(1, False), Receipt(1, 99)):
        wire.hand("u", sender, message)
    assert (user.broker, user.term, user.stage) == before
    assert wire.faults, "what no broker says is reported"


def test_redirects_for_strangers_are_counted_and_dropped():
    wire = pair()
    wire.hand("A", "B", Letter(1, 50, 0, Redirect("nobody", event(1.0))))
    assert wire.brokers["A"].state.strays == 1
    assert any("users it does not know" in text for text in wire.unquiet())


def test_what_is_published_far_away_travels_along_the_tree():
    """Three brokers in a row: the middle one passes on, and no link carries the event twice."""
    wire = Wire("ABC", core=[[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    for name, home in zip("uvw", "ABC", strict=True):
        wire.add(name, ALL, home)
    wire.run(1.0)
    wire.publish("u", 4.0)
    wire.run(1.0)
    assert wire.faulty(0.5) == []
    assert wire.sent["forward"] == 2 and wire.sent["delivery"] == 2

"""What no promise of delivery covers: brokers started anew, users that leave, remote members gone mad.

Even then nothing comes twice, nothing is left over, nobody raises, and afterwards everything works again.
"""

from __future__ import annotations

from itertools import pairwise, product
from math import inf, isfinite
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.brokers.fake_wire import Wire
from content.brokers.test_cores import ALL, pair
from drawing import examples
from topicloom.content.brokers.broker import Broker
from topicloom.content.brokers.messages import (
    Event,
    EventId,
    Forward,
    Leave,
    Letter,
    News,
    Publish,
    Ready,
    Register,
)
from topicloom.content.brokers.user import User, UserStage
from topicloom.content.brokers.user_rules import UserState
from topicloom.errors import UsageError

RANGES = [ALL, (((0, 5),),), (((3, 7),), ((8, 9),)), (((9, 10),),), ()]
USERS = [f"u{number}" for number in range(5)]


def upheaval(seed: int, steps: int) -> Wire:
    """Users move, publish, change their minds and leave; brokers die and come back after a while."""
    random, wire = Random(seed), Wire(seed=seed, doubling=0.2)
    for number, name in enumerate(USERS):
        wire.add(name, RANGES[number], random.choice("ABC"))
    wire.run(1.0)

    def restart(broker: str, pause: float) -> None:
        if broker in wire.brokers and len(wire.brokers) > 1:
            wire.kill(broker)
            wire.at(wire.now + pause, lambda: wire.begin(broker))

    for _ in range(steps):
        wire.run(random.random() * 0.3)
        name, broker = random.choice(USERS), random.choice("ABCD")
        what = random.random()
        if what < 0.1:
            restart(broker, random.choice([0.0, 0.1, 0.5, 2.0, 6.0]))
        elif name in wire.gone:
            continue
        elif what < 0.15:
            wire.leave(name)
        elif what < 0.5:
            wire.move(name, broker)
        elif what < 0.6:
            wire.subscribe(name, random.choice(RANGES))
        else:
            wire.publish(name, random.randrange(10))
    wire.run(8.0 + 3 * wire.settings.ttl)
    return wire


def not_recovered(wire: Wire) -> list[str]:
    """What is wrong after all has become quiet, and with events that are published then."""
    found = [text for text in wire.faulty(1.0) if "never got" not in text]
    for broker in wire.brokers.values():
        broker.state.strays = 0  # redirected to a broker that knows nothing any more: not promised
    found += wire.unquiet() + [fault.reason for fault in wire.faults]
    wire.published.clear()
    for name, point in product(USERS, range(10)):
        if name not in wire.gone:
            wire.publish(name, point)
    wire.run(1.0)
    return found + [text for text in wire.faulty(0.0) if text.split()[0] not in wire.gone]


@examples(30)
@given(seed=st.integers(0, 10**6), steps=st.integers(5, 30))
def test_after_any_upheaval_everything_works_again(seed, steps):
    assert not_recovered(upheaval(seed, steps)) == []


def test_the_upheavals_notice_brokers_that_miss_a_restart(monkeypatch):
    real = Broker._note_alive

    def blind(self, name, message, now):
        if name in self.state.others.peers:
            self.state.others.peers[name].life = 10**9
        real(self, name, message, now)

    monkeypatch.setattr(Broker, "_note_alive", blind)
    assert any(not_recovered(upheaval(seed, 30)) for seed in range(10))


def test_a_broker_started_anew_at_once_learns_all_again_and_is_believed():
    """Nobody missed it: its news has low numbers again, and what others told its life before is lost."""
    wire = pair()
    wire.kill("A")
    wire.begin("A")
    wire.run(wire.settings.notice + 2.0)
    assert wire.state("A", "u") is UserState.ATTACHED
    wire.publish("u", 3.0)
    wire.publish("v", 4.0)
    wire.run(1.0)
    assert wire.faulty(1.0) == []


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("stage", [UserStage.REGISTERING, UserStage.CONNECTING])
def test_who_leaves_on_its_way_to_a_broker_is_gone(seed, stage):
    wire = pair(seed=seed)
    user = wire.add("w", ALL, "A") if stage is UserStage.REGISTERING else wire.users["u"]
    if stage is UserStage.CONNECTING:
        wire.move("u", "C")
    while user.stage is not stage:
        wire.run(0.005)
    wire.run(seed * 0.01)
    wire.leave(user.name)
    wire.publish("v", 1.0)
    wire.run(1.0)
    assert user.stage is UserStage.IDLE and wire.unquiet() == []
    assert not any(who == user.name for who, _ in wire.delivered), "nothing is delivered to who has left"


def test_who_leaves_a_dead_broker_does_not_write_to_it_for_ever():
    wire = pair()
    wire.kill("A")
    wire.publish("u", 1.0)
    wire.leave("u")
    wire.run(5.0)
    assert wire.users["u"].next_timer() == inf


def test_who_wants_what_cannot_be_asks_slowly():
    """Every broker refuses it, even when it must: the answer is no reason to ask again at once."""
    wire = Wire("ABC")
    wire.add("u", ALL, "A", rates=((99, 1.0),))
    wire.run(20.0)
    assert wire.users["u"].stage is UserStage.REGISTERING
    assert 10 < wire.sent["register"] < 3 + 20.0 / wire.settings.patience + 3


def test_who_has_not_accepted_is_not_moved():
    wire = pair()
    wire.users["u"].policy = lambda foreign: False
    assert wire.move("u", "C")
    wire.run(1.0)
    wire.hand("u", "A", Letter(1, 10_000, 0, Ready(1, "C")))
    wire.run(1.0)
    assert wire.users["u"].broker == "A" and wire.sent["connect"] == 0


def test_a_client_without_brokers_and_one_with_mad_rates_are_refused():
    with pytest.raises(UsageError, match="at least one broker"):
        User("u", ALL, brokers=[])
    for rate in (-1.0, inf, float("nan")):
        with pytest.raises(UsageError, match="channel 3 has the rate"):
            User("u", ALL, brokers=["A"], rates=((3, rate),))


def test_a_tree_larger_than_the_system_is_a_fault():
    wire = pair()
    tree = (("A", 0), *((place, place + 1) for place in range(5_000)))
    wire.hand("A", "B", Letter(1, 10_000, 0, Forward(Event(EventId("x", 1), (1.0,), b""), tree)))
    assert ["5,001 links" in fault.reason for fault in wire.faults] == [True]


def test_a_row_of_dead_brokers_longer_than_the_stack_is_passed_by():
    names = [f"b{place:04}" for place in range(1_200)]
    wire = Wire(names[:2])
    broker = wire.brokers[names[0]]
    for name in names[2:]:  # far too many for a wire: only their names are known, and that they are dead
        broker.state.others.peers[name] = type(broker.state.others.peers[names[1]])(name, 0.0, alive=False)
    row = [names[0], *names[2:], names[1]]
    tree = tuple(pairwise(row))
    wire.hand(names[0], names[1], Letter(1, 10_000, 0, Forward(Event(EventId("x", 1), (1.0,), b""), tree)))
    assert wire.sent["forward"] == 1 and not wire.faults


def test_rates_beyond_all_measure_do_not_spoil_the_sums():
    wire, mad = pair(round=1.0), tuple((channel, 1e308) for channel in range(10))
    wire.hand("A", "B", Letter(1, 10_000, 0, News(99, ALL, mad, (), 1e308, 1e308)))
    wire.hand("A", "w", Letter(1, 1, 0, Register(1, 1, ALL, mad, (), True)))
    assert [fault.peer for fault in wire.faults] == ["B", "w"]
    wire.run(5.0)
    assert isfinite(wire.brokers["A"].state.load)


def test_a_user_without_known_prices_stays_where_it_is():
    wire = Wire("AB", prices=lambda user: None if user == "stranger" else [9.0, 1.0], round=1.0, stay=1)
    for name in ("stranger", "known"):
        wire.add(name, ALL, "A", rates=((1, 1.0),))
    wire.run(10.0)
    assert {name: user.broker for name, user in wire.users.items()} == {"stranger": "A", "known": "B"}


def test_clients_that_come_and_go_leave_nothing_behind():
    wire = pair()
    post = wire.brokers["A"].state.mailbox
    for number in range(300):
        name = f"c{number}"
        wire.hand("A", name, Letter(1, 1, 0, Register(1, 1, ALL, None, ())))
        wire.hand("A", name, Letter(1, 2, 1, Leave(1)))
    wire.run(3 * wire.settings.remember)
    assert len(post._lines) < 10
    # Who was forgotten and comes back is understood: its numbers go on, and so do ours.
    wire.add("c1", ALL, "A", number=1)
    wire.hand("A", "c2", Letter(1, 3, 2, Publish(Event(EventId("c2", 1), (1.0,), b""))))
    wire.run(1.0)
    assert wire.users["c1"].broker == "A" and wire.delivered["u", EventId("c2", 1)]

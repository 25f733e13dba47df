"""The promise of `user_rules.py`: every due delivery exactly once, whatever moves, repeats or dies."""

from __future__ import annotations

from math import inf
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.brokers.fake_wire import Wire
from content.brokers.judge import Judge
from drawing import examples
from topicloom.content.brokers.broker_state import BrokerState
from topicloom.content.brokers.forwarding import Forwarding
from topicloom.content.brokers.letters import DeliveredEvents, Mailbox
from topicloom.content.brokers.messages import Delivery
from topicloom.content.brokers.migration import Migration
from topicloom.content.brokers.settings import BrokerSettings
from topicloom.content.brokers.user import User
from topicloom.content.brokers.user_rules import RULES

RANGES = [(((0, 10),),), (((0, 5),),), (((3, 7),), ((8, 9),)), (((9, 10),),), ()]
USERS = 5
LINE = [[abs(a - b) for b in (0, 2, 3, 1)] for a in (0, 2, 3, 1)]
"""Prices as if A, D, B, C stood in a row: events travel from one to the next, through D if it wants them."""
SECONDS = 2.0
"""Shorter than `travel`: who is with a broker that dies has come not long ago."""

times = st.floats(0.0, SECONDS, allow_nan=False).map(lambda time: round(time, 3))
users = st.integers(0, USERS - 1).map(lambda number: f"u{number}")
moves = st.tuples(times, users, st.sampled_from("ABCD"))
changes = st.tuples(times, users, st.sampled_from(RANGES))


def scene(
    seed: int,
    moves: list[Any],
    changes: list[Any] = (),  # type: ignore[assignment]
    *,
    death: float | None = None,
    stubborn: str = "",
    judge: Judge | None = None,
    **options: Any,
) -> Wire:
    """Users on A, B and C, all of whom publish all the time; D dies at `death`; afterwards quiet."""
    wire = Wire(seed=seed, doubling=0.2, judge=judge, core=LINE, **options)
    random = Random(seed)
    for number in range(USERS):
        policy = (lambda foreign: foreign not in stubborn) if number % 2 else (lambda foreign: True)
        wire.add(f"u{number}", RANGES[number % len(RANGES)], "ABC"[number % 3], policy=policy)
    wire.run(1.0)
    start = wire.now
    for step in range(int(SECONDS / 0.04)):
        name, point = f"u{random.randrange(USERS)}", random.randrange(10)
        wire.at(start + 0.04 * step, lambda name=name, point=point: wire.publish(name, point))
    for time, name, foreign in moves:
        wire.at(start + time, lambda name=name, foreign=foreign: wire.move(name, foreign))
    for time, name, wants in changes:
        wire.at(start + time, lambda name=name, wants=wants: wire.subscribe(name, wants))
    if death is not None:
        wire.at(start + death, lambda: wire.kill("D"))
    wire.run(SECONDS)
    wire.run(3 * wire.settings.ttl)
    return wire


def judged(wire: Wire) -> list[str]:
    # A change of subscription reaches a new broker and then all others; after a death, by a detour.
    known = wire.settings.notice + 1.0 if wire.deaths else 4 * wire.settings.max_delay
    return wire.faulty(known) + wire.unquiet() + [fault.reason for fault in wire.faults]


@examples(40)
@given(seed=st.integers(0, 10**6), moves=st.lists(moves, max_size=12), changes=st.lists(changes, max_size=4))
def test_moves_lose_and_repeat_nothing(seed, moves, changes):
    assert judged(scene(seed, moves, changes)) == []


@examples(40)
@given(
    seed=st.integers(0, 10**6),
    moves=st.lists(moves, max_size=8),
    to_dying=st.lists(st.tuples(times, users, st.just("D")), min_size=1, max_size=4),
    changes=st.lists(changes, max_size=2),
    death=times,
)
def test_a_foreign_broker_may_die_at_any_step(seed, moves, to_dying, changes, death):
    wire = scene(seed, moves + to_dying, changes, death=death)
    assert judged(wire) == []
    assert all(user.broker != "D" for user in wire.users.values()), "who was with D must find another"


@examples(15)
@given(
    seed=st.integers(0, 10**6),
    moves=st.lists(moves, min_size=3, max_size=10),
    stubborn=st.sampled_from("ABCD"),
)
def test_who_declines_stays_and_misses_nothing(seed, moves, stubborn):
    wire = scene(seed, moves, stubborn=stubborn)
    assert judged(wire) == []
    start = {name: next(broker for _, who, broker in wire.attached if who == name) for name in wire.users}
    odd = [name for number, name in enumerate(wire.users) if number % 2]
    moved = [(name, broker) for _, name, broker in wire.attached if name in odd and broker != start[name]]
    assert all(broker not in stubborn for _, broker in moved)


@examples(10)
@given(seed=st.integers(0, 10**6), there=st.sampled_from("BCD"), gap=st.sampled_from([0.0, 0.05, 0.3]))
def test_there_and_back_and_on_without_a_rest(seed, there, gap):
    """A user that moves again as soon as it can: each broker on its way hands on what comes late."""
    moves = [(0.05 * step + gap, "u0", (there, "A", "C", "B")[step % 4]) for step in range(35)]
    wire = scene(seed, moves)
    assert judged(wire) == []
    assert sum(who == "u0" for _, who, _ in wire.attached) > 3, "it must have moved several times"


@pytest.mark.parametrize("share", [1.2, 1.6])
def test_impatient_clients_hop_to_and_fro_and_still_lose_nothing(share, monkeypatch):
    """Users give up brokers that are only slow. Two then think a user theirs, until the terms decide."""
    monkeypatch.setattr(BrokerSettings, "patience", property(lambda self: share * self.max_delay))
    monkeypatch.setattr(BrokerSettings, "notice", property(lambda self: self.ping + 20 * self.max_delay))
    judge, registered = Judge(), 0
    for seed in range(6):
        wire = scene(seed, chain(seed), judge=judge)
        assert wire.faulty(4 * wire.settings.max_delay) == []
        registered += wire.sent["register"] - USERS
    assert registered > 20, "they must have given up and come back"
    seen = {(RULES[number].on, RULES[number].when) for number in judge.seen}
    assert ("TOOK-OVER", "of a lower term") in seen


def test_messages_survive_as_bytes():
    plain, coded = (scene(3, chain(3), as_bytes=as_bytes) for as_bytes in (False, True))
    assert judged(coded) == []
    assert coded.delivered == plain.delivered and coded.sent == plain.sent


def chain(seed: int, to: str = "ABCD") -> list[Any]:
    random = Random(seed)
    return [(random.random() * SECONDS, f"u{random.randrange(USERS)}", random.choice(to)) for _ in range(16)]


def caught(death: bool = False) -> bool:
    """Does any of some scenes show a fault?"""
    return any(
        judged(scene(seed, chain(seed, "ABCDD"), death=0.1 + 0.15 * (seed % 12) if death else None))
        for seed in range(24)
    )


def test_the_scenes_below_are_good_when_nothing_is_broken():
    assert not caught() and not caught(death=True)


def no_redirect(state, record, event, now):
    if record.in_charge and event.id.publisher != record.name:
        state.mailbox.send(record.name, Delivery(event), now)


def keeps_nothing(state, record, event, now, real=BrokerState.deliver):
    real(state, record, event, now)
    record.kept.clear()


def drops_what_is_under_way(migration, peer, body, now, real=Migration.on_took_over):
    record = migration._state.users.records.get(body.user)
    if record is not None and record.term < body.term:
        migration._state.mailbox.withdraw(record.name, Delivery)
    real(migration, peer, body, now)


BREAKS: dict[str, tuple[type, str, Any, bool]] = {
    "the home broker does not redirect": (BrokerState, "deliver", no_redirect, False),
    "the home broker stops at once": (BrokerSettings, "ttl", property(lambda self: 0.01), False),
    "what was under way to the user is not handed over": (
        Migration, "on_took_over", drops_what_is_under_way, False,
    ),
    "the user forgets what it has had": (DeliveredEvents, "add", lambda self, id, now: True, False),
    "redirected events are not kept": (BrokerState, "deliver", keeps_nothing, True),
    "nobody passes by a dead broker": (Forwarding, "forward_around", lambda *arguments: None, True),
    "the user stays with a dead broker": (
        User, "_give_up_broker", lambda self, now: setattr(self, "_ping", inf), True,
    ),
    "publications stay with the broker that was left": (
        User, "_take_back", lambda self, broker: None, True,
    ),
    "letters go out only once": (Mailbox, "handle_timer", lambda self, now: self._timers.clear(), True),
}  # fmt: skip


@pytest.mark.parametrize("what", BREAKS)
def test_the_judge_notices(what, monkeypatch):
    """A promise that held even without the part that keeps it would not have been tested."""
    owner, name, broken, death = BREAKS[what]
    monkeypatch.setattr(owner, name, broken)
    assert caught(death), f"nothing is wrong although {what}"

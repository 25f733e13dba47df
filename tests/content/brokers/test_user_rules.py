"""The table in `user_rules.py` against what brokers do: every step is permitted, and every row happens."""

from __future__ import annotations

from dataclasses import replace

import pytest

from content.brokers.fake_wire import Wire
from content.brokers.judge import Judge, permits
from content.brokers.test_promise import USERS, chain, scene
from topicloom.content.brokers import migration as migration_module
from topicloom.content.brokers import user_rules
from topicloom.content.brokers.messages import (
    Accept,
    Cancel,
    Connect,
    Decline,
    Leave,
    Letter,
    NoRoom,
    Register,
    Replicate,
    Replicated,
    Subscribe,
    TookOver,
)
from topicloom.content.brokers.user_rules import RULES, UserState, rule_table

ALL_WANTS = (((0.0, 10.0),),)


def alone(judge: Judge, state: UserState, **options) -> Wire:
    """Broker A, to which user u is in `state`; nobody else says anything by itself: u is no user here."""
    wire = Wire("AB", judge=judge, detector=100.0, ping=100.0, **options)
    say(wire, "u", Register(5, 1, ALL_WANTS, None, ()))
    if state is UserState.ABSENT:
        say(wire, "u", Leave(5))
    elif state is UserState.REDIRECTING:
        say(wire, "B", TookOver("u", 6))
    elif state is not UserState.ATTACHED:
        assert wire.brokers["A"].request_to_move("u", "B", wire.now)
        if state is not UserState.ASKED:
            say(wire, "u", Accept(1))
        if state is UserState.READY:
            say(wire, "B", Replicated(1, "u"))
    assert wire.state("A", "u") is state
    return wire


def say(wire: Wire, sender: str, body: object) -> None:
    """A letter that has not been had."""
    number = wire.brokers["A"].state.mailbox._line(sender).had.floor + 1
    wire.hand("A", sender, Letter(1, number, 0, body))


WORDS = [
    ("u", Register(9, 9, ALL_WANTS, None, ("B",))),
    ("u", Register(1, 1, ALL_WANTS, None, ())),
    ("u", Connect(9, 9, ALL_WANTS, None, ("B",), 3)),
    ("u", Connect(1, 1, ALL_WANTS, None, ("B",), 3)),
    ("u", Subscribe(9, (), None)),
    ("u", Accept(1)),
    ("u", Accept(7)),
    ("u", Decline(1)),
    ("u", Decline(7)),
    ("u", Leave(9)),
    ("B", Replicate(3, "u", 5, 1, ALL_WANTS, None, (), 0.0)),
    ("B", Replicated(1, "u")),
    ("B", Replicated(7, "u")),
    ("B", NoRoom(1, "u")),
    ("B", NoRoom(7, "u")),
    ("B", Cancel(3, "u")),
    ("B", TookOver("u", 9)),
    ("B", TookOver("u", 1)),
]


@pytest.fixture(scope="module")
def judge():
    """Everything that can be said in every state, time passing in every state, and whole scenes."""
    judge = Judge()
    for state in UserState:
        for sender, body in WORDS:
            wire = alone(judge, state)
            say(wire, sender, body)
        wire = alone(judge, state)
        wire.run(3 * wire.settings.ttl)
    full = alone(judge, UserState.ABSENT, capacity=0.0)
    told = ((1, 5.0),)
    for body in (Register(9, 9, ALL_WANTS, told, ()), Connect(9, 9, ALL_WANTS, told, ("B",), 3)):
        full.brokers["A"]._announcements._before[:] = range(11)
        say(full, "u", body)
    say(full, "B", Replicate(3, "u", 5, 1, ALL_WANTS, None, (), 1.0))
    for seed in range(8):
        scene(seed, chain(seed, "ABCDD"), death=0.3 + 0.2 * seed, judge=judge)
    return judge


def test_every_row_of_the_table_happens(judge):
    late = {"of the user", "of the foreign broker", "the foreign broker is dead"}  # in the tests below
    unseen = [f"{rule.on}: {rule.when}" for number, rule in enumerate(RULES) if not judge.seen[number]]
    assert [text for text in unseen if text.split(": ", 1)[1] not in late] == []


def test_death_and_silence_are_in_the_table():
    judge = Judge()
    for steps in (1, 2):
        wire = Wire("AB", judge=judge, detector=0.7, heartbeat=0.5, ping=0.3)
        wire.add("u", ALL_WANTS, "A")
        wire.run(1.2)
        wire.kill("B")
        wire.latency = (0.0, 0.0)
        wire.brokers["A"].state.others.peers["B"].heard = wire.now - 0.6
        assert wire.move("u", "B")
        if steps == 1:  # B is found dead between the question and the answer
            wire.brokers["A"].state.others.mark_dead("B")
        wire.run(2.0)
        assert wire.state("A", "u") is UserState.ATTACHED
        wire.vanish("u")
        wire.run(5.0)
        assert wire.state("A", "u") is UserState.ABSENT, "a user that is gone must be forgotten"
    seen = {(RULES[number].on, RULES[number].when) for number in judge.seen}
    assert {("silence", "of the user"), ("ACCEPT", "the foreign broker is dead")} <= seen
    assert ("death", "of the foreign broker") in seen


def test_a_step_that_the_table_does_not_allow_is_noticed(monkeypatch):
    real = migration_module.Migration.on_took_over

    def stays(migration, peer, body, now):
        real(migration, peer, body, now)
        record = migration._state.users.records.get(body.user)
        if record is not None:
            record.state = UserState.ATTACHED

    monkeypatch.setattr(migration_module.Migration, "on_took_over", stays)
    with pytest.raises(AssertionError, match="no row of the table"):
        scene(1, [(0.1, f"u{number}", "D") for number in range(USERS)])


def test_the_table_is_sharp():
    assert permits(RULES[7], UserState.ASKED, "ACCEPT", ("REPLICATE",), UserState.COPYING)
    assert not permits(RULES[7], UserState.ASKED, "ACCEPT", (), UserState.COPYING), "a copy must be sent"
    assert not any(permits(rule, UserState.ATTACHED, "ACCEPT", (), UserState.COPYING) for rule in RULES)
    assert not any(permits(rule, UserState.REDIRECTING, "time", (), UserState.ATTACHED) for rule in RULES)
    other = replace(RULES[7], then=(UserState.READY,))
    assert not permits(other, UserState.ASKED, "ACCEPT", ("REPLICATE",), UserState.COPYING)


def test_the_table_prints_all_rows():
    lines = rule_table().splitlines()
    assert len(lines) == 1 + len(RULES)
    assert max(map(len, lines)) < 200
    assert all(state.value in rule_table() for state in UserState)
    assert user_rules.__doc__ is not None and "exactly once" in user_rules.__doc__

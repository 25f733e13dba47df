"""The table in `link_rules.py` against what tasks do: every step is permitted, every row happens."""

from __future__ import annotations

from random import Random

import pytest

from spidercast.protocol.node_wire import Judge, Wire
from spidercast.protocol.rule_judge import name_of
from topicloom.spidercast.protocol import node_messages
from topicloom.spidercast.protocol.goals import NodeGoals
from topicloom.spidercast.protocol.link_rules import AWAY, RULES, LinkState, rule_table
from topicloom.spidercast.protocol.maintenance import MaintenanceTask
from topicloom.spidercast.protocol.messages import (
    AskInterest,
    Connect,
    ConnectOk,
    Disconnect,
    DisconnectOk,
    Heartbeat,
    Leave,
    Message,
    Probe,
    Redirect,
    TaskId,
    TellInterest,
    Topics,
)
from topicloom.wire.messages import Unknown

X: Topics = frozenset("x")
G = TaskId.GREEDY


def words(degree: int = 3, target: int = 3, interest: Topics = X) -> list[Message]:
    """One message of each kind, as a node that stands like this would send it."""
    return [
        Connect(G, degree, target, 1, interest),
        ConnectOk(G, degree, target, 1, interest),
        Redirect(G, "c", X),
        Disconnect(G),
        DisconnectOk(G),
        Leave(G),
        Heartbeat(G, degree, target, 1),
        Probe({"x": (0, "0")}),
        Probe({}),
        AskInterest(),
        TellInterest(1, interest),
    ]


def alone(
    judge: Judge, state: LinkState, *, full: bool = False, spare: bool = False, **constants: float
) -> Wire:
    """Node a, to which b is in `state`; nobody else says anything by itself. `full`: no room for others;
    `spare`: b is not needed."""
    margin = 0 if full else 5
    wire = Wire(judge=judge, goals=NodeGoals(greedy=1), margin=margin, connect_quarantine=1.0, **constants)
    wire.add("a", "x")
    if state is not LinkState.STRANGER:
        wire.known["b"] = X
        wire.run(0.2)  # it asks b, the only one it knows of
        assert wire.state("a", "b") is LinkState.ASKED
    if full or spare:
        wire.hand("a", "z", Connect(G, 0, 9, 1, X))
    if state in (LinkState.STRANGER, LinkState.ASKED):
        return wire
    wire.hand("a", "b", ConnectOk(G, 3, 3, 1, X))
    if state is LinkState.PARTING:
        if not spare:
            wire.hand("a", "z", Connect(G, 0, 9, 1, X))
        wire.run(0.3)  # one of the two is not needed, and b has links enough
        if not spare:
            wire.hand("a", "z", Leave(G))
    elif state is LinkState.DOUBTED:
        wire.run(1.0)
        if spare:
            wire.hand("a", "z", Heartbeat(G, 0, 9, 1))
        wire.run(0.6)
    assert wire.state("a", "b") is state
    return wire


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge()


def every_word_in_every_state(judge: Judge) -> None:
    for state in LinkState:
        for message in words():
            for full in (False, True):
                if full and state in (LinkState.LINKED, LinkState.PARTING, LinkState.DOUBTED):
                    continue
                alone(judge, state, full=full).hand("a", "b", message)
            alone(judge, state, spare=True).hand("a", "b", message)
    wire = alone(judge, LinkState.STRANGER)
    wire.run(4.0)  # its root has been the same for a while
    wire.hand("a", "b", Probe({"x": (0, "0")}))
    assert wire.state("a", "b") is LinkState.ASKED


def what_does_not_fit(judge: Judge) -> None:
    for state in LinkState:
        for kind in (Connect, ConnectOk):
            wire = alone(judge, state)
            wire.hand("a", "b", kind(G, 3, 3, 1, X, heartbeat=1e6))
            assert wire.state("a", "b") is LinkState.ASKED
        for unknown in (Unknown("invented", newer=False), Unknown("invented", newer=True), "no message"):
            wire = alone(judge, state)
            wire.hand("a", "b", unknown)  # type: ignore[arg-type]
            ignored = isinstance(unknown, Unknown) and unknown.newer
            assert (wire.state("a", "b") is state) is (ignored or state in AWAY)


def connections_break(judge: Judge) -> None:
    for state in LinkState:
        for word in ("lost", "refused"):
            wire = alone(judge, state)
            wire.loop.tell("a", lambda core: getattr(core, word)("b", wire.now))  # noqa: B023
            assert wire.state("a", "b") in AWAY
        wire = alone(judge, state)
        for _ in range(3):
            wire.hand("a", "b", AskInterest())


def the_same_word_again(judge: Judge) -> None:
    for state in (LinkState.STRANGER, LinkState.LINKED, LinkState.PARTING):
        wire = alone(judge, state, full=state is LinkState.STRANGER)
        for _ in range(2):
            wire.hand("a", "b", Connect(G, 3, 3, 1, X))
    wire = alone(judge, LinkState.ASKED, full=True)
    for _ in range(2):
        wire.hand("a", "b", Connect(G, 3, 3, 1, X))
    assert wire.state("a", "b") is LinkState.ASKED
    wire = Wire(judge=judge, goals=NodeGoals(greedy=1), doubt=0.1)
    wire.add("a", "x")
    wire.run(0.8)
    wire.hand("a", "b", Connect(G, 3, 3, 1, X))
    while wire.state("a", "b") is not LinkState.DOUBTED:
        wire.run(0.1)
    wire.hand("a", "b", Connect(G, 3, 3, 1, X))
    assert wire.state("a", "b") is LinkState.LINKED


def time_passes(judge: Judge) -> None:
    for state in LinkState:
        wire = alone(judge, state)
        wire.run(2.0)
        wire = alone(judge, state)
        woken = wire.now + 5  # the driver slept: nobody is to blame for that
        wire.loop.tell("a", lambda core: core.handle_timer(woken))  # noqa: B023
        wire.run(6.0)
        if state is not LinkState.DOUBTED:  # given up without having been doubted
            alone(judge, state, doubt=3.0).run(6.0)
    wire = alone(judge, LinkState.PARTING)
    for _ in range(12):
        wire.hand("a", "b", Heartbeat(G, 3, 3, 1))
        wire.run(1.0)
    assert wire.state("a", "b") is LinkState.LINKED
    wire.hand("a", "b", DisconnectOk(G))  # a very late answer
    wire = alone(judge, LinkState.PARTING)
    wire.run(1.6)
    assert wire.state("a", "b") is LinkState.DOUBTED
    wire.hand("a", "b", DisconnectOk(G))
    for state in LinkState:
        alone(judge, state).leave("a")


def nodes_come_and_go(judge: Judge, seed: int, **constants: int) -> None:
    rng = Random(seed)
    wire = Wire(seed, judge=judge, goals=NodeGoals(greedy=2, random=1), latency=(0.0, 0.3), **constants)
    wire.loss = wire.doubling = 0.1
    for name in range(12):
        wire.add(name, rng.sample("vwxyz", 2))
    for turn in range(20):
        wire.run(0.7)
        name = rng.choice(list(wire.nodes))
        (wire.crash if turn % 2 else wire.leave)(name)
        wire.run(0.7)
        wire.add(name, rng.sample("vwxyz", 2))


@pytest.mark.slow
def test_every_step_is_permitted_and_every_row_is_seen_from_each_of_its_states(judge: Judge) -> None:
    every_word_in_every_state(judge)
    what_does_not_fit(judge)
    connections_break(judge)
    the_same_word_again(judge)
    time_passes(judge)
    for seed in range(3):
        nodes_come_and_go(judge, seed)
        nodes_come_and_go(judge, seed, margin=0)
    assert judge.unseen() == []


def test_the_table_knows_every_message_in_every_state() -> None:
    """No occasion is left open: whoever reads the table finds an answer."""
    for message in words():
        for state in LinkState:
            assert any(rule.on == name_of(message) and state in rule.states for rule in RULES), (
                state,
                message,
            )


def test_the_judge_catches_a_task_that_answers_disconnect_with_connect_ok(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(task: MaintenanceTask, peer: str, message: Disconnect, now: float) -> None:
        task._context.send(peer, ConnectOk(task.id, 0, 0, 1, X))

    monkeypatch.setitem(node_messages.TASK_HANDLERS, Disconnect, broken)
    for state in LinkState:
        wire = alone(Judge(), state)
        with pytest.raises(AssertionError, match="no row of the table permits"):
            wire.hand("a", "b", Disconnect(G))


def test_the_judge_catches_a_task_that_removes_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(task: MaintenanceTask, peer: str, message: Leave, now: float) -> None:
        MaintenanceTask.on_leave(task, peer, message, now)
        task._remove(next(iter(task.neighbors)), "left", now)

    monkeypatch.setitem(node_messages.TASK_HANDLERS, Leave, broken)
    wire = alone(Judge(), LinkState.LINKED, spare=True)
    with pytest.raises(AssertionError, match="LEAVE of another node"):
        wire.hand("a", "b", Leave(G))


def test_the_judge_catches_a_state_that_changes_between_steps() -> None:
    wire = alone(Judge(), LinkState.LINKED)
    task = wire.nodes["a"]._tasks[G]
    task._remove("b", "for no reason", wire.now)
    with pytest.raises(AssertionError, match="on='time'"):
        wire.hand("a", "b", Leave(G))


def test_the_table_prints_one_aligned_line_for_each_rule() -> None:
    lines = rule_table().splitlines()
    assert len(lines) == len(RULES) + 1
    column = lines[0].index("send")
    assert all(line[column - 2 : column] == "  " for line in lines)
    for line, rule in zip(lines[1:], RULES, strict=True):
        assert line.startswith(rule.states[0].value)
        assert rule.on in line
        assert rule.send in line

"""Faults with a beginning and an end, and connections with an order, a set-up time and a bandwidth."""

from __future__ import annotations

from itertools import pairwise
from math import inf

import pytest

from topicloom.errors import UsageError
from topicloom.simulation.faults import Fault, read_faults
from topicloom.simulation.links import Links
from topicloom.simulation.loop import Loop
from topicloom.simulation.shaping import Shape, read_slow
from topicloom.wire.core import BaseCore


class Listener(BaseCore):
    """Notes what comes and when, and wakes every second."""

    def __init__(self) -> None:
        super().__init__([])
        self.got: list[tuple[float, object]] = []
        self.woken: list[float] = []
        self._due = inf

    def start(self, now: float) -> None:
        self._due = now + 1.0

    def receive(self, peer: object, message: object, now: float) -> None:
        self.got.append((now, message))

    def handle_timer(self, now: float) -> None:
        self.woken.append(now)
        self._due = now + 1.0


def loop(links: Links) -> Loop[Listener]:
    made: Loop[Listener] = Loop(links, lambda name, effects, cause: None)
    for name in "abcd":
        made.enter(name, Listener())
    return made


def test_those_struck_are_the_share_and_depend_on_the_seed_alone() -> None:
    names = [f"n{number}" for number in range(100)]
    half = Fault(0, 1, 0.5)
    assert len(half.struck(names, 1, "cut")) == 50
    assert half.struck(names, 1, "cut") == half.struck(names, 1, "cut") != half.struck(names, 2, "cut")
    assert len(Fault(0, 1, 0.001).struck(names, 1)) == 1
    assert len(Fault(0, 1, 0.999).struck(names, 1)) == 99, "somebody must be left on the other side"


@pytest.mark.parametrize("text", ["5", "5:4", "-1:4", "1:2:0", "1:2:1", "1:2:3:4", "a:b", "1:2,"])
def test_a_fault_that_is_none_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(UsageError, match="cut="):
        read_faults("cut", text, 0.5)
    with pytest.raises(UsageError, match="START:END:SHARE"):
        read_faults("freeze", "1:2")


def test_nothing_passes_between_the_sides_of_a_cut() -> None:
    world = loop(Links(lambda sender, receiver: 0.1, constant=0.1))
    world.cuts.append({"a": True, "b": True})
    assert world.send("a", ("b", "c", "d"), "x") == 2
    world.cuts.clear()
    assert world.send("a", ("b", "c", "d"), "y") == 0
    world.run(1.0)
    assert [[message for _, message in world.present(name).got] for name in "bcd"] == [
        ["x", "y"],
        ["y"],
        ["y"],
    ]


def test_a_frozen_core_gets_all_that_came_when_it_thaws_and_its_timer_rings_then() -> None:
    world = loop(Links(lambda sender, receiver: 0.1, constant=0.1))
    core = world.present("a")
    world.freeze("a")
    world.send("b", ("a",), "x")
    world.run(5.0)
    assert world.is_frozen("a") and not core.got and not core.woken
    world.thaw("a")
    world.run(5.0)
    assert core.got == [(5.0, "x")]
    assert core.woken == [5.0]
    world.run(6.5)
    assert core.woken == [5.0, 6.0]


def test_with_fifo_no_message_overtakes_another_of_its_connection() -> None:
    delays = iter([0.5, 0.1, 0.3, 0.2])
    world = loop(Links(lambda sender, receiver: next(delays), shape=Shape(fifo=True)))
    for number in range(4):
        world.send("a", ("b",), number)
    world.run(1.0)
    assert [message for _, message in world.present("b").got] == [0, 1, 2, 3]


def test_a_connection_is_set_up_once_for_both_ends() -> None:
    shape = Shape(setup=1.0)
    assert shape.arrival("a", "b", "x", 0.0, 0.1) == 1.1
    assert shape.arrival("b", "a", "x", 0.5, 0.1) == 1.1
    assert shape.arrival("a", "b", "x", 5.0, 0.1) == 5.1


def test_bytes_wait_for_those_before_them() -> None:
    shape = Shape(bandwidth=100.0, size_of=len)
    times = [shape.arrival("a", "b", "x" * 50, 0.0, 0.1) for _ in range(4)]
    assert all(later - earlier == pytest.approx(0.5) for earlier, later in pairwise(times))
    assert shape.arrival("a", "c", "x" * 50, 0.0, 0.1) == pytest.approx(0.6), "another connection is free"


def test_a_node_may_have_a_bandwidth_of_its_own() -> None:
    shape = Shape(narrow={"a": 10.0})
    arrivals = [shape.arrival(*pair, "x" * 50, 0.0, 0.1) for pair in ("ab", "ba", "bc")]
    assert arrivals == pytest.approx([5.1, 5.1, 0.1])


def test_slow_nodes_are_slow_both_ways() -> None:
    shape = Shape(slow={"a": 10.0})
    assert [shape.arrival(*pair, "x", 0.0, 0.1) for pair in ("ab", "ba", "bc")] == [1.0, 1.0, 0.1]
    for wrong in ("0.1", "0:2", "0.5:0.5", "x:y"):
        with pytest.raises(UsageError, match="slow="):
            read_slow(wrong)


def test_a_connection_that_was_closed_costs_its_set_up_time_again() -> None:
    shape = Shape(setup=1.0, fifo=True)
    assert shape.arrival("a", "b", b"", 0.0, 0.1) == 1.1
    assert shape.arrival("b", "a", b"", 5.0, 0.1) == 5.1
    shape.close("b", "a")
    assert shape.arrival("b", "a", b"", 6.0, 0.1) == 7.1
    assert shape.arrival("a", "c", b"", 6.0, 0.1) == 7.1
    shape.close_all("a")
    assert [shape.arrival("a", to, b"", 9.0, 0.1) for to in ("b", "c")] == [10.1, 10.1]


def test_a_node_of_its_own_set_up_time_and_order() -> None:
    """Connections that are open already stay open."""
    shape = Shape()
    shape.arrival("a", "b", b"", 0.0, 0.1)
    shape.setups["a"] = 2.0
    shape.ordered.add("a")
    assert shape.arrival("b", "a", b"", 1.0, 0.5) == 1.5
    assert shape.arrival("b", "a", b"", 1.1, 0.1) == 1.5
    assert shape.arrival("c", "a", b"", 1.0, 0.5) == 3.5
    assert shape.arrival("c", "b", b"", 1.0, 0.5) == 1.5

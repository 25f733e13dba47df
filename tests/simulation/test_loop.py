"""The loop in virtual time: what comes first at one moment, timers, cores that are away, losses, queues."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicloom.simulation.links import Links
from topicloom.simulation.loop import Loop
from topicloom.wire.core import NOTHING, BaseCore, Core, Effect, Name, Send


class Recorder(BaseCore):
    """A core that notes each call in a log that all share; `timers` are the moments it wants to be called."""

    def __init__(self, name: Name, log: list[Any], timers: Sequence[float] = ()) -> None:
        super().__init__([])
        self.name, self.log, self.timers = name, log, list(timers)

    def start(self, now: float) -> None:
        self.log.append((now, self.name, "start"))
        self.rearm()

    def receive(self, peer: Name, message: Any, now: float) -> None:
        self.log.append((now, self.name, peer, message))
        self.answer(peer, message)
        self.rearm()

    def handle_timer(self, now: float) -> None:
        self.timers = [time for time in self.timers if time > now]
        self.log.append((now, self.name, "timer"))
        self.rearm()

    def answer(self, peer: Name, message: Any) -> None:
        pass

    def say(self, message: Any, *to: Name) -> None:
        self._effects.append(Send(to, message))

    def rearm(self) -> None:
        self._due = min(self.timers, default=inf)


class Post:
    """A loop that carries what its cores send, and what came of it."""

    def __init__(self, links: Links) -> None:
        self.loop: Loop[Recorder] = Loop(links, self._carry_out)
        self.log: list[Any] = []
        self.lost = 0
        self.causes: list[tuple[Name, Any]] = []

    def _carry_out(self, name: Name, effects: Sequence[Effect], cause: Any) -> None:
        assert effects, "nobody is called for nothing"
        self.causes.append((name, cause))
        for effect in effects:
            assert isinstance(effect, Send)
            self.lost += self.loop.send(name, effect.to, effect.message)

    def add(self, *names: Name, timers: Sequence[float] = ()) -> None:
        for name in names:
            self.loop.enter(name, Recorder(name, self.log, timers))
        self.log.clear()

    def say(self, name: Name, message: Any, *to: Name) -> None:
        self.loop.tell(name, lambda core: core.say(message, *to))


def post(seconds: float = 1.0) -> Post:
    return Post(Links(lambda sender, to: seconds, constant=seconds))


def test_at_one_moment_arrivals_come_first_then_what_was_armed_first() -> None:
    here = post(1.0)
    here.loop.call_at(1.0, lambda now: here.log.append((now, "call")))
    here.add("a", "b", timers=[1.0])
    here.loop.call_at(1.0, lambda now: here.log.append((now, "last call")))
    here.say("b", "one", "a")
    here.say("a", "two", "b", "a")
    here.loop.run(1.0)
    assert here.log == [
        (1.0, "a", "b", "one"),
        (1.0, "b", "a", "two"),
        (1.0, "a", "a", "two"),
        (1.0, "call"),
        (1.0, "a", "timer"),
        (1.0, "b", "timer"),
        (1.0, "last call"),
    ]


def test_a_run_ends_at_its_end_and_goes_on_from_there() -> None:
    here = post(1.0)
    here.add("a", timers=[0.5, 2.0, 2.5])
    here.loop.run(2.0)
    assert here.log == [(0.5, "a", "timer"), (2.0, "a", "timer")]
    assert here.loop.now == 2.0
    here.loop.run(2.25)
    assert here.loop.now == 2.25 and len(here.log) == 2
    here.loop.run(9.0)
    assert here.log[2:] == [(2.5, "a", "timer")]
    assert here.loop.occurrences == 3


def test_an_earlier_timer_takes_the_place_of_a_later_one() -> None:
    here = post()
    here.add("a", timers=[5.0])
    here.loop.run(1.0)
    here.loop.tell("a", lambda core: (core.timers.insert(0, 2.0), core.rearm()))
    here.loop.run(5.0)
    assert here.log == [(2.0, "a", "timer"), (5.0, "a", "timer")], "each once"


def test_a_timer_that_was_put_off_rings_early_once_and_then_in_time() -> None:
    here = post()
    here.add("a", timers=[2.0])
    here.loop.tell("a", lambda core: (core.timers.__setitem__(0, 4.0), core.rearm()))
    here.loop.run(5.0)
    assert here.log == [(2.0, "a", "timer"), (4.0, "a", "timer")]


def test_time_does_not_go_back_for_who_is_overdue() -> None:
    here = post()
    here.add("a")
    here.loop.run(3.0)
    here.loop.tell("a", lambda core: (core.timers.append(1.0), core.rearm()))
    here.loop.run(3.0)
    assert here.log == [(3.0, "a", "timer")]


def test_who_is_away_gets_nothing_and_a_new_life_starts_anew() -> None:
    here = post(1.0)
    here.add("a", "b", timers=[3.0])
    here.say("a", "lost", "b", "nobody")
    gone = here.loop.remove("b")
    assert here.loop.find("b") is None and [name for name, _ in here.loop.here()] == ["a"]
    with pytest.raises(AssertionError, match="b is away"):
        here.loop.tell("b", lambda core: None)
    here.loop.hand("b", "a", "nothing")
    here.loop.run(2.0)
    assert here.log == []
    here.say("a", "found", "b")
    here.loop.enter("b", Recorder("b", here.log))
    with pytest.raises(AssertionError, match="b is here already"):
        here.loop.enter("b", gone)
    here.loop.run(9.0)
    # The timer of the former life rings early for the new one, which does no harm.
    assert here.log == [
        (2.0, "b", "start"),
        (3.0, "b", "a", "found"),
        (3.0, "a", "timer"),
        (3.0, "b", "timer"),
    ]


def test_a_timer_for_nobody_does_not_keep_the_next_life_from_its_own() -> None:
    here = post()
    here.add("a", timers=[1.0])
    here.loop.remove("a")
    here.loop.run(2.0)
    here.loop.enter("a", Recorder("a", here.log, [4.0]))
    here.loop.run(5.0)
    assert here.log == [(2.0, "a", "start"), (4.0, "a", "timer")]
    assert here.loop.occurrences == 1


def test_losses_are_counted_and_never_arrive() -> None:
    here = Post(Links(lambda sender, to: None if to == "b" else 0.5))
    here.add("a", "b", "c")
    here.say("a", "word", "b", "c")
    here.loop.run(1.0)
    assert here.lost == 1
    assert here.log == [(0.5, "c", "a", "word")]


def test_effects_come_with_their_cause() -> None:
    here = post(1.0)
    here.add("a", "b")
    here.loop.present("b").answer = lambda peer, message: here.loop.present("b").say("yes", peer)  # type: ignore[method-assign]
    here.say("a", "well?", "b")
    here.loop.hand("b", "c", "and?")
    here.loop.run(1.5)
    assert here.causes == [("a", None), ("b", "and?"), ("b", "well?")]


class Chatter(Recorder):
    """Answers as its random numbers say: to nobody, somebody, or many; sometimes by a timer."""

    def __init__(self, name: int, log: list[Any], n: int, rng: Random) -> None:
        super().__init__(name, log, [rng.choice((0.0, 0.25, 0.5))])
        self._n, self._rng = n, rng

    def answer(self, peer: Name, message: int) -> None:
        self._maybe_say(message)

    def handle_timer(self, now: float) -> None:
        super().handle_timer(now)
        self._maybe_say(4)
        self.timers.append(now + self._rng.choice((0.25, 0.5, 1.0)))
        self.rearm()

    def _maybe_say(self, ttl: int) -> None:
        if ttl:
            to = self._rng.sample(range(self._n), self._rng.randint(0, min(2, self._n)))
            self.say(ttl - 1, *to)


@given(st.integers(1, 5), st.sampled_from([0.0, 0.25, 0.3, 1.0]), st.integers(0, 10**6))
def test_the_queue_without_a_heap_gives_the_same_run_as_the_heap(n: int, delay: float, seed: int) -> None:
    def course(links: Links) -> list[Any]:
        here, rng = Post(links), Random(seed)
        for name in range(n):
            here.loop.enter(name, Chatter(name, here.log, n, rng))
        here.loop.run(1.1)
        here.loop.remove(0)
        here.loop.run(2.0)
        here.loop.enter(0, Chatter(0, here.log, n, rng))
        here.loop.run(3.0)
        return here.log

    with_heap = course(Links(lambda sender, to: delay))
    assert course(Links(lambda sender, to: delay, constant=delay)) == with_heap
    assert course(Links(lambda sender, to: delay)) == with_heap, "a seed fixes the run"


def test_who_asks_for_nothing_costs_nothing() -> None:
    core: Core = Recorder("a", [])
    assert core.take_effects() is NOTHING


def test_effects_are_taken_once_and_parts_keep_their_list() -> None:
    effects: list[Effect] = []
    core = BaseCore(effects)
    effects.append(Send(("b",), "one"))
    taken = core.take_effects()
    effects.append(Send(("b",), "two"))
    assert list(taken) == [Send(("b",), "one")], "what was taken does not change"
    assert list(core.take_effects()) == [Send(("b",), "two")]
    assert core.take_effects() == NOTHING
    assert core.next_timer() == inf

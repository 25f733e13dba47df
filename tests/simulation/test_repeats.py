"""Heartbeats by exception: who is noted, who is fed, and that a run is the same without any of it."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from spidercast.simulator.worlds import mixed
from topicloom.simulation.repeats import Repeats
from topicloom.spidercast.simulator import world as simulator
from topicloom.spidercast.simulator.run import SimulationOutcome, SimulationRun
from topicloom.spidercast.simulator.scenario import Scenario

FAULTS = (
    (),
    ("freeze=3:6:0.3,7:8:0.5", "root=off"),
    ("cut=4:7,8:9:0.2",),
    ("life=8", "crash=0.5"),
    ("life=8", "crash=1", "freeze=5:8:0.3", "cut=6:9:0.3"),
    ("kr=adaptive",),
    ("view=gossip", "life=10"),
)


@dataclass(eq=False)
class Beat:
    """A message that is compared by identity, as heartbeats are."""

    task: int = 0


class Ear:
    def __init__(self, heartbeat: Any) -> None:
        self.heartbeat, self.heard = heartbeat, 0.0
        self.unread: list[Any] | None = None


def seats(**ears: Ear | None) -> dict[Any, Any]:
    return {name: SimpleNamespace(feeds=ear) for name, ear in ears.items()}


def repeats() -> Repeats:
    return Repeats(Beat, lambda beat: beat.task, lambda ear, _, beat: ear if expects(ear, beat) else None)


def expects(ear: Ear | None, beat: Beat) -> bool:
    return ear is not None and (ear.heartbeat is beat or ear.unread is not None)


def test_only_those_who_expect_it_are_noted_and_not_before_the_second_time() -> None:
    beat, said = Beat(), repeats()
    a, b = Ear(beat), Ear(None)
    here = seats(a=a, b=b, gone=None)
    receivers = ("a", "b", "gone", "never")
    assert said.note(receivers, "s", beat, 1.0, here) == receivers
    assert said.note(receivers, "s", beat, 2.0, here) == ("b", "gone", "never")
    assert (a.heard, b.heard) == (2.0, 0.0)
    a.heartbeat, b.heartbeat = None, beat  # one wants to be fed, the other has been
    assert said.note(receivers, "s", beat, 3.0, here) == ("a", "gone", "never")
    assert said.note(receivers, "s", Beat(), 4.0, here) == receivers
    assert (a.heard, b.heard) == (2.0, 3.0)


def test_a_core_that_puts_heartbeats_off_finds_each_new_one_once_in_their_order() -> None:
    said, ear = repeats(), Ear(None)
    ear.unread = unread = []
    here, beats = seats(a=ear), [Beat(), Beat(), Beat()]
    assert said.note(("a",), "s", beats[0], 1.0, here) == ("a",), "not before the second time"
    for now, beat in ((2.0, beats[1]), (3.0, beats[1]), (4.0, beats[2])):
        assert said.note(("a",), "s", beat, now, here) == ()
        assert ear.heard == now
    assert unread == [("s", beats[1]), ("s", beats[2])]
    ear.unread = None  # from now on it reads at once
    assert said.note(("a",), "s", beats[2], 5.0, here) == ()
    assert said.note(("a",), "s", beats[0], 6.0, here) == ("a",)
    assert len(unread) == 2


def test_a_core_with_as_much_put_off_as_it_may_keep_is_fed() -> None:
    def with_room(ear: Any, _: Any, beat: Beat) -> Any:
        return None if ear.unread else ear

    said, ear = Repeats(Beat, lambda beat: beat.task, with_room, most_unread=lambda beat: 1), Ear(None)
    ear.unread = []
    here, beats = seats(a=ear), [Beat(), Beat(), Beat()]
    fed = [said.note(("a",), "s", beat, 1.0, here) for beat in beats]
    assert fed == [("a",), (), ("a",)]
    assert ear.unread == [("s", beats[1])]


def test_other_receivers_and_a_core_in_the_place_of_another_are_asked_anew() -> None:
    beat, said = Beat(), repeats()
    old, new = Ear(beat), Ear(None)
    for now in (1.0, 2.0):
        said.note(("a",), "s", beat, now, seats(a=old))
    said.begin_anew()
    assert said.note(("a",), "s", beat, 3.0, seats(a=new)) == ("a",)
    assert said.note(("a", "b"), "s", beat, 4.0, seats(a=old, b=old)) == ("a", "b")
    assert old.heard == 2.0


def course(seed: int, words: tuple[str, ...], *, by_exception: bool) -> SimulationOutcome:
    scenario = Scenario.of("spidercast", ("seconds=10", "snapshot=1", "diameters=never", *words), seed=seed)
    run = SimulationRun(mixed(20, seed), scenario)
    if not by_exception:
        run.world._repeats = None
    return run.finish()


@pytest.mark.parametrize("words", FAULTS)
def test_a_run_is_the_same_as_if_every_heartbeat_were_handed_over(words: tuple[str, ...]) -> None:
    one, other = (course(1, words, by_exception=on) for on in (True, False))
    assert one.snapshots == other.snapshots
    assert (one.messages, one.links, one.occurrences) == (other.messages, other.links, other.occurrences)


def test_the_comparison_sees_heartbeats_that_are_noted_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of the check: where the ears are nobody's, neighbors fall silent."""
    right = course(1, (), by_exception=False)
    monkeypatch.setattr(simulator, "ear_of", lambda node, peer, message: Ear(message))
    assert course(1, (), by_exception=True).snapshots != right.snapshots

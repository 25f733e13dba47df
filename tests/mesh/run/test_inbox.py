"""Waiting for messages: until all are there, nothing comes any more, or far too much does."""

from __future__ import annotations

import asyncio

from topicloom.mesh.run import inbox as waiting
from topicloom.mesh.run.adapter import Arrival
from topicloom.mesh.run.inbox import Inbox

ONE, TWO = Arrival("a", "x", 1), Arrival("b", "x", 1)


def nothing() -> None:
    """No broker ended."""


def test_what_stays_away_is_given_up_after_a_quiet_time():
    async def wait() -> tuple[bool, int]:
        inbox = Inbox(asyncio.get_running_loop().time)
        inbox.expect([ONE, TWO])
        inbox.arrived(ONE)
        return await inbox.wait(0.1, nothing), inbox.missing

    assert asyncio.run(wait()) == (False, 1)


def test_time_in_which_this_process_stood_still_is_not_quiet(monkeypatch):
    """The clock jumps by a minute at every look, as on a machine that was suspended; the message is there."""
    monkeypatch.setattr(waiting, "LOOK", 0.01)
    minutes = iter(range(0, 60_000, 60))

    async def wait() -> bool:
        inbox = Inbox(lambda: float(next(minutes)))
        inbox.expect([ONE])
        asyncio.get_running_loop().call_later(0.03, inbox.arrived, ONE)
        return await inbox.wait(5.0, nothing)

    assert asyncio.run(wait())


def test_what_was_given_up_is_not_waited_for_any_more():
    async def wait() -> tuple[bool, int]:
        inbox = Inbox(asyncio.get_running_loop().time)
        inbox.expect([ONE])
        inbox.give_up()
        inbox.expect([TWO])
        inbox.arrived(TWO)
        return await inbox.wait(5.0, nothing), inbox.missing

    assert asyncio.run(wait()) == (True, 0)


def test_far_too_many_messages_are_a_storm():
    async def wait() -> bool:
        inbox = Inbox(asyncio.get_running_loop().time)
        inbox.expect([ONE, TWO])
        for _ in range(waiting.STORM_FLOOR + 10):
            inbox.arrived(ONE)
        return await inbox.wait(60.0, nothing) or not inbox.storm

    assert asyncio.run(wait()) is False

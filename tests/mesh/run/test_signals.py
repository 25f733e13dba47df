"""Signals to end: noted while things are put away, heeded when nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from topicloom.mesh.run.signals import SIGNALS, SignalGuard


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_files_are_put_away_waits_until_they_are(number):
    before = signal.getsignal(number)
    done = []
    with pytest.raises(KeyboardInterrupt), SignalGuard():
        os.kill(os.getpid(), number)
        done.append("put away")
    assert done and signal.getsignal(number) is before


def test_work_is_cancelled_and_puts_away_itself():
    done = []

    async def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            done.append("put away")

    with pytest.raises(KeyboardInterrupt), SignalGuard() as signals:
        signals.run(work())
    assert done


def test_work_is_not_begun_after_a_signal():
    async def work() -> None:
        raise AssertionError("it was begun")

    with pytest.raises(KeyboardInterrupt), SignalGuard() as signals:
        os.kill(os.getpid(), signal.SIGTERM)
        signals.run(work())


def test_a_fault_after_a_signal_is_an_interrupt_all_the_same():
    with pytest.raises(KeyboardInterrupt), SignalGuard():
        os.kill(os.getpid(), signal.SIGINT)
        raise OSError("a consequence")

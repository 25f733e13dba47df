"""Signals that end a run (Ctrl-C, a scheduler's, a closed terminal), heeded only when nothing is left behind.

An exception out of a signal handler can come anywhere, also while brokers are being stopped or the temporary
folder is being removed, and would leave half of it. So signals are only noted here: the work on the event
loop is cancelled and cleans up, and KeyboardInterrupt follows at the very end.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine
from types import FrameType, TracebackType
from typing import Any, TypeVar

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
Result = TypeVar("Result")


class SignalGuard:
    """A context that notes signals, and raises KeyboardInterrupt when it ends if there was one.

    Only the main thread hears signals: in another one this does nothing.
    """

    def __init__(self) -> None:
        self._heard = False
        self._work: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> SignalGuard:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._heard and kind is not KeyboardInterrupt:
            raise KeyboardInterrupt from None

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self._heard = True
        if self._work is not None:
            loop, task = self._work
            loop.call_soon_threadsafe(task.cancel)  # it also wakes the loop

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run `work` on an event loop; a signal, also an earlier one, cancels it."""

        async def guarded() -> Result:
            task = asyncio.current_task()
            assert task is not None
            self._work = asyncio.get_running_loop(), task
            try:
                if self._heard:
                    work.close()
                    raise KeyboardInterrupt
                return await work
            finally:
                self._work = None

        try:
            return asyncio.run(guarded())
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None

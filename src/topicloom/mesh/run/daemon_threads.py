"""Threads for calls that may never come back: the program ends without waiting for them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class DaemonThreads(Executor):
    """So many threads that take calls in turn; those of ThreadPoolExecutor are waited for at the end."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        for _ in range(threads):
            threading.Thread(target=self._work, daemon=True).start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        self._calls.put((future, lambda: fn(*args, **kwargs)))
        return future

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            future, function = call
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function())
                except BaseException as error:
                    future.set_exception(error)

    def shutdown(self, wait: bool = False, *, cancel_futures: bool = False) -> None:
        """Threads end when they have no call left; nobody waits for them, whatever is asked."""
        for _ in range(self._threads):
            self._calls.put(None)

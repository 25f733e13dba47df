"""Who is told that kernels are compiled because they are used for the first time here; how long it takes.

This file does not import the compiler: the command line says whom to tell before any kernel is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tell = Callable[[str], None]
REMARK = "compiling what is used for the first time; it is kept on disk"

_waiting: list[Tell] = []
_seconds = 0.0


@contextmanager
def told(tell: Tell) -> Iterator[None]:
    """Have the first compilation within the block told, once."""
    _waiting.append(tell)
    try:
        yield
    finally:
        if tell in _waiting:
            _waiting.remove(tell)


def compiling() -> None:
    """Tell those who wait for it that something is being compiled now."""
    while _waiting:
        _waiting.pop()(REMARK)


def compiled(seconds: float) -> None:
    """Add what a compilation took."""
    global _seconds
    _seconds += seconds


def seconds_compiled() -> float:
    """Return how long this process has compiled: time that no time limit means."""
    return _seconds

"""When a search has to end."""

from __future__ import annotations

from topicloom.base import first_use
from topicloom.base.progress import Silent
from topicloom.overlay.builders.time_limit import TimeLimit


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_compiling_is_no_search():
    """Else a short limit is used up by the first search on a machine, which then finds nothing."""
    clock = Clock()
    limit = TimeLimit(5.0, Silent(clock))
    clock.seconds = 9.0
    first_use.compiled(6.0)
    assert not limit.over
    clock.seconds = 11.5
    assert limit.over


def test_no_limit_is_never_over():
    clock = Clock()
    limit = TimeLimit(0.0, Silent(clock))
    clock.seconds = 1e9
    assert not limit.over

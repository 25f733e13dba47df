"""The queue of timers gives what one sorted list would give."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from topicloom.simulation.timers import TimerQueue

TIMES = st.one_of(st.floats(0, 3), st.sampled_from([0.0, 0.25, 1.0, 1.00390625, 1e9, 1e300, inf]))


@given(st.lists(st.one_of(TIMES, st.none()), max_size=60))
def test_the_smallest_comes_first_whatever_is_put_in_between(steps: list[float | None]) -> None:
    """A number is put in, None takes one out; also times before those that were taken out already."""
    queue: TimerQueue[tuple[float, int, object, object]] = TimerQueue()
    there: list[tuple[float, int, object, object]] = []
    for order, time in enumerate(steps):
        if time is not None:
            entry = (time, order, None, None)
            queue.push(entry)
            there.append(entry)
        elif there:
            there.sort()
            assert queue.pop() == there.pop(0)
    assert [queue.pop() for _ in there] == sorted(there)
    assert not queue.refill()

"""Heartbeats by exception: a message that its receiver only notes is noted, without a call.

Most of what is sent while nothing happens are heartbeats that their receivers know; while much happens, a
core may put heartbeats off, to read them together. A core may offer an *ear* for such messages: where it
notes when one came, and which. The loop keeps the ears of those to whom a sender spoke twice and writes to
them, and feeds the core where it does not only note. So the outcome is the same, without a call per receiver.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any, Protocol, TypeAlias

from topicloom.wire.core import Name


class Ear(Protocol):
    """`heard` is when the message `heartbeat` came last; the same one again is only noted. Another one is put
    to `unread` with its sender, if there is that, and room in it. A core that is to be fed has neither."""

    heartbeat: Any
    heard: float
    unread: list[tuple[Any, Any]] | None


# Gets whoever is fed under the name of a receiver (None: nobody), the sender, the message.
FindEar: TypeAlias = Callable[[Any, Name, Any], Ear | None]


class _Said:
    """To whom something was said last, and their ears as far as they gave one."""

    __slots__ = ("ears", "found", "receivers")

    def __init__(self, receivers: tuple[Name, ...]) -> None:
        self.receivers = receivers
        self.ears: list[Ear | None] = []  # not before they are spoken to a second time
        self.found = 0  # when they were found: `Repeats` counts its beginnings


class Repeats:
    """The last heartbeat of each sender and `key`, for one class of messages."""

    def __init__(
        self,
        kind: type,
        key: Callable[[Any], Any],
        find_ear: FindEar,
        most_unread: Callable[[Any], float] = lambda message: inf,
    ) -> None:
        """`most_unread` says before how many a message may be put to `unread`."""
        self.kind, self._key, self._find_ear, self._most_unread = kind, key, find_ear, most_unread
        self._said: dict[tuple[Name, Any], _Said] = {}
        self._beginnings = 1

    def begin_anew(self) -> None:
        """Find all ears anew: a core went away, or something else is fed in its place."""
        self._beginnings += 1

    def note(
        self, receivers: tuple[Name, ...], sender: Name, message: Any, now: float, seats: Mapping[Name, Any]
    ) -> tuple[Name, ...]:
        """Write to the ears of those who only note the message; return the other receivers, in order."""
        key = (sender, self._key(message))
        said = self._said.get(key)
        if said is None or said.receivers != receivers:
            self._said[key] = _Said(receivers)
            return receivers
        if said.found != self._beginnings:
            said.ears, said.found = [None] * len(receivers), self._beginnings
        left, most = [], self._most_unread(message)
        for at, ear in enumerate(said.ears):
            if ear is None or (
                ear.heartbeat is not message and (ear.unread is None or len(ear.unread) >= most)
            ):
                seat = seats.get(receivers[at])
                ear = None if seat is None else self._find_ear(seat.feeds, sender, message)
                said.ears[at] = ear
                if ear is None:
                    left.append(receivers[at])
                    continue
            if ear.heartbeat is not message:
                assert ear.unread is not None
                ear.unread.append((sender, message))
                ear.heartbeat = message
            ear.heard = now
        return tuple(left)

"""Heartbeats by exception: the same message again, from the same sender to the same receivers, is only noted.

Most of what is sent while nothing happens are heartbeats that their receivers know. A core may offer an *ear*
for such a message: where it puts down when the message came. The loop keeps the ears and writes to them, and
feeds the core as soon as it expects another message. So the outcome is the same, without a call per receiver.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from topicloom.wire.core import Name


class Ear(Protocol):
    """`heard` is when the message `heartbeat` came last. A core that is to be fed expects None."""

    heartbeat: Any
    heard: float


# Gets whoever is fed under the name of a receiver (None: nobody), the sender, the message.
FindEar: TypeAlias = Callable[[Any, Name, Any], Ear | None]


class _Said:
    """What was said last, to whom, and their ears as far as they gave one."""

    __slots__ = ("ears", "found", "message", "receivers")

    def __init__(self, message: Any, receivers: tuple[Name, ...]) -> None:
        self.message, self.receivers = message, receivers
        self.ears: list[Ear | None] = []  # not before the message is said a second time
        self.found = 0  # when they were found: `Repeats` counts its beginnings


class Repeats:
    """The last heartbeat of each sender and `key`, for one class of messages."""

    def __init__(self, kind: type, key: Callable[[Any], Any], find_ear: FindEar) -> None:
        self.kind, self._key, self._find_ear = kind, key, find_ear
        self._said: dict[tuple[Name, Any], _Said] = {}
        self._beginnings = 1

    def begin_anew(self) -> None:
        """Find all ears anew: a core went away, or something else is fed in its place."""
        self._beginnings += 1

    def note(
        self, receivers: tuple[Name, ...], sender: Name, message: Any, now: float, seats: Mapping[Name, Any]
    ) -> tuple[Name, ...]:
        """Write to the ears of those who expect the message; return the other receivers, in order."""
        key = (sender, self._key(message))
        said = self._said.get(key)
        if said is None or said.message is not message or said.receivers != receivers:
            self._said[key] = _Said(message, receivers)
            return receivers
        if said.found != self._beginnings:
            said.ears, said.found = [None] * len(receivers), self._beginnings
        left = []
        for at, ear in enumerate(said.ears):
            if ear is None or ear.heartbeat is not message:
                seat = seats.get(receivers[at])
                ear = None if seat is None else self._find_ear(seat.feeds, sender, message)
                said.ears[at] = ear
                if ear is None:
                    left.append(receivers[at])
                    continue
            ear.heard = now
        return tuple(left)

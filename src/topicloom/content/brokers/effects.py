"""Everything a client or broker may ask of its driver. Plain values."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from topicloom.content.brokers.envelope import Message
from topicloom.content.brokers.messages import Event, Name


class Send(Struct, frozen=True, gc=False):
    """Carry `message` to `to`; a connection is opened where there is none."""

    to: Name
    message: Message


class Deliver(Struct, frozen=True, gc=False):
    """An event for the client's application: never twice."""

    event: Event


class Attached(Struct, frozen=True, gc=False):
    """The client has a new broker."""

    broker: Name
    term: int


class Fault(Struct, frozen=True, gc=False):
    """`peer` said what nobody should say; it was ignored, and the connection may be closed."""

    peer: Name
    reason: str


Effect: TypeAlias = Send | Deliver | Attached | Fault

"""Everything a node may ask of its driver. Plain values."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from topicloom.protocol.messages import EventId, Message, NodeId


class Send(Struct, frozen=True, gc=False):
    """Carry `message` to each of `to`; a connection is opened where there is none."""

    to: tuple[NodeId, ...]
    message: Message


class LinkUp(Struct, frozen=True, gc=False):
    """`peer` has become a neighbor: keep a connection to it."""

    peer: NodeId


class LinkDown(Struct, frozen=True, gc=False):
    """`peer` is no longer a neighbor, or misbehaved: the connection may be closed."""

    peer: NodeId
    reason: str


class Deliver(Struct, frozen=True, gc=False):
    """An event for the application: at most once, `hops` links away from its publisher."""

    id: EventId
    payload: bytes
    hops: int


Effect: TypeAlias = Send | LinkUp | LinkDown | Deliver

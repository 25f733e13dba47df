"""Who published an event, proved by a signature. The keys and the cryptography are the application's.

A node that was given `EventKeys` signs what it publishes. It delivers, holds and passes on nothing that fails
the check. So nobody can publish in the name of another, nor make its later events look old by high numbers.
Without keys events are not signed, and what arrives is believed.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from topicloom.spidercast.protocol.messages import Event, NodeId

_encode = msgspec.msgpack.Encoder().encode
PURPOSE = "spidercast event 1"  # signed too: the signature of something else is none of an event


class EventKeys(Protocol):
    """The key of this node, and how it knows the keys of others (Ed25519 and a list, for instance)."""

    def sign(self, content: bytes) -> bytes:
        """Return the signature of this node."""

    def is_valid(self, publisher: NodeId, content: bytes, signature: bytes) -> bool:
        """Tell whether `publisher` signed the content; empty signatures are those of nodes without keys."""


def signed_content(event: Event) -> bytes:
    """Return what is signed: all that stays the same on the event's path.

    >>> from topicloom.spidercast.protocol.messages import EventId
    >>> event = Event(EventId("a", "x", 7), 6, 1, 0.5, b"hello")
    >>> signed_content(event) == signed_content(Event(EventId("a", "x", 7), 6, 9, 2.5, b"hello"))
    True
    """
    id = event.id
    return _encode((PURPOSE, id.publisher, id.topic, id.number, event.previous, event.payload))

"""Messages as bytes: MessagePack. What cannot be read is refused, never guessed."""

from __future__ import annotations

import msgspec

from topicloom.content.brokers.messages import Message
from topicloom.errors import ProtocolError

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message)


def encode(message: Message) -> bytes:
    """The body of a frame (a driver puts its length before it, see `protocol.wire`).

    >>> from topicloom.content.brokers.messages import Letter
    >>> from topicloom.content.brokers.messages import Accept
    >>> decode(encode(Letter(1, 5, 4, Accept(7))))
    Letter(life=1, number=5, settled=4, body=Accept(move=7))
    """
    return _encoder.encode(message)


def decode(body: bytes) -> Message:
    """The message of a frame; ProtocolError if it is none."""
    try:
        return _decoder.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ProtocolError(f"not a message: {error}") from None

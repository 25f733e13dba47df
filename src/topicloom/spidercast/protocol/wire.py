"""Messages as bytes: MessagePack, each behind its length. What cannot be read is refused, never guessed.

A frame is four bytes of length (big-endian) and the message. `Frames` cuts a stream of bytes into messages.
"""

from __future__ import annotations

import struct

import msgspec

from topicloom.errors import ProtocolError
from topicloom.spidercast.protocol.messages import Message

MAX_FRAME = 16 * 1024 * 1024
"""A longer message is refused before any of it is kept."""

_LENGTH = struct.Struct(">I")
_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message)


def encode(message: Message) -> bytes:
    """One frame.

    >>> from topicloom.spidercast.protocol.messages import Leave, TaskId
    >>> decode(encode(Leave(TaskId.GREEDY))[4:])
    Leave(task=<TaskId.GREEDY: 0>, gone=False)
    """
    body = _encoder.encode(message)
    if len(body) > MAX_FRAME:
        raise ProtocolError(f"a message of {len(body):,} bytes is longer than the {MAX_FRAME:,} allowed")
    return _LENGTH.pack(len(body)) + body


def decode(body: bytes) -> Message:
    """The message of a frame without its length; ProtocolError if it is none."""
    try:
        return _decoder.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ProtocolError(f"not a message: {error}") from None


class Frames:
    """Bytes in any portions in, whole messages out.

    >>> from topicloom.spidercast.protocol.messages import Leave, TaskId
    >>> frames, data = Frames(), encode(Leave(TaskId.RANDOM))
    >>> frames.feed(data[:5]), len(frames.feed(data[5:] + data))
    ([], 2)
    """

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        """The messages that are whole now; ProtocolError if the stream is none of ours."""
        self._rest += data
        found, at = [], 0
        while len(self._rest) - at >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._rest, at)
            if length > MAX_FRAME:
                raise ProtocolError(f"a message of {length:,} bytes is longer than the {MAX_FRAME:,} allowed")
            if len(self._rest) - at < _LENGTH.size + length:
                break
            start = at + _LENGTH.size
            found.append(decode(bytes(self._rest[start : start + length])))
            at = start + length
        del self._rest[:at]
        return found

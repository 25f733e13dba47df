"""What the messages of every protocol share: a base class, and their bytes (MessagePack).

What cannot be read is refused, never guessed. A frame is four bytes of length (big-endian) and a message.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import Annotated, Any, Generic, TypeAlias, TypeVar, get_args

import msgspec

from topicloom.errors import ProtocolError
from topicloom.wire.limits import MAX_FRAME, check_limits

M = TypeVar("M")
_LENGTH = struct.Struct(">I")
Period: TypeAlias = Annotated[float, msgspec.Meta(ge=0.0)]  # seconds


def _kebab_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


class WireMessage(msgspec.Struct, frozen=True, gc=False, tag=_kebab_case):
    """The base of all messages. The wire names the class in kebab case: connect-ok for ConnectOk."""


class Unknown(msgspec.Struct, frozen=True, gc=False):
    """A message of a kind that we do not know; `newer`: the peer speaks a later minor version, so it is to be
    ignored. Else it is a fault of the peer."""

    kind: str
    newer: bool


class _AnyKind(msgspec.Struct):
    type: str


_ANY_KIND = msgspec.msgpack.Decoder(_AnyKind)
_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError, TypeError)


class Codec(Generic[M]):
    """Turn the messages of one protocol into bytes and back; `messages` is the union of their classes."""

    def __init__(self, messages: Any) -> None:
        self.encode = msgspec.msgpack.Encoder().encode
        self._decoder: msgspec.msgpack.Decoder[M] = msgspec.msgpack.Decoder(messages)
        self._kinds = {kind.__struct_config__.tag for kind in get_args(messages) or (messages,)}

    def decode(self, body: bytes) -> M:
        """Return the message; raise ProtocolError if there is none in `body`."""
        try:
            check_limits(body)
            return self._decoder.decode(body)
        except _UNREADABLE as error:
            raise ProtocolError(f"not a message: {error}") from None

    def decode_from(self, body: bytes, *, newer: bool) -> M | Unknown:
        """Return the message of a peer, which speaks a later minor version than we do if it is `newer`."""
        try:
            return self.decode(body)
        except ProtocolError:
            try:
                check_limits(body)
                kind = _ANY_KIND.decode(body).type
            except _UNREADABLE:
                kind = ""
            if not kind or kind in self._kinds:
                raise
            return Unknown(kind, newer)

    def frame(self, message: M) -> bytes:
        """Return the bytes of a message behind their length."""
        body = self.encode(message)
        _check_length(len(body))
        return _LENGTH.pack(len(body)) + body


class Frames(Generic[M]):
    """Cut a stream of bytes into messages.

    >>> class Hello(WireMessage):
    ...     number: int
    >>> codec = Codec(Hello)
    >>> frames, data = Frames(codec), codec.frame(Hello(7))
    >>> list(frames.feed(data[:5])), list(frames.feed(data[5:] + data))
    ([], [Hello(number=7), Hello(number=7)])
    """

    def __init__(self, codec: Codec[M]) -> None:
        self._codec = codec
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[M]:
        """Return the messages that are complete now, one at a time; raise ProtocolError where the stream
        holds other bytes: all that precedes them has been handed out by then."""
        self._rest += data
        return self._cut()

    def _cut(self) -> Iterator[M]:
        while len(self._rest) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._rest)
            _check_length(length)
            end = _LENGTH.size + length
            if len(self._rest) < end:
                return
            message = self._read(bytes(self._rest[_LENGTH.size : end]))
            del self._rest[:end]  # not before: a stream that went wrong stays wrong
            yield message

    def _read(self, body: bytes) -> M:
        return self._codec.decode(body)


def _check_length(length: int) -> None:
    if length > MAX_FRAME:
        raise ProtocolError(f"a message of {length:,} bytes is longer than the {MAX_FRAME:,} allowed")

"""The first message on a connection: who speaks which protocol, in which version, under which name.

The rule for changed messages: a field may be added at the end of a message if it has a default; whoever does
not know it ignores it, whoever misses it takes the default. That raises the minor version. Anything else (a
field that goes or means something else, a new kind of message that must be understood) raises the major one.
Two nodes talk if their major versions are equal. A kind of message that a node does not know is ignored if
the peer has a higher minor version, and a fault of it otherwise.
"""

from __future__ import annotations

from typing import Any

from topicloom.errors import ProtocolError
from topicloom.wire.core import Name
from topicloom.wire.limits import MAX_NAME
from topicloom.wire.messages import Codec, Frames, Period, WireMessage

MAJOR, MINOR = 1, 0


class Hello(WireMessage, frozen=True):
    """I speak `protocol` in this version; my name, my incarnation, and where others reach me."""

    protocol: str
    name: Name
    incarnation: int
    major: int = MAJOR
    minor: int = MINOR
    address: str = ""
    heartbeat: Period = 0.0
    detector: Period = 0.0


HELLO: Codec[Hello] = Codec(Hello)


def check_hello(mine: Hello, theirs: Hello) -> None:
    """Raise ProtocolError if the two cannot talk to each other; the text says why.

    >>> check_hello(Hello("spidercast", "a", 1), Hello("spidercast", "b", 1, major=2))
    Traceback (most recent call last):
    topicloom.errors.ProtocolError: it speaks version 2.0 of spidercast, we speak 1.0
    """
    if theirs.protocol != mine.protocol:
        raise ProtocolError(f"it speaks {theirs.protocol[:MAX_NAME]!r}, we speak {mine.protocol!r}")
    if theirs.major != mine.major:
        raise ProtocolError(
            f"it speaks version {theirs.major}.{theirs.minor} of {mine.protocol}, "
            f"we speak {mine.major}.{mine.minor}"
        )
    if theirs.name == mine.name:
        raise ProtocolError(f"it has our own name, {mine.name!r}")
    if mine.detector and theirs.heartbeat >= mine.detector:
        raise ProtocolError(
            f"its heartbeat of {theirs.heartbeat:g} s is no shorter than our detector of {mine.detector:g} s"
        )
    if theirs.detector and mine.heartbeat >= theirs.detector:
        raise ProtocolError(
            f"its detector of {theirs.detector:g} s is no longer than our heartbeat of {mine.heartbeat:g} s"
        )


class Conversation(Frames[Any]):
    """What comes over one connection: a hello that is checked, then messages of the protocol.

    A message of a kind that we do not know is an `Unknown`, which says whether to ignore it.
    """

    def __init__(self, mine: Hello, codec: Codec[Any]) -> None:
        super().__init__(codec)
        self._mine = mine
        self.theirs: Hello | None = None  # None: it has not come

    def _read(self, body: bytes) -> Any:
        if self.theirs is not None:
            return self._codec.decode_from(body, newer=self.theirs.minor > self._mine.minor)
        theirs = HELLO.decode(body)
        check_hello(self._mine, theirs)
        self.theirs = theirs
        return theirs

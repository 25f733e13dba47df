"""The first message on a connection: who may talk to whom."""

from __future__ import annotations

from random import Random

import msgspec
import pytest

from topicloom.errors import ProtocolError
from topicloom.spidercast.protocol.membership import PlainView
from topicloom.spidercast.protocol.messages import CODEC, AskInterest
from topicloom.spidercast.protocol.node import Node
from topicloom.wire.core import Close
from topicloom.wire.hello import HELLO, MINOR, Conversation, Hello, check_hello
from topicloom.wire.messages import Unknown, WireMessage

MINE = Hello("spidercast", "a", 1, heartbeat=1.0, detector=3.0)


@pytest.mark.parametrize(
    ("theirs", "word"),
    [
        (Hello("content", "b", 1), "speaks 'content'"),
        (Hello("spidercast", "b", 1, major=2), "version 2.0"),
        (Hello("spidercast", "a", 1), "our own name"),
        (Hello("spidercast", "b", 1, heartbeat=3.0), "heartbeat of 3 s"),
        (Hello("spidercast", "b", 1, detector=0.5), "detector of 0.5 s"),
    ],
)
def test_who_cannot_talk_to_us_is_told_why(theirs: Hello, word: str) -> None:
    with pytest.raises(ProtocolError, match=word):
        check_hello(MINE, theirs)


def test_a_higher_minor_version_and_new_fields_do_no_harm() -> None:
    """The rule for changed messages: fields are added at the end, and unknown ones are ignored."""
    plain = msgspec.msgpack.decode(HELLO.encode(Hello("spidercast", "b", 1, minor=7)))
    theirs = HELLO.decode(msgspec.msgpack.encode(plain | {"invented": [1, 2]}))
    check_hello(MINE, theirs)
    assert theirs.minor == 7
    del plain["address"], plain["heartbeat"], plain["invented" if "invented" in plain else "detector"]
    assert HELLO.decode(msgspec.msgpack.encode(plain)).address == ""


class Invented(WireMessage, frozen=True):
    """A kind of message that comes with a later version."""

    number: int = 7


@pytest.mark.parametrize("minor", [MINOR, MINOR + 1])
def test_a_kind_of_a_later_version_is_ignored_and_any_other_one_is_a_fault(minor: int) -> None:
    theirs = Hello("spidercast", "b", 1, minor=minor)
    conversation = Conversation(MINE, CODEC)
    data = b"".join((HELLO.frame(theirs), CODEC.frame(Invented()), CODEC.frame(AskInterest())))  # type: ignore[arg-type]
    hello, unknown, known = conversation.feed(data)
    assert hello == conversation.theirs == theirs
    assert unknown == Unknown("invented", newer=minor > MINOR)
    assert known == AskInterest()
    node = Node("a", "x", membership=lambda context: PlainView({}), rng=Random(1))
    node.start(0.0)
    node.receive("b", unknown, 0.1)
    faults = [Close("b", "unknown message invented")]
    assert list(node.take_effects()) == ([] if minor > MINOR else faults)


@pytest.mark.parametrize(
    "body",
    [
        b"\xc1",
        msgspec.msgpack.encode([1]),
        msgspec.msgpack.encode({"type": "invented", "text": "t" * 300}),
        msgspec.msgpack.encode({"type": "heartbeat", "task": "none"}),
        msgspec.msgpack.encode({"type": 7}),
    ],
)
def test_what_is_no_message_of_any_version_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        CODEC.decode_from(body, newer=True)


def test_a_conversation_begins_with_a_hello_that_fits() -> None:
    for first in (CODEC.frame(AskInterest()), HELLO.frame(Hello("content", "b", 1))):
        with pytest.raises(ProtocolError):
            list(Conversation(MINE, CODEC).feed(first))

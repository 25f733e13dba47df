"""The first message on a connection: who may talk to whom."""

from __future__ import annotations

import msgspec
import pytest

from topicloom.errors import ProtocolError
from topicloom.wire.hello import HELLO, Hello, check_hello

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

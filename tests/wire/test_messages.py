"""Messages as bytes: there and back, cut anywhere, and whatever else may come down a wire."""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicloom.errors import ProtocolError
from topicloom.spidercast.protocol.messages import (
    CODEC,
    AskInterest,
    Connect,
    ConnectOk,
    Descriptor,
    Disconnect,
    DisconnectOk,
    Event,
    EventId,
    Graft,
    Have,
    Heartbeat,
    Leave,
    Message,
    Probe,
    Prune,
    Redirect,
    Shuffle,
    ShuffleReply,
    TaskId,
    TellInterest,
    Want,
)
from topicloom.wire import messages as wire_messages
from topicloom.wire.limits import MAX_FRAME, MAX_NUMBER
from topicloom.wire.messages import Frames

numbers = st.integers(-MAX_NUMBER, MAX_NUMBER)
names = numbers | st.text(max_size=60)
tasks = st.sampled_from(TaskId)
topic_sets = st.frozensets(names)
ages = st.floats(allow_nan=False)
event_ids = st.builds(EventId, names, names, numbers)


def many(of: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(of, max_size=4).map(tuple)


descriptors = many(st.builds(Descriptor, names, numbers, ages, topic_sets))
kinds: dict[type, st.SearchStrategy[Message]] = {
    Connect: st.builds(Connect, tasks, numbers, numbers, numbers, topic_sets),
    ConnectOk: st.builds(ConnectOk, tasks, numbers, numbers, numbers, topic_sets),
    Redirect: st.builds(Redirect, tasks, st.none() | names, topic_sets),
    Disconnect: st.builds(Disconnect, tasks),
    DisconnectOk: st.builds(DisconnectOk, tasks),
    Leave: st.builds(Leave, tasks, st.booleans()),
    Heartbeat: st.builds(Heartbeat, tasks, numbers, numbers, numbers),
    AskInterest: st.builds(AskInterest),
    TellInterest: st.builds(TellInterest, numbers, topic_sets),
    Shuffle: st.builds(Shuffle, descriptors),
    ShuffleReply: st.builds(ShuffleReply, descriptors),
    Event: st.builds(Event, event_ids, numbers, numbers, ages, st.binary()),
    Have: st.builds(Have, many(event_ids), many(ages)),
    Want: st.builds(Want, many(event_ids)),
    Graft: st.builds(Graft, names),
    Probe: st.builds(Probe, st.dictionaries(names, st.tuples(numbers, names), max_size=4)),
    Prune: st.builds(Prune, names),
}
messages = st.one_of(*kinds.values())


def test_no_message_is_forgotten_here() -> None:
    assert set(kinds) == set(get_args(Message))


@pytest.mark.parametrize("kind", kinds, ids=lambda kind: kind.__name__)
def test_every_message_comes_back_as_it_was(kind: type) -> None:
    @given(kinds[kind])
    def there_and_back(message: Message) -> None:
        back = CODEC.decode(CODEC.encode(message))
        assert type(back) is kind
        assert back == message

    there_and_back()


@given(st.lists(messages, max_size=4), st.data())
def test_a_stream_may_be_cut_anywhere(sent: list[Message], data: st.DataObject) -> None:
    stream = b"".join(map(CODEC.frame, sent))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    frames, got = Frames(CODEC), list[Message]()
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        got += frames.feed(stream[start:end])
    assert got == sent


@given(messages)
def test_a_stream_byte_by_byte(message: Message) -> None:
    frames, stream = Frames(CODEC), CODEC.frame(message)
    for at in range(len(stream) - 1):
        assert list(frames.feed(stream[at : at + 1])) == []
    assert list(frames.feed(stream[-1:])) == [message]


@given(st.binary(max_size=200))
def test_garbage_raises_nothing_but_protocol_error(garbage: bytes) -> None:
    for feed in (CODEC.decode, Frames(CODEC).feed):
        with suppress(ProtocolError):
            feed(garbage)


@given(messages, st.data())
def test_a_message_with_some_bytes_changed_raises_nothing_but_protocol_error(
    message: Message, data: st.DataObject
) -> None:
    body = bytearray(CODEC.encode(message))
    for at in data.draw(st.lists(st.integers(0, len(body) - 1), min_size=1, max_size=3)):
        body[at] = data.draw(st.integers(0, 255))
    with suppress(ProtocolError):
        CODEC.decode(bytes(body))


@pytest.mark.parametrize(
    "body",
    [
        {"type": "connect"},
        {"type": "leave", "task": 2},
        {"type": "leave", "task": -1},
        {"type": "leave", "task": "greedy"},
        {"type": "no such message", "task": 0},
        {"type": "connect", "task": 0, "degree": 1.5, "target": 1, "version": 1, "interest": []},
        {"type": "connect", "task": 0, "degree": 1, "target": 1, "version": 1, "interest": [None]},
        {"type": "connect", "task": 0, "degree": 1, "target": 1, "version": 1, "interest": [[1]]},
        {"type": "want", "ids": [["a", "x"]]},
        {"task": 0},
        [],
        None,
    ],
)
def test_a_sound_body_that_is_no_message_is_refused(body: object) -> None:
    with pytest.raises(ProtocolError, match="not a message"):
        CODEC.decode(msgspec.msgpack.encode(body))


def test_a_deeply_nested_body_and_one_that_claims_a_huge_array_are_refused() -> None:
    for body in (
        b"\x91" * 100_000,
        b"\x81\xa4type" + b"\x91" * 100_000,
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff",
    ):
        with pytest.raises(ProtocolError):
            CODEC.decode(body)


def test_a_frame_that_is_too_long_is_refused_at_its_length() -> None:
    """Before any of it is kept, and also for every later byte of that stream."""
    frames = Frames(CODEC)
    for data in (struct.pack(">I", MAX_FRAME + 1), b"x", b""):
        with pytest.raises(ProtocolError, match="longer than"):
            list(frames.feed(data))
    assert list(Frames(CODEC).feed(struct.pack(">I", MAX_FRAME))) == []


def test_a_message_that_is_too_long_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_messages, "MAX_FRAME", 1000)
    id = EventId("a", "x", 1)
    CODEC.frame(Event(id, 0, 1, 0.0, b"x" * 800))
    with pytest.raises(ProtocolError, match="longer than"):
        CODEC.frame(Event(id, 0, 1, 0.0, b"x" * 1000))


def test_a_stream_that_went_wrong_stays_wrong() -> None:
    frames = Frames(CODEC)
    with pytest.raises(ProtocolError):
        list(frames.feed(struct.pack(">I", 1) + b"\xc1"))
    with pytest.raises(ProtocolError):
        list(frames.feed(CODEC.frame(AskInterest())))


def test_what_precedes_an_error_is_handed_out() -> None:
    good, frames = CODEC.frame(AskInterest()), Frames(CODEC)
    got = []
    with pytest.raises(ProtocolError):
        for message in frames.feed(good + good + struct.pack(">I", 1) + b"\xc1" + good):
            got.append(message)
    assert got == [AskInterest(), AskInterest()]


@pytest.mark.parametrize(
    ("message", "word"),
    [
        (TellInterest(1, frozenset({"x" * 256})), "text of 256 bytes"),
        (TellInterest(1, frozenset({"\u00fc" * 128})), "text of 256 bytes"),
        (TellInterest(1, frozenset(range(65_537))), "collection of 65,537"),
        (TellInterest(2**63, frozenset()), "out of range"),
        (Shuffle((Descriptor("a", 2**63, 0.0, frozenset()),)), "out of range"),
        (Have(tuple(EventId("a", "x", n) for n in range(65_537)), ()), "collection of 65,537"),
    ],
)
def test_a_message_beyond_a_limit_is_refused(message: Message, word: str) -> None:
    with pytest.raises(ProtocolError, match=word):
        CODEC.decode(CODEC.encode(message))


def test_a_nested_body_is_refused_by_its_depth() -> None:
    body: object = 1
    for _ in range(9):
        body = [body]
    with pytest.raises(ProtocolError, match="inside each other"):
        CODEC.decode(msgspec.msgpack.encode(body))

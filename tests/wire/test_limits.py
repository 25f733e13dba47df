"""What is too large is refused before anything is allocated for it."""

from __future__ import annotations

import struct
import tracemalloc
from contextlib import suppress
from math import nan

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicloom.errors import ProtocolError
from topicloom.spidercast.protocol.messages import CODEC, Connect, Event, EventId, TaskId
from topicloom.wire.hello import HELLO, Hello
from topicloom.wire.limits import MAX_FRAME, MAX_NUMBER, check_limits

MANY = MAX_FRAME - 5
BODIES = {
    "one array of empty arrays": b"\xdd" + struct.pack(">I", MANY) + b"\x90" * MANY,
    "arrays of arrays": b"\x9f" * MANY,
    "many arrays as large as allowed": (b"\xdc\xff\xff" + (b"\xdc\xff\xff" + b"\x90" * 65_535) * 200)[:MANY],
    "an array that ends at once": b"\xdd\xff\xff\xff\xff",
    "a map that ends at once": b"\xdf\xff\xff\xff\xff",
    "a long text": b"\xdb" + struct.pack(">I", MANY) + b"x" * MANY,
}


@pytest.mark.parametrize("name", BODIES)
def test_nothing_is_allocated_for_a_message_that_is_too_large(name: str) -> None:
    body = BODIES[name]
    tracemalloc.start()
    with pytest.raises(ProtocolError):
        CODEC.decode(body)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_the_number_of_values_in_one_message_is_limited() -> None:
    most = [[0] * 65_000] * 8
    check_limits(msgspec.msgpack.encode(most))
    with pytest.raises(ProtocolError, match="524,288 values"):
        check_limits(msgspec.msgpack.encode([*most, [0] * 65_000]))


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_NUMBER, MAX_NUMBER)
    | st.floats(allow_nan=False)
    | st.text(max_size=60)
    | st.binary(max_size=300),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=30,
)


def depth(value: object) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inside is None else 1 + max(map(depth, inside), default=0)


@given(PLAIN, st.sampled_from([2**63, -(2**63), nan, "x" * 256]))
def test_every_sound_value_passes_and_what_follows_it_is_still_seen(value: object, wrong: object) -> None:
    """Whatever comes first, no byte of it is skipped or read twice."""
    if depth(value) > 7:
        return
    check_limits(msgspec.msgpack.encode([value, value]))
    with pytest.raises(ProtocolError):
        check_limits(msgspec.msgpack.encode([value, wrong]))


@given(st.binary(max_size=300))
def test_garbage_raises_nothing_else(garbage: bytes) -> None:
    with suppress(ProtocolError):
        check_limits(garbage)


@pytest.mark.parametrize("period", [-1.0, nan])
def test_periods_that_are_none_are_refused(period: float) -> None:
    id = TaskId.GREEDY
    for codec, message in (
        (CODEC, Connect(id, 1, 1, 1, frozenset(), heartbeat=period)),
        (CODEC, Connect(id, 1, 1, 1, frozenset(), detector=period)),
        (HELLO, Hello("spidercast", "a", 1, heartbeat=period)),
        (HELLO, Hello("spidercast", "a", 1, detector=period)),
    ):
        with pytest.raises(ProtocolError):
            codec.decode(codec.encode(message))  # type: ignore[attr-defined]


def test_an_age_that_is_no_number_is_refused() -> None:
    with pytest.raises(ProtocolError, match="NaN"):
        CODEC.decode(CODEC.encode(Event(EventId("a", "x", 1), 0, 1, nan, b"")))

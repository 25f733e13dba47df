"""How large anything that a peer sends may be. A message beyond these is refused before a core sees it.

The limits hold for every message of every protocol, so no field can be forgotten. They are checked on the
bytes: MessagePack says how large a collection or a text is before it begins. Nothing is allocated for what is
refused, whatever sizes it claims.
"""

from __future__ import annotations

import struct
from math import isnan

from topicloom.errors import ProtocolError

MAX_FRAME = 16 * 1024 * 1024  # bytes; a longer message is refused before any of it is kept
MAX_NAME = 255  # bytes of a text: names, topics, addresses, kinds of messages
MAX_ITEMS = 65_536  # entries of one collection: topics, ids, descriptors
MAX_VALUES = 524_288  # values in one message, collections included: 65,536 topics with their roots
MAX_DEPTH = 8  # collections inside each other
MAX_NUMBER = 1 << 62  # larger numbers are used by nobody, and would make every other one look old

_TEXT, _BYTES, _ARRAY, _MAP = range(4)
# The first byte of a value that is followed by a size: what it is, and of how many bytes the size is.
_SIZED = {
    0xC4: (_BYTES, 1), 0xC5: (_BYTES, 2), 0xC6: (_BYTES, 4),
    0xC7: (_BYTES, 1), 0xC8: (_BYTES, 2), 0xC9: (_BYTES, 4),
    0xD9: (_TEXT, 1), 0xDA: (_TEXT, 2), 0xDB: (_TEXT, 4),
    0xDC: (_ARRAY, 2), 0xDD: (_ARRAY, 4), 0xDE: (_MAP, 2), 0xDF: (_MAP, 4),
}  # fmt: skip
_EXTENSIONS = range(0xC7, 0xCA)  # one byte more: their type
# Values of a fixed number of bytes; all others, and single bytes, have none behind the first.
_FIXED = {
    0xCC: 1, 0xCD: 2, 0xCE: 4, 0xD0: 1, 0xD1: 2, 0xD2: 4,
    0xD4: 2, 0xD5: 3, 0xD6: 5, 0xD7: 9, 0xD8: 17,
}  # fmt: skip
_NUMBERS = {
    0xCA: struct.Struct(">f"),
    0xCB: struct.Struct(">d"),
    0xCF: struct.Struct(">Q"),
    0xD3: struct.Struct(">q"),
}


def check_limits(body: bytes) -> None:
    """Raise ProtocolError if something in `body` (MessagePack) is too large, or is no number.

    Where the bytes end too early or mean nothing there is nothing to check: whoever reads them will say so.

    >>> from msgspec.msgpack import encode
    >>> check_limits(encode({"topic": "t" * 300}))
    Traceback (most recent call last):
    topicloom.errors.ProtocolError: a text of 300 bytes is longer than the 255 allowed
    """
    at, end, values = 0, len(body), 0
    left = 1  # values to come in the collection that is open
    outer: list[int] = []  # the same of those around it
    while at < end:
        while not left:
            if not outer:
                return
            left = outer.pop()
        left -= 1
        first = body[at]
        at += 1
        if first < 0x80 or first >= 0xE0 or first in (0xC0, 0xC1, 0xC2, 0xC3):
            continue
        if 0xA0 <= first < 0xC0:
            at += first & 0x1F
            continue
        if first < 0xA0:
            kind, size = (_MAP, first & 0x0F) if first < 0x90 else (_ARRAY, first & 0x0F)
        elif first in _SIZED:
            kind, width = _SIZED[first]
            size = int.from_bytes(body[at : at + width], "big")
            at += width + (first in _EXTENSIONS)
        else:
            at += _FIXED[first] if first in _FIXED else _check_number(first, body, at)
            continue
        if kind == _BYTES:
            at += size
        elif kind == _TEXT:
            if size > MAX_NAME:
                raise ProtocolError(f"a text of {size:,} bytes is longer than the {MAX_NAME} allowed")
            at += size
        else:
            inside = 2 * size if kind == _MAP else size
            values += inside
            _check_collection(size, values, len(outer))
            outer.append(left)
            left = inside


def _check_collection(size: int, values: int, depth: int) -> None:
    if size > MAX_ITEMS:
        raise ProtocolError(f"a collection of {size:,} is larger than the {MAX_ITEMS:,} allowed")
    if depth >= MAX_DEPTH:
        raise ProtocolError(f"more than {MAX_DEPTH} collections inside each other")
    if values > MAX_VALUES:
        raise ProtocolError(f"a message of more than the {MAX_VALUES:,} values allowed")


def _check_number(first: int, body: bytes, at: int) -> int:
    """Check a number of 32 bits (a fraction) or 64 bits; return how many bytes it takes."""
    form = _NUMBERS[first]
    if at + form.size <= len(body):
        (number,) = form.unpack_from(body, at)
        if isinstance(number, float):
            if isnan(number):
                raise ProtocolError("a number that is none (NaN)")
        elif not -MAX_NUMBER <= number <= MAX_NUMBER:
            raise ProtocolError(f"the number {number} is out of range")
    return form.size

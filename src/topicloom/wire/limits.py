"""How large anything that a peer sends may be. A message beyond these is refused before a core sees it.

The limits hold for every message of every protocol: they are checked on the plain values that MessagePack
holds, before these become a message. So no field can be forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from topicloom.errors import ProtocolError

MAX_FRAME = 16 * 1024 * 1024  # bytes; a longer message is refused before any of it is kept
MAX_NAME = 255  # bytes of a text: names, topics, addresses, kinds of messages
MAX_ITEMS = 65_536  # entries of one collection: topics, ids, descriptors
MAX_DEPTH = 8  # collections inside each other
MAX_NUMBER = 1 << 62  # larger numbers are used by nobody, and would make every other one look old


def check_limits(value: Any, depth: int = 0) -> None:
    """Raise ProtocolError if something in `value` (as read from MessagePack) is too large.

    >>> check_limits({"topic": "t" * 300})
    Traceback (most recent call last):
    topicloom.errors.ProtocolError: a text of 300 bytes is longer than the 255 allowed
    """
    kind = type(value)
    if kind is str:
        _check_text(value)
    elif kind is int:
        if not -MAX_NUMBER <= value <= MAX_NUMBER:
            raise ProtocolError(f"the number {value} is out of range")
    elif kind is list or kind is dict:
        _check_items(value, depth)
        for item in value:
            check_limits(item, depth + 1)
        if kind is dict:
            for item in value.values():
                check_limits(item, depth + 1)


def _check_text(text: str) -> None:
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_NAME:
        raise ProtocolError(f"a text of {size:,} bytes is longer than the {MAX_NAME} allowed")


def _check_items(items: Sequence[Any] | dict[Any, Any], depth: int) -> None:
    if len(items) > MAX_ITEMS:
        raise ProtocolError(f"a collection of {len(items):,} is larger than the {MAX_ITEMS:,} allowed")
    if depth >= MAX_DEPTH:
        raise ProtocolError(f"more than {MAX_DEPTH} collections inside each other")

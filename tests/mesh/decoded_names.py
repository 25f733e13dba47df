"""From the name that a broker knows back to the topic: the inverse of `NameRule.encode`."""

from __future__ import annotations

import re

from topicloom.errors import InputError

_ESCAPE = re.compile(rb"%-|%([0-9A-F]{2})")


def decode_name(name: str) -> str:
    """Return the topic of a name that `encode` gave; the same for every kind.

    >>> decode_name("plant/line%201/%23"), decode_name("50%"), decode_name("%-")
    ('plant/line 1/#', '50%', '')
    """
    try:
        return _ESCAPE.sub(lambda found: bytes.fromhex((found[1] or b"").decode()), name.encode()).decode()
    except UnicodeDecodeError:
        raise InputError(f"name {name!r} holds escapes that are no UTF-8") from None

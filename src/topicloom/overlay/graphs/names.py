"""Identifiers in graph files: as they are where the format can hold them all, else encoded.

A file says with `names` how: "plain", "percent" or "quoted-printable". In an encoded file every identifier,
node or topic, has the characters that the format cannot hold, and the mark (% or =) itself, written as the
mark and two hexadecimal digits for each of their UTF-8 bytes. `urllib.parse.unquote`, `quopri` and their
likes in other languages give the original back. An empty identifier is the mark and a hyphen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from topicloom.errors import InputError
from topicloom.overlay.model.interest import Interest

PLAIN, PERCENT, QUOTED_PRINTABLE = "plain", "percent", "quoted-printable"
MARKS = {PERCENT: "%", QUOTED_PRINTABLE: "="}
EXPLAINED = {
    PLAIN: "names are plain",
    PERCENT: "names are percent-encoded where the format cannot hold them: %XX for a byte of UTF-8",
    QUOTED_PRINTABLE: "names are quoted-printable where the format cannot hold them: =XX for a byte of UTF-8",
}


@dataclass(frozen=True, slots=True)
class Names:
    """All identifiers of an interest as one file writes them, and the word that says how."""

    how: str
    nodes: list[str]
    topics: list[str]


def names_in(interest: Interest, forbidden: re.Pattern[str], how: str = PERCENT) -> Names:
    """Return the identifiers for a format that cannot hold what is `forbidden`, nor empty names.

    igraph refuses an empty `id`, an edge list has no place for it, and in DOT it is easily lost.

    >>> names_in(Interest.from_pairs([("a b", "50%")]), re.compile("[ ]")).nodes
    ['a%20b']
    """
    nodes: list[str] = interest.node_ids.to_pylist()
    topics: list[str] = interest.topic_ids.to_pylist()
    if all(name and forbidden.search(name) is None for names in (nodes, topics) for name in names):
        return Names(PLAIN, nodes, topics)
    mark = MARKS[how]
    encoded = re.compile(f"{mark}|{forbidden.pattern}")

    def in_bytes(found: re.Match[str]) -> str:
        return "".join(f"{mark}{byte:02X}" for byte in found[0].encode())

    def encode(name: str) -> str:
        return encoded.sub(in_bytes, name) or f"{mark}-"

    return Names(how, [encode(name) for name in nodes], [encode(name) for name in topics])


def decoder(how: str | None, where: str) -> Callable[[str], str]:
    """Return what turns a name of a file into the identifier; files without the word are plain."""
    if how in (None, PLAIN):
        return str
    if how not in MARKS:
        raise InputError(f'{where} says names="{how}"; this version knows {", ".join(EXPLAINED)}')
    mark = MARKS[how].encode()
    escape = re.compile(mark + b"([0-9A-Fa-f]{2})")

    def decode(name: str) -> str:
        raw = name.encode()
        if raw == mark + b"-":
            return ""
        try:
            return escape.sub(lambda found: bytes.fromhex(found[1].decode()), raw).decode()
        except UnicodeDecodeError:
            raise InputError(f"{where}: {name!r} holds escapes that are no UTF-8") from None

    return decode

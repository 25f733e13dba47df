"""Whether a text file looks separated by something else than what its ending says."""

from __future__ import annotations

from collections.abc import Sequence

from topicloom.errors import InputError
from topicloom.tables.lines import BadRow, split_fields
from topicloom.tables.source import TableSource

LIKELY = {b";": "';'", b"\t": "$'\\t'", b",": "','", b"|": "'|'"}  # as one writes them in a shell


def check_separator(
    rows: Sequence[bytes], separator: bytes, quote: bool, source: TableSource, shown: str
) -> None:
    """Refuse a file whose first rows another separator splits alike, and this one does not.

    That is so where this one leaves the first row whole, or where most rows have another number of fields
    than the first.
    """
    other = likely_separator(rows, separator, quote)
    if other is None:
        return
    what = {b"\t": "a tab"}.get(other, LIKELY[other])
    hint = source.options.give("separator", LIKELY[other])
    ours = {b"\t": "tabs", b",": "commas"}[separator]
    raise InputError(
        f"{shown} looks separated by {what}: {f'give {hint}' if hint else f'write it with {ours}'}"
    )


def likely_separator(rows: Sequence[bytes], separator: bytes, quote: bool) -> bytes | None:
    """Return the separator that a file seems to have instead; None where there is no such.

    >>> likely_separator([b"a;b", b"c;1,5"], b",", True), likely_separator([b"a;b,c", b"d;e,f"], b",", True)
    (b';', None)
    """
    ours = _widths(rows, separator, quote)
    if not ours or not (ours[0] == 1 or sum(width != ours[0] for width in ours) > len(ours) / 2):
        return None
    for other in LIKELY:
        widths = _widths(rows, other, quote) if other != separator else []
        if widths and widths[0] > 1 and sum(width == widths[0] for width in widths) > len(widths) / 2:
            return other
    return None


def _widths(rows: Sequence[bytes], separator: bytes, quote: bool) -> list[int]:
    """Return into how many fields each row falls that is not empty; 0 for one that cannot be split."""
    found = []
    for row in filter(None, rows):
        try:
            found.append(len(split_fields(row, separator, quote)))
        except BadRow:
            found.append(0)
    return found

"""Text that is not UTF-8: lines in a single-byte encoding become UTF-8 before anybody splits them.

Only encodings that have the characters of ASCII in their places are taken: lines are cut at the byte of `\\n`
before they are decoded, by Spark too.
"""

from __future__ import annotations

import codecs
import re
from functools import cache
from importlib import import_module

import pyarrow as pa
import pyarrow.compute as pc

from topicloom.errors import UsageError
from topicloom.tables.lines import BadRow

UTF8 = "utf-8"
KNOWN = "utf-8, latin-1, windows-1252, or another one with a byte for each character (iso8859-15, koi8-r)"


@cache
def check_encoding(name: str, option: str = "`encoding`") -> str:
    """Return the plain name of an encoding that can be read; refuse all others."""
    try:
        found = codecs.lookup(name).name
    except LookupError:
        raise UsageError(f"{option} {name!r} is not known: it is {KNOWN}") from None
    if found in (UTF8, "utf-8-sig"):
        return UTF8
    if found != "iso8859-1" and not _is_single_byte(found):
        raise UsageError(f"{option} {name!r} is not read: it is {KNOWN}; save the table as UTF-8")
    return found


def _is_single_byte(name: str) -> bool:
    """Return whether each byte is one character, and those of ASCII are in their places."""
    try:
        table = getattr(import_module(f"encodings.{name.replace('-', '_')}"), "decoding_table", "")
    except ImportError:
        return False
    return isinstance(table, str) and table[:128] == "".join(map(chr, range(128)))


def likely_encoding(shown: str) -> str:
    """Return which encoding to try first for a line that is no UTF-8, shown with its bytes as `\\xNN`.

    Below a0 latin-1 has nothing that people write, and Windows has its quotes and dashes.

    >>> likely_encoding("caf\\\\xe9"), likely_encoding("\\\\x93caf\\\\xe9\\\\x94")
    ('latin-1', 'windows-1252')
    """
    return "windows-1252" if re.search(r"\\x[89]", shown) else "latin-1"


def to_utf8(line: bytes, encoding: str) -> bytes:
    """Return a line of this encoding in UTF-8; `BadRow` where a byte has no meaning.

    >>> to_utf8(b"caf\\xe9", "iso8859-1")
    b'caf\\xc3\\xa9'
    """
    if encoding == UTF8:
        return line
    try:
        return line.decode(encoding).encode()
    except UnicodeDecodeError as error:
        raise BadRow(f"not valid {encoding} at byte {error.start + 1} of the row") from None


def lines_to_utf8(lines: pa.BinaryArray, encoding: str) -> tuple[pa.BinaryArray, list[tuple[bytes, str]]]:
    """Return the lines in UTF-8, and those that cannot be decoded, with the reason."""
    plain = pc.string_is_ascii(lines.view(pa.string()))
    if pc.all(plain).as_py():
        return lines, []
    found: list[bytes | None] = []
    refused = []
    for line in lines.filter(pc.invert(plain)).to_pylist():
        try:
            found.append(to_utf8(line, encoding))
        except BadRow as reason:
            found.append(None)
            refused.append((line, str(reason)))
    decoded = pc.replace_with_mask(lines, pc.invert(plain), pa.array(found, pa.binary()))
    return (decoded.drop_null() if refused else decoded), refused

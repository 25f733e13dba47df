"""Reading configuration files: lines that faults are reported at, ports, addresses and hosts."""

from __future__ import annotations

import ipaddress
import json
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from topicloom.errors import InputError

LARGEST = 64 << 20  # bytes of a configuration
ALIKE = 0.75  # from 0 to 1, by difflib; `topics` and `topic` are 0.91 alike


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """One line of one file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def fault(self, what: str) -> InputError:
        """Return the error to raise when this line cannot be used."""
        return InputError(f"{self}: {what}")


def address(host: str, port: int) -> str:
    """Return host:port, an IPv6 address in brackets.

    >>> address("::1", 1883), address("site", 1883)
    ('[::1]:1883', 'site:1883')
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a broker is to be reached; `host` is lower case and without brackets.

    `shown` is what messages call it, if it must not be repeated.
    """

    host: str
    port: int
    where: Location
    shown: str | None = None

    def __str__(self) -> str:
        return self.shown or address(self.host, self.port)


LOOPBACK = "127.0.0.1"
LOOPBACKS = frozenset({"localhost", LOOPBACK, "::1"})
ANY_HOST = frozenset({"", "0.0.0.0", "::", "*"})


def same_host(host: str) -> str:
    """Return one spelling for hosts that are surely the same."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return LOOPBACK if host.lower() == "localhost" else host.lower().rstrip(".")


def read_text(path: Path, shown: str) -> str:
    """Read the text of a configuration file; `shown` is what a message calls it."""
    try:
        found = path.stat()
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)) or found.st_size > LARGEST:
            raise InputError(
                f"{shown} is no configuration: it is {'too large' if found.st_size > LARGEST else 'no file'}"
            )
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {shown} ({error.strerror}); check the path") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{shown} is not UTF-8 text (byte {error.start}); is it a configuration?") from None


@contextmanager
def refusing_depth(shown: str) -> Iterator[None]:
    """Refuse a file whose blocks lie in each other deeper than this program can follow."""
    try:
        yield
    except RecursionError:
        raise InputError(
            f"{shown}: blocks lie in each other too deep; take the file from a copy, or export anew"
        ) from None


def refuse_doubled(content: bytes, shown: str) -> None:
    """Refuse JSON with a key twice in one object: who reads it by eye may believe the other one."""

    def once(pairs: list[tuple[str, object]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise InputError(f"{shown} has the key {key!r} twice in one object; take one of them out")
            seen.add(key)

    with refusing_depth(shown):
        json.loads(content, object_pairs_hook=once, parse_int=str, parse_float=str)


def parse_port(text: str, where: Location, shown: str | None = None) -> int:
    """Parse a port number, 0 to 65535; `shown` is what messages call a text that they must not repeat."""
    if not (text.isascii() and text.isdigit()) or len(text) > 5 or int(text) > 65535:
        raise where.fault(f"{shown or repr(text)} is not a port; give a number from 1 to 65535")
    return int(text)


def parse_address(
    text: str,
    default_port: int,
    where: Location,
    *,
    bare_ipv6_port: bool = False,
    shown: str | None = None,
) -> Address:
    """Parse HOST, HOST:PORT, [IPv6] or [IPv6]:PORT; a bare IPv6 address has no port, or always one.

    `shown` is what messages call a text that they must not repeat.

    >>> str(parse_address("Broker-7", 1883, Location("a.conf", 1)))
    'broker-7:1883'
    >>> str(parse_address("[fe80::1]:1884", 1883, Location("a.conf", 1)))
    '[fe80::1]:1884'
    >>> str(parse_address("fe80::1:1884", 1883, Location("a.conf", 1), bare_ipv6_port=True))
    '[fe80::1]:1884'
    """
    called = shown or repr(text)
    if "@" in text:  # what stands before it may be a password
        raise where.fault("an address has no login in it; remove all up to the @, and write HOST:PORT")
    if text.startswith("["):
        host, closed, rest = text[1:].partition("]")
        if not closed or (rest and not rest.startswith(":")):
            raise where.fault(f"{called} is not an address; write [IPv6]:PORT")
        port = rest[1:]
    elif text.count(":") > 1:
        host, _, port = text.rpartition(":") if bare_ipv6_port else (text, "", "")
    else:
        host, colon, port = text.partition(":")
        if colon and not port:
            raise where.fault(f"{called} has no port after the colon; write HOST or HOST:PORT")
    if not host:
        raise where.fault(f"{called} has no host; write HOST or HOST:PORT")
    number = parse_port(port, where, shown) if port else default_port
    return Address(host.lower(), number, where, shown)


def refuse_misspelt(word: str, known: Collection[str], where: Location) -> None:
    """Refuse a word that is nearly one of those known: a link that is not read would look like none."""
    if word not in known:
        for meant in get_close_matches(word, known, 1, ALIKE):
            raise where.fault(f"there is no option {word}; write {meant} if you mean that")

"""How a client gets into a NATS server: the logins of its accounts and its certificates, from its own file.

Only what that needs is read of the configuration language: maps, lists, strings bare and quoted, comments.
Whether the file is sound is for `nats-server -t` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from topicloom.errors import InputError

_TOKEN = re.compile(
    r"""(?P<skip>(?:\s|[,;]|(?:\#|//)[^\n]*)+)
      | (?P<quoted>"(?:\\.|[^"\\])*"|'[^']*')
      | (?P<mark>[{}\[\]:=])
      | (?P<bare>[^\s,;{}\[\]:=\#"']+(?:(?::(?!\s)|=(?!\s))[^\s,;{}\[\]]+)*)""",
    re.VERBOSE,
)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r"}


@dataclass(frozen=True, slots=True)
class NatsLogin:
    """A user of one account."""

    user: str
    password: str


@dataclass(frozen=True, slots=True)
class NatsAccess:
    """How to get into a server: a login for each account, certificates where it asks for them."""

    logins: Mapping[str, NatsLogin]
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


def read_access(path: Path) -> NatsAccess:
    """The logins and certificates of the configuration at `path`; files are named from its folder."""
    content = _parse(path.read_text(), path.name)
    logins: dict[str, NatsLogin] = {}
    for account, body in _map(content.get("accounts")).items():
        for user in _map(body).get("users") or ():
            entry = _map(user)
            if isinstance(entry.get("user"), str) and isinstance(entry.get("password"), str):
                logins.setdefault(account, NatsLogin(entry["user"], entry["password"]))
    tls = _map(content.get("tls"))

    def file(name: str) -> Path | None:
        return path.parent / tls[name] if isinstance(tls.get(name), str) else None

    return NatsAccess(logins, file("ca_file") or file("cert_file"), file("cert_file"), file("key_file"))


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _parse(text: str, shown: str) -> dict[str, Any]:
    """The whole file as one map, with its braces or without."""
    tokens = list(_tokens(text, shown))
    braces = tokens[:1] == [("mark", "{")]
    try:
        return _entries(iter(tokens[braces:]), None if not braces else "}")
    except StopIteration:
        raise InputError(f"{shown}: a brace or bracket is not closed") from None


def _tokens(text: str, shown: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            line = text.count("\n", 0, at) + 1
            raise InputError(f"{shown} line {line}: {text[at : at + 20]!r} cannot be read")
        at = found.end()
        if found.lastgroup != "skip":
            yield str(found.lastgroup), found[0]


def _entries(tokens: Iterator[tuple[str, str]], close: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while True:
        kind, text = next(tokens, ("end", "")) if close is None else next(tokens)
        if kind == "end" or text == close:
            return found
        key = _plain(kind, text)
        kind, text = next(tokens)
        if kind == "mark" and text in ":=":
            kind, text = next(tokens)
        found[key] = _value(tokens, kind, text)


def _value(tokens: Iterator[tuple[str, str]], kind: str, text: str) -> Any:
    if kind == "mark" and text == "{":
        return _entries(tokens, "}")
    if kind == "mark" and text == "[":
        found = []
        while (token := next(tokens)) != ("mark", "]"):
            found.append(_value(tokens, *token))
        return found
    return _plain(kind, text)


def _plain(kind: str, text: str) -> str:
    """The text of a token; bare words stay as they are."""
    if kind != "quoted":
        return text
    if text[0] == "'":
        return text[1:-1]
    # \xHH is one byte of UTF-8 to the server.
    return re.sub(r"(?:\\x[0-9a-fA-F]{2})+|\\(.)", _unescaped, text[1:-1])


def _unescaped(found: re.Match[str]) -> str:
    if found[1] is not None:
        return _ESCAPES.get(found[1], found[1])
    return bytes.fromhex(found[0].replace("\\x", "")).decode(errors="replace")

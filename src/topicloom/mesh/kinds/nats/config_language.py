"""The configuration language of NATS: text into values, each with the line it stands on.

A superset of JSON: `key: value`, `key = value` or `key value`; commas, semicolons or line ends between
entries; comments by # and //; strings bare, in single or in double quotes; numbers with sizes (`1MB`);
`$NAME` for a value named before or in the environment; `include FILE`. As nats-server's own parser reads it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from topicloom.errors import InputError
from topicloom.mesh.model.config_files import Location, read_text

MOST_INCLUDES = 16
MOST_DEEP = 100  # blocks within blocks
SIZES = {"": 1} | {
    letter + unit: base**power
    for power, letter in enumerate("kmgtpe", 1)
    for unit, base in (("", 1000), ("b", 1024), ("i", 1024), ("ib", 1024))
}
_NUMBER = re.compile(r"(-?\d+)([kmgtpe]?i?b?)", re.IGNORECASE)
_FLOAT = re.compile(r"-?\d+\.\d+")
_BARE = re.compile(r"(?:\\.|[^\s,;\]}\\])+")
_KEY = re.compile(r"""(["'])(.*?)\1|[^\s:={}\[\],;#"']+""")
_GAP = r"(?:[ \t\r%s]+|(?:#|//)[^\n]*)*"
_QUOTED = {"'": re.compile(r"'([^']*)'"), '"': re.compile(r'"((?:\\.|[^"\\])*)"', re.DOTALL)}
ESCAPES = {"t": "\t", "n": "\n", "r": "\r", '"': '"', "\\": "\\"}
TRUE, FALSE = ("true", "yes", "on"), ("false", "no", "off")


@dataclass(slots=True)
class ConfigValue:
    """A value and the line it begins on; maps and lists hold values again.

    `variable` is the value that a $NAME stands for, and its name. `secret` is the name of what came from the
    environment: no message repeats that.
    """

    data: str | int | float | bool | list[ConfigValue] | dict[str, ConfigValue] | None
    where: Location
    variable: tuple[str, ConfigValue] | None = None
    origins: list[ConfigValue] = field(default_factory=list)  # the variables that stood here before `put`
    secret: str | None = None

    @property
    def hidden(self) -> str | None:
        """Return what messages call a value that they must not repeat."""
        return None if self.secret is None else f"${self.secret}"

    @property
    def shown(self) -> str:
        """Return what messages call it."""
        return self.hidden or repr(self.data)

    def put(self, data: str | int) -> None:
        """Put another value here; what a $NAME stands for elsewhere stays."""
        if self.variable is not None:
            self.origins.append(self.variable[1])
        self.data, self.variable, self.secret = data, None, None

    def get(self, *names: str) -> ConfigValue | None:
        """Return the entry of a map by any of these names, capitals or not."""
        if isinstance(self.data, dict):
            for key, value in self.data.items():
                if key.lower() in names:
                    return value
        return None

    def walk(self, name: str = "") -> Iterator[tuple[str, ConfigValue]]:
        """Yield all values in here, itself first, each with its name; entries of a list have none."""
        yield name, self
        if isinstance(self.data, dict):
            for key, entry in self.data.items():
                yield from entry.walk(key)
        for entry in self.data if isinstance(self.data, list) else ():
            yield from entry.walk()

    def entries(self) -> list[ConfigValue]:
        """Return the entries of a list; anything else is a list of itself."""
        return self.data if isinstance(self.data, list) else [self]


def parse_nats(path: Path, shown: str, environment: Mapping[str, str] | None = None) -> ConfigValue:
    """Parse a whole file as one map."""
    return _Reader(path, shown, os.environ if environment is None else environment).whole()


@dataclass(slots=True)
class _Reader:
    path: Path
    shown: str
    environment: Mapping[str, str]
    depth: int = 0
    scopes: list[dict[str, ConfigValue]] = field(default_factory=list)
    text: str = ""
    at: int = 0
    deep: int = 0
    root: Path | None = None

    def whole(self) -> ConfigValue:
        self.text = read_text(self.path, self.shown)
        self.skip("\n")
        where = self.where()
        braces = self.peek() == "{"
        self.at += braces
        found = self.map_entries("}" if braces else "")
        self.skip("\n")
        if self.at < len(self.text):
            raise self.where().fault(f"{self.peek()!r} after the end; is a brace closed too early?")
        return ConfigValue(found, where)

    def where(self) -> Location:
        return Location(self.shown, self.text.count("\n", 0, self.at) + 1)

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip(self, also: str = "") -> None:
        """Skip spaces, comments and the characters of `also`."""
        if found := re.compile(_GAP % also).match(self.text, self.at):
            self.at = found.end()

    def map_entries(self, close: str) -> dict[str, ConfigValue]:
        """Read entries up to the closing brace, or to the end of the file where there is none."""
        opened = self.where()
        found: dict[str, ConfigValue] = {}
        self.scopes.append(found)
        while True:
            self.skip("\n,;" if close else "\n,;}")  # the server overlooks a brace too many
            if self.at >= len(self.text):
                if close:
                    raise opened.fault("this brace is never closed; add }")
                break
            if close and self.peek() == close:
                self.at += 1
                break
            self.entry(found)
        self.scopes.pop()
        return found

    def entry(self, found: dict[str, ConfigValue]) -> None:
        where = self.where()
        key = self.key()
        self.skip()
        if key.lower() == "include" and self.peek() not in (":", "="):
            found.update(self.included(where))
            return
        if self.peek() in (":", "="):
            self.at += 1
        self.skip("\n")
        if not self.peek() or self.peek() in ",;}]":
            raise where.fault(f"{key} has no value; write {key}: VALUE")
        found[key] = self.value()

    def key(self) -> str:
        found, first = _KEY.match(self.text, self.at), self.peek()
        if not found:
            if first in _QUOTED:
                raise self.where().fault(f"a name begins with {first} and does not end; add {first}")
            raise self.where().fault(f"{first!r} stands where a name is expected; check the braces before it")
        self.at = found.end()
        return found[2] if found[1] else found[0]

    def included(self, where: Location) -> dict[str, ConfigValue]:
        name = self.value()
        if not isinstance(name.data, str):
            raise where.fault("include needs the name of a file; write include ./FILE")
        if self.depth >= MOST_INCLUDES:
            raise where.fault(f"include goes {MOST_INCLUDES} files deep; does a file include itself?")
        path = self.path.parent / name.data
        if not path.is_file():
            raise where.fault(f"include {name.shown}: there is no such file beside this one")
        root = self.root or self.path.parent.resolve()
        if not path.resolve().is_relative_to(root):
            raise where.fault(f"include {name.shown} leads out of the folder; copy that file into it")
        shown = str(Path(self.shown).parent / (name.hidden or name.data))
        inner = _Reader(
            path, shown, self.environment, self.depth + 1, list(self.scopes), deep=self.deep, root=root
        ).whole()
        assert isinstance(inner.data, dict)
        return inner.data

    def value(self) -> ConfigValue:
        where, first = self.where(), self.peek()
        if first in ("{", "["):
            if self.deep >= MOST_DEEP:
                raise where.fault(f"blocks lie in each other more than {MOST_DEEP} deep; is a brace missing?")
            self.deep += 1
            try:
                return self.block(where, first)
            finally:
                self.deep -= 1
        return self.plain(where, first)

    def block(self, where: Location, first: str) -> ConfigValue:
        if first == "{":
            self.at += 1
            return ConfigValue(self.map_entries("}"), where)
        self.at += 1
        entries: list[ConfigValue] = []
        self.skip("\n,")
        while self.peek() != "]":
            if not self.peek() or self.peek() in "};":
                raise where.fault("this bracket is never closed; add ]")
            entries.append(self.value())
            self.skip("\n,")
        self.at += 1
        return ConfigValue(entries, where)

    def plain(self, where: Location, first: str) -> ConfigValue:
        if first == "(":
            end = re.compile(r"\n[ \t]*\)").search(self.text, self.at)
            if not end:
                raise where.fault("this block of text is never closed; add ) on a line of its own")
            text, self.at = self.text[self.at + 1 : end.start()], end.end()
            return ConfigValue(text, where)
        if first in _QUOTED:
            found = _QUOTED[first].match(self.text, self.at)
            if not found:
                raise where.fault(f"a text begins with {first} and does not end; add {first}")
            self.at = found.end()
            return ConfigValue(found[1] if first == "'" else _unescaped(found[1], where), where)
        return self.bare(where)

    def bare(self, where: Location) -> ConfigValue:
        found = _BARE.match(self.text, self.at)
        if not found:
            raise where.fault(f"{self.peek()!r} stands where a value is expected")
        self.at = found.end()
        word = found[0]
        if word.startswith("$") and not word.startswith("$2"):  # $2a$...: a bcrypt hash
            return self.variable(word[1:], where)
        return _typed(word, where)

    def variable(self, name: str, where: Location) -> ConfigValue:
        for scope in reversed(self.scopes):
            if name in scope:
                found = scope[name]
                return ConfigValue(found.data, where, (name, found), secret=found.secret)
        if name in self.environment:
            try:
                found = _typed(self.environment[name].strip("'\""), where)
            except InputError:
                raise where.fault(f"${name} of the environment is no value of NATS; correct it") from None
            found.secret = name
            return found
        raise where.fault(f"${name} is named nowhere before and not in the environment; set it")


def _typed(word: str, where: Location) -> ConfigValue:
    number = _NUMBER.fullmatch(word)
    if number and number[2].lower() in SIZES:
        return ConfigValue(int(number[1]) * SIZES[number[2].lower()], where)
    if _FLOAT.fullmatch(word):
        return ConfigValue(float(word), where)
    if word.lower() in TRUE + FALSE:
        return ConfigValue(word.lower() in TRUE, where)
    return ConfigValue(_unescaped(word, where), where)


def _unescaped(text: str, where: Location) -> str:
    def plain(found: re.Match[str]) -> str:
        if found[1] is None:
            try:
                return bytes.fromhex(found[0].replace("\\x", "")).decode()
            except UnicodeDecodeError:
                raise where.fault(f"{found[0]} is not UTF-8; write the bytes of a whole character") from None
        if found[1] in ESCAPES:
            return ESCAPES[found[1]]
        raise where.fault(f'{found[0]!r} is no escape of NATS; there are \\t \\n \\r \\" \\\\ and \\xHH')

    return re.sub(r"(?:\\x[0-9A-Fa-f]{2})+|\\(.|\Z)", plain, text, flags=re.DOTALL)

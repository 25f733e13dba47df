"""What an audit of configured brokers finds; nothing here looks for it.

Two sorts of harm are told apart: messages that go round or come twice (loops, doubled bridges), and messages
that do not come where they should (one-sided bridges, topics in parts that no link joins).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

NAMED = 4  # topics or brokers named in a sentence


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: for which topics, among which brokers, on which lines (file:line).

    `storms`: messages go round for ever (on NATS: a server sees the loop and keeps cutting a link).
    """

    topics: tuple[str, ...]
    brokers: tuple[str, ...]
    where: tuple[str, ...]
    text: str
    storms: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "topics": list(self.topics),
            "brokers": list(self.brokers),
            "where": list(self.where),
            "storms": self.storms,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Audit:
    """All findings; `topics` counts the kinds of topics that the links tell apart, or the accounts.

    `unlinked` are brokers without any link: no fault, as nothing says what they should get, but told. With an
    interest or a manifest that is known, and brokers which miss something are among the unreached.
    """

    kind: str
    brokers: int
    links: int
    topics: int
    loops: tuple[Finding, ...] = ()
    doubled: tuple[Finding, ...] = ()
    one_sided: tuple[Finding, ...] = ()
    unconnected: tuple[Finding, ...] = ()
    covered: bool = False  # against an interest
    unreached: tuple[Finding, ...] = field(default=())
    strays: tuple[Finding, ...] = field(default=())
    unlinked: tuple[str, ...] = ()

    @property
    def repeating(self) -> tuple[Finding, ...]:
        """Findings by which messages go round or come twice."""
        return self.loops + self.doubled

    @property
    def losing(self) -> tuple[Finding, ...]:
        """Findings by which messages do not come where they should."""
        return self.one_sided + self.unconnected + self.unreached

    @property
    def sound(self) -> bool:
        return not (self.repeating or self.losing or self.strays)

    def to_json(self) -> dict[str, Any]:
        content: dict[str, Any] = {
            "kind": self.kind,
            "brokers": self.brokers,
            "links": self.links,
            "topics": self.topics,
        }
        names = ["loops", "unconnected", "one_sided", "doubled"]
        for name in names + (["unreached", "strays"] if self.covered else []):
            content[name] = [finding.to_json() for finding in getattr(self, name)]
        return {**content, "unlinked": list(self.unlinked), "sound": self.sound}


def several(names: Iterable[str]) -> str:
    """Some names in a sentence.

    >>> several(["a", "b", "c"]), several("abcdef")
    ('a, b and c', 'a, b, c, d and 2 more')
    """
    listed = list(names)
    if len(listed) > NAMED + 1:
        return f"{', '.join(listed[:NAMED])} and {len(listed) - NAMED:,} more"
    return " and ".join(filter(None, [", ".join(listed[:-1]), *listed[-1:]]))

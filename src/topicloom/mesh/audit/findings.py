"""What an audit of configured brokers finds; nothing here looks for it.

Two sorts of harm are told apart: messages that go round or come twice (loops, doubled bridges), and messages
that do not come where they should (one-sided bridges, topics in parts that no link joins).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from topicloom.base.summaries import UNSET, Summary, UnsetType

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

    def summary(self) -> FindingSummary:
        return FindingSummary(self.topics, self.brokers, self.where, self.storms, self.text)


class FindingSummary(Summary, frozen=True):
    """A finding as `verify --json` prints it."""

    topics: tuple[str, ...]
    brokers: tuple[str, ...]
    where: tuple[str, ...]
    storms: bool
    text: str


Found = tuple[FindingSummary, ...]


class AuditSummary(Summary, frozen=True, kw_only=True):
    """What `verify --json` prints; `unreached` and `strays` only where it is known who wants what."""

    kind: str
    brokers: int
    links: int
    topics: int
    loops: Found
    unconnected: Found
    one_sided: Found
    doubled: Found
    unreached: Found | UnsetType = UNSET
    strays: Found | UnsetType = UNSET
    unlinked: tuple[str, ...]
    sound: bool


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

    def summary(self) -> AuditSummary:
        """What there is to say of it."""
        return AuditSummary(
            kind=self.kind,
            brokers=self.brokers,
            links=self.links,
            topics=self.topics,
            loops=_summaries(self.loops),
            unconnected=_summaries(self.unconnected),
            one_sided=_summaries(self.one_sided),
            doubled=_summaries(self.doubled),
            unreached=_summaries(self.unreached) if self.covered else UNSET,
            strays=_summaries(self.strays) if self.covered else UNSET,
            unlinked=self.unlinked,
            sound=self.sound,
        )


def _summaries(findings: Iterable[Finding]) -> Found:
    return tuple(finding.summary() for finding in findings)


def several(names: Iterable[str]) -> str:
    """Some names in a sentence.

    >>> several(["a", "b", "c"]), several("abcdef")
    ('a, b and c', 'a, b, c, d and 2 more')
    """
    listed = list(names)
    if len(listed) > NAMED + 1:
        return f"{', '.join(listed[:NAMED])} and {len(listed) - NAMED:,} more"
    return " and ".join(filter(None, [", ".join(listed[:-1]), *listed[-1:]]))

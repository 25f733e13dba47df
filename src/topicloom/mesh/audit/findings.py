"""What an audit of configured brokers finds; nothing here looks for it.

Two sorts of harm are told apart: messages that go round or come twice (loops, doubled bridges), and messages
that do not come where they should (one-sided bridges, topics split into components that no link joins).
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import force_setattr

from topicloom.base.summaries import UNSET, Summary, UnsetType

NAMED = 4  # topics or brokers named in a sentence


class Finding(Summary, frozen=True):
    """One thing that is wrong: for which topics, among which brokers, on which lines (file:line).

    `storms`: messages go round for ever (on NATS: a server sees the loop and keeps cutting a link).
    """

    topics: tuple[str, ...]
    brokers: tuple[str, ...]
    where: tuple[str, ...]
    storms: bool
    text: str


Findings = tuple[Finding, ...]


class Audit(Summary, frozen=True):
    """All findings, as `verify --json` prints them.

    `topics` counts the classes of topic names that the links tell apart, or the accounts. `unreached` and
    `strays` are UNSET unless it is known who wants what. `unlinked` are brokers without any link: reported,
    but no fault, as nothing says what they should get; where that is known, they are among the unreached.
    """

    kind: str
    brokers: int
    links: int
    topics: int
    loops: Findings = ()
    unconnected: Findings = ()
    one_sided: Findings = ()
    doubled: Findings = ()
    unreached: Findings | UnsetType = UNSET
    strays: Findings | UnsetType = UNSET
    unlinked: tuple[str, ...] = ()
    sound: bool = True

    def __post_init__(self) -> None:
        force_setattr(self, "sound", not (self.repeating or self.losing or self.strays))

    @property
    def covered(self) -> bool:
        """Return whether the topics were judged by who wants them."""
        return self.unreached is not UNSET

    @property
    def repeating(self) -> Findings:
        """Return the findings by which messages go round or come twice."""
        return self.loops + self.doubled

    @property
    def losing(self) -> Findings:
        """Return the findings by which messages do not come where they should."""
        return self.one_sided + self.unconnected + (self.unreached or ())


def several(names: Iterable[str]) -> str:
    """Join some names in a sentence.

    >>> several(["a", "b", "c"]), several("abcdef")
    ('a, b and c', 'a, b, c, d and 2 more')
    """
    listed = list(names)
    if len(listed) > NAMED + 1:
        return f"{', '.join(listed[:NAMED])} and {len(listed) - NAMED:,} more"
    return " and ".join(filter(None, [", ".join(listed[:-1]), *listed[-1:]]))


def several_topics(topics: Iterable[str]) -> str:
    """Begin a sentence about one or more topics.

    >>> several_topics(["a"]), several_topics(["a", "b"])
    ('topic a', 'each of the topics a and b')
    """
    listed = list(topics)
    return f"topic {listed[0]}" if len(listed) == 1 else f"each of the topics {several(listed)}"

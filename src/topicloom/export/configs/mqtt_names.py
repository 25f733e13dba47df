"""MQTT topic names: what a pattern matches, how a bridge renames, and the kinds of names a mesh tells apart.

Whether a topic goes round depends on its name, and there are infinitely many names. But a mesh of bridges
looks at a name through its patterns only: names that match the same patterns, here and under every name that
a bridge may give them further on, take the same way. `kinds_of_names` gives one name of each such kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from topicloom.errors import InputError
from topicloom.export.configs.mosquitto import Bridge, TopicRule

MOST_KINDS = 20_000
MOST_PATTERNS = 20_000
MORE_LEVELS = 4
"""Renamed patterns are followed this many levels beyond the longest: a bridge may add one each time."""
MOST_LEVELS = 200
"""Mosquitto refuses names of more levels."""
FRESH = "<any>"


def matches(pattern: str, name: str) -> bool:
    """Does this topic filter match this topic name (MQTT 3.1.1, section 4.7)?

    >>> matches("a/+/#", "a/b"), matches("a/+/#", "a"), matches("#", "$SYS/x")
    (True, False, False)
    """
    wanted, levels = pattern.split("/"), name.split("/")
    if wanted[0] in ("+", "#") and name.startswith("$"):
        return False  # 4.7.2: wildcards at the front leave out names that begin with $
    for index, level in enumerate(wanted):
        if level == "#":
            return True
        if index >= len(levels) or level not in ("+", levels[index]):
            return False
    return len(levels) == len(wanted)


def sent_as(bridge: Bridge, name: str, *, out: bool) -> str | None:
    """What a message of this name is called at the other end of a bridge; None if it does not cross.

    As mosquitto does it: any rule of this direction lets it cross, the first one with a prefix renames it. A
    prefix is taken away only where the name begins with it: `a/#` matches `a` too, which keeps its name.
    """
    found = None
    for rule in bridge.rules:
        if not (rule.goes_out if out else rule.comes_in):
            continue
        pattern, old, new = (
            (rule.local, rule.local_prefix, rule.remote_prefix)
            if out
            else (rule.remote, rule.remote_prefix, rule.local_prefix)
        )
        if matches(pattern, name):
            if old or new:
                return new + name.removeprefix(old)
            found = name
    return found


def rule_of(bridge: Bridge, name: str, *, out: bool) -> TopicRule | None:
    """The first rule that lets a message of this name cross."""
    for rule in bridge.rules:
        if (rule.goes_out if out else rule.comes_in) and matches(rule.local if out else rule.remote, name):
            return rule
    return None


def kinds_of_names(bridges: Iterable[Bridge]) -> dict[str, str]:
    """One name of each kind that these bridges tell apart, `<any>` for a level that no pattern names.

    With it what users read for the kind: the pattern of all these names where there is one.
    """
    rules = [rule for bridge in bridges for rule in bridge.rules]
    patterns = sorted(_closed(rules))
    return {name: _label(name, [patterns[i] for i in matched]) for matched, name in _kinds(patterns).items()}


def _label(name: str, matched: list[str]) -> str:
    """The pattern that lies within all others, or the name itself."""
    return next((one for one in matched if all(_covers(other, one) for other in matched)), name)


def _covers(wide: str, narrow: str) -> bool:
    """Does the one pattern match every name that the other matches?"""
    wider, narrower = wide.split("/"), narrow.split("/")
    for index, level in enumerate(wider):
        if level == "#":
            return True
        if index >= len(narrower) or narrower[index] == "#" or level not in ("+", narrower[index]):
            return False
    return len(wider) == len(narrower)


def _closed(rules: list[TopicRule]) -> set[str]:
    """The patterns, and what they ask of a name before a bridge renames it."""
    patterns: set[str] = set()
    changes: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
    for rule in rules:
        patterns |= {rule.local, rule.remote}
        if rule.local_prefix != rule.remote_prefix:
            heads = _heads(rule)
            changes |= ({heads} if rule.goes_out else set()) | ({heads[::-1]} if rule.comes_in else set())
            patterns |= {"/".join(head) for head in heads if head}  # where a prefix is the whole name
    longest = max((pattern.count("/") for pattern in patterns), default=0) + MORE_LEVELS
    fresh = list(patterns)
    while fresh and changes:
        pattern = fresh.pop()
        for old, new in changes:
            before = _before(pattern, old, new)
            if before is not None and before not in patterns and before.count("/") <= longest:
                patterns.add(before)
                fresh.append(before)
        if len(patterns) > MOST_PATTERNS:
            raise InputError(
                f"prefixes and patterns of the bridges make more than {MOST_PATTERNS:,} patterns together; "
                "look at fewer brokers at once"
            )
    return patterns


def _heads(rule: TopicRule) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The whole levels that a rule takes away and puts in place.

    A prefix that ends within a level goes on to the end of the pattern's first level, which then is no
    wildcard: `a+` would be no pattern.
    """
    local, remote, tail = rule.local_prefix, rule.remote_prefix, rule.pattern
    if not all(prefix == "" or prefix.endswith("/") for prefix in (local, remote)) or not tail:
        first, slash, _ = tail.partition("/")
        local, remote = local + first + slash, remote + first + slash
    return tuple(local.split("/")[: -1 if local.endswith("/") or not local else None]), tuple(
        remote.split("/")[: -1 if remote.endswith("/") or not remote else None]
    )


def _before(pattern: str, old: tuple[str, ...], new: tuple[str, ...]) -> str | None:
    """What a name matched that matches this pattern after `old` at its front became `new`."""
    levels = pattern.split("/")
    for index, level in enumerate(new):
        if index < len(levels) and levels[index] == "#":
            return "/".join((*old, "#"))
        if index >= len(levels) or levels[index] not in ("+", level):
            return None
    return "/".join((*old, *levels[len(new) :])) or None


class _Branch:
    """A node of the trie of all patterns."""

    __slots__ = ("below", "ends", "hash")

    def __init__(self) -> None:
        self.below: dict[str, _Branch] = {}
        self.ends: int | None = None
        self.hash: int | None = None


def _kinds(patterns: list[str]) -> dict[frozenset[int], str]:
    """A name for each set of patterns that one can match, by walking over the levels with all at once."""
    root = _trie(patterns)
    State = tuple[tuple[_Branch, ...], frozenset[int]]
    start: State = (root,), frozenset()
    queue: list[tuple[tuple[str, ...], State]] = [((), start)]
    seen: set[tuple[frozenset[int], frozenset[int]]] = set()
    found: dict[frozenset[int], str] = {}
    for name, (active, carried) in queue:
        for level, (branches, passed) in _steps(active, carried, first=not name):
            key = frozenset(map(id, branches)), passed
            if key in seen:
                continue
            seen.add(key)
            matched = passed | {
                end for branch in branches for end in (branch.ends, branch.hash) if end is not None
            }
            longer = (*name, level)
            if matched and matched not in found:
                found[matched] = "/".join(longer)
            if branches:
                queue.append((longer, (branches, passed)))
            if len(seen) > MOST_KINDS:
                raise InputError(
                    f"the patterns of the bridges tell more than {MOST_KINDS:,} kinds of topics apart; "
                    "look at fewer brokers at once"
                )
    return found


def _steps(
    active: tuple[_Branch, ...], carried: frozenset[int], *, first: bool
) -> Iterator[tuple[str, tuple[tuple[_Branch, ...], frozenset[int]]]]:
    """Each level that makes a difference here, the patterns still open after it, and each # passed."""
    labels = sorted({label for branch in active for label in branch.below if label != "+"})
    for level in [*labels, FRESH]:
        wild = not (first and level.startswith("$"))
        chosen = [
            branch.below[label]
            for branch in active
            for label in ((level, "+") if wild else (level,))
            if label in branch.below
        ]
        passed = carried | {branch.hash for branch in active if wild and branch.hash is not None}
        if chosen or passed:
            yield level, (tuple(chosen), passed)


def _trie(patterns: list[str]) -> _Branch:
    root = _Branch()
    for number, pattern in enumerate(patterns):
        branch = root
        for level in pattern.split("/"):
            if level == "#":
                branch.hash = number
                break
            branch = branch.below.setdefault(level, _Branch())
        else:
            branch.ends = number
    return root

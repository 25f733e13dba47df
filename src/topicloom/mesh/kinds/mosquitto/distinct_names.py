"""The classes of topic names that a mesh of bridges tells apart: one name of each.

Whether a topic goes round depends on its name, and there are infinitely many names. But a mesh of bridges
looks at a name through its patterns only: names that match the same patterns, here and under every name that
a bridge may give them further on, take the same paths.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from topicloom.errors import InputError
from topicloom.mesh.kinds.mosquitto.bridge_flow import MOST_LEVELS, common, covers
from topicloom.mesh.kinds.mosquitto.read import Bridge, TopicRule

MOST_CLASSES = 20_000
MOST_PATTERNS = 20_000
MORE_LEVELS = 4  # beyond the longest that patterns are followed which a bridge renames a second time
FRESH = "<any>"
Ends = tuple[Bridge, str, str]  # a bridge, its dialer and its acceptor


def distinct_names(links: Iterable[Ends]) -> dict[str, str]:
    """Return one name of each class that these bridges tell apart, `<any>` for a level that no pattern names.

    With it what users read for the class: the pattern of all these names where there is one.
    """
    patterns = sorted(_closed(list(links)))
    return {
        name: _label(name, [patterns[i] for i in matched]) for matched, name in _classes(patterns).items()
    }


def _label(name: str, matched: list[str]) -> str:
    """Return the pattern that lies within all others, or the name itself."""
    return next((one for one in matched if all(covers(other, one) for other in matched)), name)


class _Crossing:
    """One rule in one direction: `pattern` leaves the broker `tail`, `old` at its front becomes `new`.

    A prefix that ends within a level goes on to the end of the pattern's first level, which then is no
    wildcard: `a+` would be no pattern.
    """

    __slots__ = ("image", "new", "number", "old", "pattern", "tail")

    def __init__(self, number: int, tail: str, rule: TopicRule, *, out: bool) -> None:
        self.number, self.tail = number, tail
        self.pattern, self.image = (rule.local, rule.remote) if out else (rule.remote, rule.local)
        heads = _levels(rule, rule.local_prefix), _levels(rule, rule.remote_prefix)
        self.old, self.new = heads if out else heads[::-1]

    def before(self, pattern: str) -> str | None:
        """Return what a name matches here that crosses and matches this pattern at the other end."""
        levels = pattern.split("/")
        for index, level in enumerate(self.new):
            if levels[index : index + 1] == ["#"]:
                return self.pattern
            if index >= len(levels) or levels[index] not in ("+", level):
                return None
        whole = "/".join((*self.old, *levels[len(self.new) :]))
        return common(self.pattern, whole) if whole else None


def _levels(rule: TopicRule, prefix: str) -> tuple[str, ...]:
    """Return the whole levels at the front of a name that a rule takes away or puts in place."""
    if rule.local_prefix == rule.remote_prefix:
        return ()
    within = [one for one in (rule.local_prefix, rule.remote_prefix) if one and not one.endswith("/")]
    if within or not rule.pattern:
        first, slash, _ = rule.pattern.partition("/")
        prefix += first + slash
    return tuple(prefix.split("/")[: -1 if prefix.endswith("/") or not prefix else None])


# The crossings that lead to a broker, by the one name that comes out of them; WILD: of several, EVERY: all.
_Inbound = dict[tuple[str, str], list[_Crossing]]
WILD, EVERY = "#", ""


def _is_wild(pattern: str) -> bool:
    return "+" in pattern or "#" in pattern


def _closed(links: list[Ends]) -> set[str]:
    """Return the patterns, and what they ask of a name before bridges rename it, at each broker.

    Goes backwards from each pattern of a broker over the links that lead there. Brokers are told apart: what
    one of them puts in front of names does not matter to those that never see such names.
    """
    inbound: _Inbound = defaultdict(list)
    at: dict[tuple[str, str], None] = {}
    for number, (bridge, dialer, acceptor) in enumerate(links):
        for rule in bridge.rules:
            at[dialer, rule.local] = at[acceptor, rule.remote] = None
            for tail, head, out in ((dialer, acceptor, True), (acceptor, dialer, False)):
                if rule.crosses(out=out):
                    crossing = _Crossing(2 * number + (not out), tail, rule, out=out)
                    for key in (EVERY, WILD if _is_wild(crossing.image) else crossing.image):
                        inbound[head, key].append(crossing)
            if rule.pattern == "#":
                # `a/#` matches `a` too, from which no prefix is taken away: a class of its own.
                ends = ((dialer, rule.local_prefix), (acceptor, rule.remote_prefix))
                at |= {(broker, prefix[:-1]): None for broker, prefix in ends if prefix[:-1]}
    if any(crossing.old != crossing.new for into in inbound.values() for crossing in into):
        _follow_back(at, inbound)
    return {pattern for _, pattern in at}


def _follow_back(at: dict[tuple[str, str], None], inbound: _Inbound) -> None:
    """Add to `at` all that the patterns there ask of names further back."""
    longest = max(pattern.count("/") for _, pattern in at) + MORE_LEVELS
    patterns = {pattern for _, pattern in at}
    none: frozenset[int] = frozenset()
    waiting = deque((broker, pattern, none) for broker, pattern in at)
    while waiting:
        broker, pattern, renamed = waiting.popleft()
        keys = (EVERY,) if _is_wild(pattern) else (pattern, WILD)
        for crossing in chain.from_iterable(inbound.get((broker, key), ()) for key in keys):
            before = crossing.before(pattern)
            # A name that goes round may gain levels without end; one that crosses each bridge once does not.
            limit = longest if crossing.number in renamed else MOST_LEVELS
            if before is None or (crossing.tail, before) in at or before.count("/") > limit:
                continue
            at[crossing.tail, before] = None
            patterns.add(before)
            more = {crossing.number} if crossing.old != crossing.new else none
            waiting.append((crossing.tail, before, renamed | more))
        if len(patterns) > MOST_PATTERNS:
            raise InputError(
                f"prefixes and patterns of the bridges make more than {MOST_PATTERNS:,} patterns together; "
                "look at fewer brokers at once"
            )


# The patterns as a tree by their levels: below each the number of the pattern that ends there, or in #.
_Branch = dict[str, Any]
END, HASH = "/", "#"


def _classes(patterns: list[str]) -> dict[frozenset[int], str]:
    """Return a name for each set of patterns that one can match, walking over the levels with all at once."""
    queue: list[tuple[tuple[str, ...], list[_Branch], frozenset[int]]] = [
        ((), [_tree(patterns)], frozenset())
    ]
    seen: set[tuple[frozenset[int], frozenset[int]]] = set()
    found: dict[frozenset[int], str] = {}
    for name, active, carried in queue:
        for level, branches, passed in _steps(active, carried, first=not name):
            key = frozenset(map(id, branches)), passed
            if key in seen:
                continue
            seen.add(key)
            matched = passed | {branch[end] for branch in branches for end in (END, HASH) if end in branch}
            longer = (*name, level)
            if matched and matched not in found:
                found[matched] = "/".join(longer)
            if branches:
                queue.append((longer, branches, passed))
            if len(seen) > MOST_CLASSES:
                raise InputError(
                    f"the patterns of the bridges tell more than {MOST_CLASSES:,} classes of topic names "
                    "apart; look at fewer brokers at once"
                )
    return found


def _steps(
    active: list[_Branch], carried: frozenset[int], *, first: bool
) -> Iterator[tuple[str, list[_Branch], frozenset[int]]]:
    """Yield each level that makes a difference, the patterns still open after it, and each # passed."""
    for level in [*sorted({label for branch in active for label in branch} - {"+", END, HASH}), FRESH]:
        wild = not (first and level.startswith("$"))
        labels = (level, "+") if wild else (level,)
        chosen = [branch[label] for branch in active for label in labels if label in branch]
        passed = carried | {branch[HASH] for branch in active if wild and HASH in branch}
        if chosen or passed:
            yield level, chosen, passed


def _tree(patterns: list[str]) -> _Branch:
    root: _Branch = {}
    for number, pattern in enumerate(patterns):
        levels = pattern.split("/")
        last = levels.pop() if levels[-1] == HASH else END
        branch = root
        for level in levels:
            branch = branch.setdefault(level, {})
        branch[last] = number
    return root

"""Topics that are filters: what they match, whether two of them meet, and a name that one of them matches.

Each kind of broker has its own wildcards. A filter travels like any other topic, on a tree of its own that
carries all names it matches. So no name may belong to two topics: filters that meet are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from topicloom.errors import InputError, UsageError
from topicloom.mesh.model.mesh import EXAMPLE


@dataclass(frozen=True, slots=True)
class FilterRule:
    """The wildcards of one kind: `one` stands for a token, `rest` for several.

    `rest_last`: it may only stand at the end; `rest_none`: it may stand for no token at all.
    """

    separator: str
    one: str
    rest: str
    rest_last: bool
    rest_none: bool

    def is_filter(self, topic: str) -> bool:
        """Return whether a topic has a wildcard where it is one.

        >>> rule = FilterRule("/", "+", "#", True, True)
        >>> [rule.is_filter(topic) for topic in ("a/#", "+/b", "a+b", "#/b", "a#")]
        [True, True, False, False, False]
        """
        tokens = topic.split(self.separator)
        places = [at for at, token in enumerate(tokens) if token == self.rest]
        if self.rest_last and any(at < len(tokens) - 1 for at in places):
            return False
        return bool(places) or self.one in tokens

    def meet(self, first: str, second: str) -> bool:
        """Return whether a name is matched by both.

        >>> rule = FilterRule("/", "+", "#", True, True)
        >>> rule.meet("a/#", "a"), rule.meet("a/+/c", "+/b/#"), rule.meet("a/+", "a/b/c")
        (True, True, False)
        """
        a, b = first.split(self.separator), second.split(self.separator)

        @cache
        def at(i: int, j: int) -> bool:
            if i == len(a) and j == len(b):
                return True
            if i < len(a) and a[i] == self.rest:
                later = j < len(b) and (at(i, j + 1) or at(i + 1, j + 1))
                return later or (self.rest_none and at(i + 1, j))
            if j < len(b) and b[j] == self.rest:
                later = i < len(a) and (at(i + 1, j) or at(i + 1, j + 1))
                return later or (self.rest_none and at(i, j + 1))
            if i == len(a) or j == len(b):
                return False
            return (a[i] == b[j] or self.one in (a[i], b[j])) and at(i + 1, j + 1)

        return at(0, 0)

    def example(self, topic: str) -> str:
        """Return a name that the filter matches."""
        tokens = topic.split(self.separator)
        return self.separator.join(EXAMPLE if token in (self.one, self.rest) else token for token in tokens)

    def outside(self, topic: str, topics: Iterable[str]) -> str | None:
        """Return a name that a filter nearly matches and that none of these topics does, if there is one.

        >>> rule = FilterRule("/", "+", "#", True, True)
        >>> rule.outside("a/+/c", ["a/+/c"]), rule.outside("#", ["#"])
        ('a-outside/topicloom-example/c', None)
        """
        tokens = topic.split(self.separator)
        plain = [token for token in tokens if token not in (self.one, self.rest)]
        if not plain:
            return None
        at = tokens.index(plain[0])
        near = [*tokens[:at], f"{plain[0]}-outside", *tokens[at + 1 :]]
        name = self.example(self.separator.join(near))
        return None if any(self.meet(name, other) for other in topics) else name


def check_filters(rule: FilterRule, topics: Sequence[str]) -> None:
    """Refuse filters that meet another topic, by name."""
    for number, topic in enumerate(topics):
        if not rule.is_filter(topic):
            continue
        for place, other in enumerate(topics):
            if place != number and rule.meet(topic, other):
                raise InputError(
                    f"`filters`: {topic!r} and {other!r} match the same names, which would travel twice; "
                    "join them to one topic, or make them apart"
                )


def check_choice(rule: FilterRule | None, topics: Sequence[str], *, filters: bool, literal: bool) -> None:
    """Refuse to guess what topics with wildcards are, and filters that meet."""
    if filters and literal:
        raise UsageError("`filters` and `literal` contradict each other; give one of them")
    found = next((topic for topic in topics if rule is not None and rule.is_filter(topic)), None)
    if found is None or rule is None:
        return
    if not filters and not literal:
        raise UsageError(
            f"topic {found!r} has a wildcard: give `filters` if it stands for all names that it matches, or "
            "`literal` if it is a name by itself, which brokers will know in an escaped form"
        )
    if filters:
        check_filters(rule, topics)

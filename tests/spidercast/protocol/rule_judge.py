"""A judge that holds steps against a table of rules, and remembers which rows were seen from which states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import Enum
from typing import Any, Generic, TypeVar

from topicloom.spidercast.protocol.rules import Rule

S = TypeVar("S", bound=Enum)


def name_of(message: Any) -> str:
    """A message as the tables call it: CONNECT-OK."""
    return str(message.__struct_config__.tag).upper()


class RuleJudge(Generic[S]):
    """Refuses steps that no row permits."""

    def __init__(self, rules: Sequence[Rule[S]]) -> None:
        self.rules = rules
        self.seen: Counter[tuple[int, S]] = Counter()

    def check(self, before: S, on: str, sent: Sequence[str], after: S, told: object = "") -> None:
        rows = [number for number, rule in enumerate(self.rules) if rule.permits(before, on, sent, after)]
        assert rows, f"no row of the table permits {told or (before, on, sent, after)}"
        for row in rows:
            self.seen[row, before] += 1

    def unseen(self) -> list[str]:
        """Rows of the table, state by state, that never happened."""
        pairs = ((number, state) for number, rule in enumerate(self.rules) for state in rule.states)
        return [
            f"{state.value}: {self.rules[number]}"
            for number, state in pairs
            if (number, state) not in self.seen
        ]

"""What the tables of rules share: one row, and how a table is printed.

Three tables say what a node does about one other node: `link_rules.py` (a maintenance task), `event_rules.py`
(the events of one topic) and `gossip_rules.py` (the gossiped view). A fourth one, `root_rules.py`, says whom
a node names as the root of a topic. The tests check every step of their runs against the tables, and require
that every row occurs in each of its states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from topicloom.wire.core import align_columns

S = TypeVar("S", bound=Enum)


@dataclass(frozen=True, slots=True)
class Rule(Generic[S]):
    """In one of `states`, on `on`, if `when`: send `send` to the node, do `do`, and go to one of `then`.

    `then` equal to `states` means that the state stays the same.
    """

    states: tuple[S, ...]
    on: str
    when: str
    send: str
    do: str
    then: tuple[S, ...]

    def permits(self, before: S, on: str, sent: Sequence[str], after: S) -> bool:
        """Tell whether a step that was seen is one of this row."""
        return (
            before in self.states
            and on == self.on
            and tuple(sent) == ((self.send,) if self.send else ())
            and (after == before if self.then == self.states else after in self.then)
        )


def table_of(rules: Sequence[Rule[S]]) -> str:
    """Return all rules as text, one line each, columns aligned."""
    rows = [("state", "on", "if", "send", "do", "then")]
    for rule in rules:
        states, then = (" | ".join(state.value for state in some) for some in (rule.states, rule.then))
        then = "the same" if rule.then == rule.states else then
        rows.append((states, rule.on, rule.when, rule.send, rule.do, then))
    return align_columns(rows)

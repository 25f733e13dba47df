"""The life of a link in one table: what a task does about one other node, in every state, on every occasion.

`print(table())` shows it; the tests hold every step of every test run against it, and ask that each row was
seen. The code that does it is `task.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class State(Enum):
    """What another node is to a task."""

    STRANGER = "stranger"
    ASKED = "asked"
    """We sent CONNECT not long ago, and it is no neighbor (yet, or any more)."""
    LINKED = "linked"
    PARTING = "parting"
    """A neighbor that we asked to part, not long ago."""
    DOUBTED = "doubted"
    """A neighbor whose heartbeats are late: it no longer counts for coverage."""


STRANGER, ASKED, LINKED, PARTING, DOUBTED = State
AWAY = (STRANGER, ASKED)
NEIGHBOR = (LINKED, PARTING, DOUBTED)


@dataclass(frozen=True, slots=True)
class Rule:
    """In one of `states`, on `on`, if `when`: send `send` to the node, do `do`, and go to one of `then`."""

    states: tuple[State, ...]
    on: str
    when: str
    send: str
    do: str
    then: tuple[State, ...]


RULES = (
    Rule((STRANGER,), "maintenance", "something is lacking and it serves best", "CONNECT", "", (ASKED,)),
    Rule((ASKED,), "time", "the connect quarantine is over", "", "", (STRANGER,)),
    Rule((LINKED,), "maintenance", "not needed; its degree is at its target",
         "DISCONNECT", "", (PARTING,)),
    Rule((PARTING,), "time", "the disconnect quarantine is over", "", "", (LINKED,)),
    Rule(NEIGHBOR, "beat", "every `heartbeat` seconds", "HEARTBEAT", "", NEIGHBOR),
    Rule(AWAY, "CONNECT", "fewer than L^max + Margin neighbors", "CONNECT-OK", "add it", (LINKED,)),
    Rule(AWAY, "CONNECT", "otherwise", "REDIRECT", "", AWAY),
    Rule(NEIGHBOR, "CONNECT", "", "CONNECT-OK", "note its interest", (LINKED, PARTING)),
    Rule((ASKED,), "CONNECT-OK", "fewer than L^max + Margin neighbors", "", "add it", (LINKED,)),
    Rule((ASKED,), "CONNECT-OK", "otherwise", "LEAVE", "", (ASKED,)),
    Rule((STRANGER,), "CONNECT-OK", "", "LEAVE", "", (STRANGER,)),
    Rule(NEIGHBOR, "CONNECT-OK", "", "", "note its interest", (LINKED, PARTING)),
    Rule((ASKED,), "REDIRECT", "", "", "remember the node it names, if any", (ASKED,)),
    Rule((STRANGER, *NEIGHBOR), "REDIRECT", "", "", "", (STRANGER, *NEIGHBOR)),
    Rule(AWAY, "DISCONNECT", "", "LEAVE", "", AWAY),
    Rule(NEIGHBOR, "DISCONNECT", "we do not need it", "DISCONNECT-OK", "remove it", AWAY),
    Rule(NEIGHBOR, "DISCONNECT", "otherwise", "", "", (LINKED, PARTING)),
    Rule((*AWAY, LINKED, DOUBTED), "DISCONNECT-OK", "we did not ask", "", "", (*AWAY, LINKED, DOUBTED)),
    Rule(NEIGHBOR, "DISCONNECT-OK", "we asked", "", "remove it", AWAY),
    Rule(NEIGHBOR, "LEAVE", "", "", "remove it", AWAY),
    Rule(AWAY, "LEAVE", "", "", "", AWAY),
    Rule((STRANGER,), "HEARTBEAT", "", "LEAVE", "", (STRANGER,)),
    Rule((ASKED,), "HEARTBEAT", "its CONNECT-OK may be on the way", "", "", (ASKED,)),
    Rule(NEIGHBOR, "HEARTBEAT", "", "", "note how it stands; ask for a new interest",
         (LINKED, PARTING)),
    Rule((LINKED, PARTING), "silence", "more than `doubt` heartbeats", "", "seek a replacement", (DOUBTED,)),
    Rule((LINKED, PARTING, DOUBTED), "silence", "more than `detector`", "", "remove it", AWAY),
    Rule(NEIGHBOR, "leave", "the application ends", "LEAVE", "remove it", AWAY),
)  # fmt: skip


def table() -> str:
    """All rules as text, one line each, columns aligned.

    >>> print(table().splitlines()[0].split())
    ['state', 'on', 'if', 'send', 'do', 'then']
    """
    rows = [("state", "on", "if", "send", "do", "then")]
    for rule in RULES:
        states, then = (" | ".join(state.value for state in some) for some in (rule.states, rule.then))
        rows.append(
            (states, rule.on, rule.when, rule.send, rule.do, "the same" if rule.then == rule.states else then)
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(field.ljust(width) for field, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )

"""The rules of a link in one table: what a maintenance task does about one other node, state by state.

`print(rule_table())` shows it. The tests check every step of every run against it and require that each row
occurs. `maintenance.py` implements it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from topicloom.wire.core import align_columns


class LinkState(Enum):
    """What another node is to a task."""

    STRANGER = "stranger"
    ASKED = "asked"  # we sent CONNECT recently, and it is no neighbor (yet, or any more)
    LINKED = "linked"
    PARTING = "parting"  # a neighbor that we recently asked to part
    DOUBTED = "doubted"  # a neighbor whose heartbeats are late: it no longer counts for coverage


STRANGER, ASKED, LINKED, PARTING, DOUBTED = LinkState
AWAY = (STRANGER, ASKED)
NEIGHBOR = (LINKED, PARTING, DOUBTED)


@dataclass(frozen=True, slots=True)
class LinkRule:
    """In one of `states`, on `on`, if `when`: send `send` to the node, do `do`, and go to one of `then`."""

    states: tuple[LinkState, ...]
    on: str
    when: str
    send: str
    do: str
    then: tuple[LinkState, ...]


RULES = (
    LinkRule((STRANGER,), "maintenance", "something is lacking and it serves best", "CONNECT", "", (ASKED,)),
    LinkRule((STRANGER,), "PROBE", "it names another root; there is room", "CONNECT", "", (ASKED,)),
    LinkRule((STRANGER, ASKED, *NEIGHBOR), "PROBE", "otherwise", "", "", (STRANGER, ASKED, *NEIGHBOR)),
    LinkRule((ASKED,), "time", "the connect quarantine is over", "", "", (STRANGER,)),
    LinkRule((LINKED,), "maintenance", "not needed, nor the path to a root; its degree is at its target",
             "DISCONNECT", "", (PARTING,)),
    LinkRule((PARTING,), "time", "the disconnect quarantine is over", "", "", (LINKED,)),
    LinkRule(NEIGHBOR, "beat", "every `heartbeat` seconds; at once if a root is lost", "HEARTBEAT", "",
             NEIGHBOR),
    LinkRule(AWAY, "CONNECT", "fewer than L^max + Margin neighbors", "CONNECT-OK", "add it", (LINKED,)),
    LinkRule(AWAY, "CONNECT", "otherwise", "REDIRECT", "", AWAY),
    LinkRule(NEIGHBOR, "CONNECT", "", "CONNECT-OK", "note its interest", (LINKED, PARTING)),
    LinkRule((ASKED,), "CONNECT-OK", "fewer than L^max + Margin neighbors", "", "add it", (LINKED,)),
    LinkRule((ASKED,), "CONNECT-OK", "otherwise", "LEAVE", "", (ASKED,)),
    LinkRule((STRANGER,), "CONNECT-OK", "", "LEAVE", "", (STRANGER,)),
    LinkRule(NEIGHBOR, "CONNECT-OK", "", "", "note its interest", (LINKED, PARTING)),
    LinkRule((ASKED,), "REDIRECT", "", "", "remember the node it names, if any", (ASKED,)),
    LinkRule((STRANGER, *NEIGHBOR), "REDIRECT", "", "", "", (STRANGER, *NEIGHBOR)),
    LinkRule(AWAY, "DISCONNECT", "", "LEAVE", "", AWAY),
    LinkRule(NEIGHBOR, "DISCONNECT", "we do not need it", "DISCONNECT-OK", "remove it", AWAY),
    LinkRule(NEIGHBOR, "DISCONNECT", "otherwise", "", "", (LINKED, PARTING)),
    LinkRule((*AWAY, LINKED, DOUBTED), "DISCONNECT-OK", "we did not ask", "", "", (*AWAY, LINKED, DOUBTED)),
    LinkRule(NEIGHBOR, "DISCONNECT-OK", "we asked", "", "remove it", AWAY),
    LinkRule(NEIGHBOR, "LEAVE", "", "", "remove it", AWAY),
    LinkRule(AWAY, "LEAVE", "", "", "", AWAY),
    LinkRule((STRANGER,), "HEARTBEAT", "", "LEAVE", "", (STRANGER,)),
    LinkRule((ASKED,), "HEARTBEAT", "its CONNECT-OK may be on the way", "", "", (ASKED,)),
    LinkRule(NEIGHBOR, "HEARTBEAT", "", "", "note how it stands, and its roots; ask for what was missed",
             (LINKED, PARTING)),
    LinkRule((LINKED, PARTING), "silence", "more than `doubt` heartbeats", "", "seek a replacement",
             (DOUBTED,)),
    LinkRule((LINKED, PARTING, DOUBTED), "silence", "more than `detector`", "", "remove it", AWAY),
    LinkRule(NEIGHBOR, "leave", "the application ends", "LEAVE", "remove it", AWAY),
)  # fmt: skip


def rule_table() -> str:
    """Return all rules as text, one line each, columns aligned.

    >>> print(rule_table().splitlines()[0].split())
    ['state', 'on', 'if', 'send', 'do', 'then']
    """
    rows = [("state", "on", "if", "send", "do", "then")]
    for rule in RULES:
        states, then = (" | ".join(state.value for state in some) for some in (rule.states, rule.then))
        then = "the same" if rule.then == rule.states else then
        rows.append((states, rule.on, rule.when, rule.send, rule.do, then))
    return align_columns(rows)

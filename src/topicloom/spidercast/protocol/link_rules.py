"""The rules of a link in one table: what a maintenance task does about one other node, state by state.

`print(rule_table())` shows it. The tests check every step of every run against it and require that each row
occurs. `maintenance.py` implements it.
"""

from __future__ import annotations

from enum import Enum

from topicloom.spidercast.protocol.rules import Rule, table_of


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


RULES = (
    Rule((STRANGER,), "maintenance", "something is lacking and it serves best", "CONNECT", "", (ASKED,)),
    Rule((STRANGER,), "PROBE", "it names another root; there is room", "CONNECT", "", (ASKED,)),
    Rule((STRANGER, ASKED, *NEIGHBOR), "PROBE", "otherwise", "", "", (STRANGER, ASKED, *NEIGHBOR)),
    Rule((ASKED,), "time", "the connect quarantine is over", "", "", (STRANGER,)),
    Rule((LINKED,), "maintenance", "not needed, nor the path to a root; its degree is at its target",
         "DISCONNECT", "", (PARTING,)),
    Rule((PARTING,), "time", "the disconnect quarantine is over, or it asked to part too", "", "", (LINKED,)),
    Rule(NEIGHBOR, "beat", "every `heartbeat` seconds; earlier with news of roots", "HEARTBEAT", "",
         NEIGHBOR),
    Rule(AWAY, "CONNECT", "there is room, and its host has not half of it", "CONNECT-OK", "add it",
         (LINKED,)),
    Rule(AWAY, "CONNECT", "otherwise", "REDIRECT", "", AWAY),
    Rule(AWAY, "CONNECT again", "it, or too many strangers, had an answer in this beat", "", "", AWAY),
    Rule(NEIGHBOR, "CONNECT", "", "CONNECT-OK", "note its interest", (LINKED, PARTING)),
    Rule(NEIGHBOR, "CONNECT again", "it had an answer in this beat", "", "note its interest",
         (LINKED, PARTING)),
    Rule((ASKED,), "CONNECT-OK", "there is room, and its host has not half of it", "", "add it", (LINKED,)),
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
    Rule(NEIGHBOR, "HEARTBEAT", "", "", "note how it stands, and its roots; ask for what was missed",
         (LINKED, PARTING)),
    Rule((*AWAY, *NEIGHBOR), "ASK-INTEREST", "", "TELL-INTEREST", "", (*AWAY, *NEIGHBOR)),
    Rule((*AWAY, *NEIGHBOR), "ASK-INTEREST again",
         "it, or too many strangers, had all answers of this beat", "", "", (*AWAY, *NEIGHBOR)),
    Rule(NEIGHBOR, "TELL-INTEREST", "", "", "note its interest, and its roots", NEIGHBOR),
    Rule(AWAY, "TELL-INTEREST", "", "", "", AWAY),
    Rule((*AWAY, *NEIGHBOR), "unfit", "CONNECT or CONNECT-OK with periods that do not go with ours", "close",
         "remove it, do not ask it for a while", (ASKED,)),
    Rule(NEIGHBOR, "unknown kind", "no later version than ours", "close", "remove it", AWAY),
    Rule(AWAY, "unknown kind", "the same", "close", "", AWAY),
    Rule((*AWAY, *NEIGHBOR), "unknown kind", "a later version: ignore it", "", "", (*AWAY, *NEIGHBOR)),
    Rule(NEIGHBOR, "lost", "its connection broke", "", "remove it", AWAY),
    Rule(AWAY, "lost", "", "", "", AWAY),
    Rule((*AWAY, *NEIGHBOR), "refused", "no connection to it could be opened", "",
         "remove it, do not ask it for a while", (ASKED,)),
    Rule((LINKED, PARTING), "silence", "more than `doubt` heartbeats", "", "seek a replacement",
         (DOUBTED,)),
    Rule((LINKED, PARTING, DOUBTED), "silence", "more than `detector`", "", "remove it", AWAY),
    Rule(NEIGHBOR, "leave", "the application ends", "LEAVE", "remove it", AWAY),
)  # fmt: skip


def rule_table() -> str:
    """Return all rules as text, one line each, columns aligned.

    >>> print(rule_table().splitlines()[0].split())
    ['state', 'on', 'if', 'send', 'do', 'then']
    """
    return table_of(RULES)

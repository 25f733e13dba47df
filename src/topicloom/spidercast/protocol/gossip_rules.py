"""The rules of gossip in one table: what a gossiped view does about one other node.

`print(rule_table())` shows it. `gossip.py` implements it.
"""

from __future__ import annotations

from enum import Enum

from topicloom.spidercast.protocol.rules import Rule, table_of


class ViewState(Enum):
    """What another node is to a gossiped view."""

    UNKNOWN = "unknown"
    NOTED = "noted"  # in the side table of nodes with common topics, and not in the view
    VIEWED = "viewed"
    PARTNER = "partner"  # it was sent a SHUFFLE and has not answered
    GONE = "gone"  # it left or was given up; what others said of it before that is not believed


UNKNOWN, NOTED, VIEWED, PARTNER, GONE = ViewState
OTHERS = (UNKNOWN, NOTED, VIEWED, GONE)
ANY = (UNKNOWN, NOTED, VIEWED, PARTNER, GONE)
KNOWN_OR_NOT = (UNKNOWN, NOTED, VIEWED)


RULES = (
    Rule((VIEWED,), "turn", "of all in the view it was heard of least recently", "SHUFFLE", "", (PARTNER,)),
    Rule(OTHERS, "turn", "an entry point; one is asked every `gossip_seed` seconds", "SHUFFLE", "",
         (PARTNER,)),
    Rule((PARTNER,), "turn", "it did not answer", "", "forget it", (UNKNOWN, GONE)),
    Rule((PARTNER,), "turn", "it did not answer, but it is an entry point", "SHUFFLE", "", (PARTNER,)),
    Rule((UNKNOWN, NOTED, PARTNER, GONE), "turn", "an entry point, and the view is empty", "", "",
         (VIEWED, NOTED)),
    Rule((NOTED, VIEWED, GONE), "turn", "nothing was heard of it for `gossip_forget` seconds", "", "",
         (UNKNOWN, NOTED)),
    Rule(OTHERS, "SHUFFLE", "", "SHUFFLE-REPLY", "take what it says of itself and of others", KNOWN_OR_NOT),
    Rule((PARTNER, GONE), "SHUFFLE", "(gone: it says nothing of itself)", "SHUFFLE-REPLY", "the same",
         (PARTNER, GONE)),
    Rule(ANY, "SHUFFLE again", "it, or too many others, had all answers of this beat", "", "", ANY),
    Rule((PARTNER,), "SHUFFLE-REPLY", "", "", "take what it says; of an entry point: of others only",
         OTHERS),
    Rule(OTHERS, "SHUFFLE-REPLY", "nobody asked it", "", "", OTHERS),
    Rule((UNKNOWN,), "told", "it gets a place, or has a topic of ours with few nodes", "", "",
         (VIEWED, NOTED)),
    Rule((NOTED,), "told", "it gets a place in the view", "", "", (VIEWED,)),
    Rule((GONE,), "told", "newer than its going", "", "note it where there is room", KNOWN_OR_NOT),
    Rule((NOTED,), "told", "its interest changed: no topic of ours needs it", "", "", (UNKNOWN,)),
    Rule(ANY, "told", "otherwise", "", "keep the newer word", ANY),
    Rule((VIEWED,), "exchange", "its place goes to a node that was told of", "", "", (UNKNOWN, NOTED)),
    Rule(OTHERS, "heard", "CONNECT, CONNECT-OK or TELL-INTEREST of it: that beats all hearsay", "",
         "note it where there is room", KNOWN_OR_NOT),
    Rule((PARTNER,), "heard", "", "", "the same", (PARTNER,)),
    Rule(OTHERS, "gone", "it left, was given up, or refused (lost alone is not enough)", "", "forget it",
         (GONE,)),
    Rule((PARTNER,), "gone", "", "", "forget it; its answer may still come", (PARTNER,)),
    Rule((GONE,), "gone of another", "more are gone than a view holds: the first is forgotten", "", "",
         (UNKNOWN,)),
    Rule((NOTED,), "interest", "the node's own interest changed: no topic needs it now", "", "", (UNKNOWN,)),
)  # fmt: skip


def rule_table() -> str:
    """Return all rules as text, one line each, columns aligned."""
    return table_of(RULES)

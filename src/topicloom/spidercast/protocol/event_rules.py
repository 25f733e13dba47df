"""The rules of events in one table: what a node does about one neighbor and the events of one topic.

`print(rule_table())` shows it. `dissemination.py`, `event_links.py`, `event_paths.py`
and `announcements.py` implement it.
"""

from __future__ import annotations

from enum import Enum

from topicloom.spidercast.protocol.rules import Rule, table_of


class EventLinkState(Enum):
    """What the link to another node is to the events of a topic."""

    APART = "apart"  # the other is no neighbor, or one of the two does not want the topic
    EAGER = "eager"  # events are pushed
    LAZY = "lazy"  # only their ids are told


APART, EAGER, LAZY = EventLinkState
JOINED = (EAGER, LAZY)
ANY = (APART, EAGER, LAZY)


RULES = (
    Rule((APART,), "link", "it is a neighbor now, and both want the topic", "", "", (EAGER,)),
    Rule((APART,), "link", "the same, and events are held; the first time in a beat", "HAVE", "", (EAGER,)),
    Rule(JOINED, "link", "it goes, or one of the two no longer wants the topic", "", "", (APART,)),
    Rule((LAZY,), "link", "an eager link to another neighbor broke", "", "", (EAGER,)),
    Rule((EAGER,), "new event", "it did not send it", "EVENT", "", (EAGER,)),
    Rule((EAGER,), "new event", "it had announced it", "", "note that it holds the event", (EAGER,)),
    Rule((EAGER,), "new event", "its connection is full", "", "announce it soon", (EAGER,)),
    Rule((LAZY,), "new event", "it did not send it", "", "announce it soon", (LAZY,)),
    Rule(JOINED, "announcement", "lazy or full; it is not known to hold the event", "HAVE", "", JOINED),
    Rule(JOINED, "beat", "for some rounds: it is new, or not known to hold the event", "HAVE", "", JOINED),
    Rule(JOINED, "EVENT", "new", "", "deliver it, hold it, pass it on", (EAGER,)),
    Rule(JOINED, "EVENT", "known; it came over another link", "PRUNE", "", (LAZY,)),
    Rule((EAGER,), "EVENT", "known; this path is much shorter", "", "note that it holds the event", (EAGER,)),
    Rule((EAGER,), "EVENT of another", "known; the path over that one is much shorter", "PRUNE", "", (LAZY,)),
    Rule((APART,), "EVENT", "known; a neighbor that has not heard of our interest", "PRUNE", "", (APART,)),
    Rule(ANY, "EVENT", "not wanted, old, impossible; known, and from the same or over the only eager link",
         "", "", ANY),
    Rule(JOINED, "EVENT", "new; another neighbor had announced it, with a path shorter by two hops or more",
         "PRUNE", "deliver it, hold it, pass it on", (LAZY,)),
    Rule((LAZY,), "new event", "it had announced it, with a path shorter by two hops or more", "GRAFT", "",
         (EAGER,)),
    Rule((LAZY,), "HAVE", "held, and its path is shorter by two hops or more", "GRAFT", "", (EAGER,)),
    Rule((EAGER,), "HAVE of another", "the path over this one is much longer", "PRUNE", "", (LAZY,)),
    Rule((LAZY,), "HAVE", "of the topic only this event is missing; the first time since the tree broke",
         "WANT", "note that it is missing here", (EAGER,)),
    Rule(ANY, "HAVE", "otherwise", "", "note that it holds the event, or that it is missing here", ANY),
    Rule(JOINED, "repair", "it announced an event that does not come; its turn", "WANT", "", (EAGER,)),
    Rule((APART,), "repair", "the same, of a neighbor that no longer wants the topic", "WANT", "", (APART,)),
    Rule(JOINED, "WANT", "the event is held, and its share not used up", "EVENT", "", (EAGER,)),
    Rule(JOINED, "WANT", "otherwise", "", "", (EAGER,)),
    Rule(JOINED, "GRAFT", "", "", "", (EAGER,)),
    Rule(JOINED, "PRUNE", "", "", "", (LAZY,)),
    Rule((EAGER,), "PRUNE", "the only eager link; or no event of the topic came so far", "", "", (EAGER,)),
    Rule((APART,), "WANT", "", "", "", (APART,)),
    Rule((APART,), "GRAFT", "", "", "", (APART,)),
    Rule((APART,), "PRUNE", "", "", "", (APART,)),
)  # fmt: skip


def rule_table() -> str:
    """Return all rules as text, one line each, columns aligned."""
    return table_of(RULES)

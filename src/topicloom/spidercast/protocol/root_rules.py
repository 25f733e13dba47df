"""The rules of the election of roots in one table: what a node makes of one topic when it hears of roots.

`print(rule_table())` shows it. `roots.py` and `root_parents.py` implement it. `news`: the next heartbeat
tells the neighbors of the root and the hops to it.
"""

from __future__ import annotations

from enum import Enum

from topicloom.spidercast.protocol.rules import Rule, table_of


class RootState(Enum):
    """Which root a node names for a topic."""

    UNWANTED = "unwanted"  # none: the topic is not one of its own
    ITSELF = "itself"
    FOLLOWS = "follows"  # another node, by the word of a neighbor: its parent
    DOUBTS = "doubts"  # itself, since it lost its path to a root; it does not believe in that one for a while


UNWANTED, ITSELF, FOLLOWS, DOUBTS = RootState
NAMED = (ITSELF, FOLLOWS, DOUBTS)


RULES = (
    Rule((UNWANTED,), "interest", "the node wants the topic now", "news", "name itself", (ITSELF,)),
    Rule(NAMED, "interest", "the node wants it no more", "", "forget it", (UNWANTED,)),
    Rule(NAMED, "interest", "otherwise", "", "", NAMED),
    Rule((ITSELF,), "begin", "a heartbeat after its start: a neighbor names a smaller root", "news",
         "follow it", (FOLLOWS,)),
    Rule((ITSELF,), "begin", "otherwise", "", "", (ITSELF,)),
    Rule(NAMED, "offer", "a smaller root; not the doubted one, or nearer than ever before", "news",
         "follow it", (FOLLOWS,)),
    Rule(NAMED, "offer", "otherwise; or it has not begun", "", "remember it", NAMED),
    Rule((FOLLOWS,), "parent's word", "the same", "", "", (FOLLOWS,)),
    Rule((FOLLOWS,), "parent's word", "other hops, or a smaller root", "news", "go with it", (FOLLOWS,)),
    Rule((FOLLOWS,), "parent's word", "another root, none or too many hops; there is another path", "",
         "take the neighbor on it as the parent", (FOLLOWS,)),
    Rule((FOLLOWS,), "parent's word", "no other path; a neighbor names a smaller root than itself", "news",
         "doubt the old root, follow the new one", (FOLLOWS,)),
    Rule((FOLLOWS,), "parent's word", "no other path, nor such a neighbor", "news",
         "doubt the old root, name itself", (DOUBTS,)),
    Rule((FOLLOWS,), "parent gone", "there is another path, as long", "",
         "take the neighbor on it as the parent", (FOLLOWS,)),
    Rule((FOLLOWS,), "parent gone", "another path of another length, or another root", "news",
         "follow it; doubt the old root if that is another one", (FOLLOWS,)),
    Rule((FOLLOWS,), "parent gone", "neither", "news", "doubt the old root, name itself", (DOUBTS,)),
    Rule(NAMED, "neighbor gone", "it is not the parent", "", "", NAMED),
    Rule((DOUBTS,), "doubt over", "nobody names a smaller root", "", "", (ITSELF,)),
    Rule((FOLLOWS, DOUBTS), "doubt over", "a neighbor names a smaller root", "news", "follow it", (FOLLOWS,)),
    Rule((FOLLOWS,), "doubt over", "otherwise", "", "", (FOLLOWS,)),
)  # fmt: skip


def rule_table() -> str:
    """Return all rules as text, one line each, columns aligned.

    >>> print(rule_table().splitlines()[0].split())
    ['state', 'on', 'if', 'send', 'do', 'then']
    """
    return table_of(RULES)

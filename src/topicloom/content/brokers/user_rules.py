"""What is promised, and the rules of a user at a broker in one table.

The promise. Assume that no message takes longer than `max_delay`; messages may overtake each other and come
twice. A user publishes an event when every broker knows some broker's announcement of a matching
subscription, and the subscriber keeps that subscription until the event arrives. Then the event is delivered
to it exactly once,
- whatever migrations go on: several at once, one right after another, there and back, declined, refused;
- if the foreign broker dies at any time before the user connects to it, or within `travel` seconds after
  (until then the home broker has all that the user should get, and the user goes back to it first).
Publications of a user that moves are neither lost nor repeated: what its old broker has not confirmed goes to
the new one, and subscribers know the numbers they have received. Nothing is ever delivered twice, nor to a
user whose subscription does not match, whatever dies. If a broker dies at another time, its users register
with another one in their lists; events that were under way to or from them may be lost.

Why. (1) Letters arrive exactly once while both ends live (letters.py). (2) The user alone says who its broker
is: each attempt has a higher term, and a broker that hears of a higher term yields. (3) A broker that yields
still announces the user's interest for `ttl`, redirects what comes, and keeps a copy: `ttl` outlasts the time
until all brokers know the new broker's interest, plus the longest travel of what was sent before, plus the
time in which the user finds out that its new broker died. (4) The user knows what it has received (user.py).

`print(rule_table())` shows the table; tests check every step of every run against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from topicloom.wire.core import align_columns


class UserState(Enum):
    """What a user is to a broker."""

    ABSENT = "absent"
    ATTACHED = "attached"
    ASKED = "asked"  # attached, and asked to move
    COPYING = "copying"  # attached, has accepted; the foreign broker was sent all about it
    READY = "ready"  # attached, and told to connect to the foreign broker
    REDIRECTING = "redirecting"  # another broker has it; what comes for it is sent on


ABSENT, ATTACHED, ASKED, COPYING, READY, REDIRECTING = UserState
MOVING = (ASKED, COPYING, READY)
IN_CHARGE = (ATTACHED, *MOVING)
AWAY = (ABSENT, REDIRECTING)
ALL = (ABSENT, *IN_CHARGE, REDIRECTING)


@dataclass(frozen=True, slots=True)
class UserRule:
    """In one of `states`, on `on`, if `when`: send one of `send` (to whom it concerns), go to `then`.

    Events, and receipts of letters, are sent as well; `send` lists control bodies only.
    """

    states: tuple[UserState, ...]
    on: str
    when: str
    send: tuple[str, ...]
    then: tuple[UserState, ...]


RULES = (
    UserRule(ALL, "REGISTER", "the term is higher, and there is room or no other way",
             ("WELCOME", "TOOK-OVER", "CANCEL"), (ATTACHED,)),
    UserRule(ALL, "REGISTER", "no room", ("REFUSED",), ALL),
    UserRule(ALL, "REGISTER", "the term is not higher", (), ALL),
    UserRule(ALL, "CONNECT", "the term is higher, and there is room",
             ("WELCOME", "TOOK-OVER", "CANCEL"), (ATTACHED,)),
    UserRule(ALL, "CONNECT", "no room", ("REFUSED",), ALL),
    UserRule(ALL, "CONNECT", "the term is not higher", (), ALL),
    UserRule((ATTACHED,), "decision", "another broker costs less", ("REQUEST-TO-MOVE",), (ASKED,)),
    UserRule((ASKED,), "ACCEPT", "", ("REPLICATE",), (COPYING,)),
    UserRule((ASKED,), "ACCEPT", "the foreign broker is dead", (), (ATTACHED,)),
    UserRule((ASKED,), "DECLINE", "", (), (ATTACHED,)),
    UserRule(ALL, "ACCEPT", "of another move", (), ALL),
    UserRule(ALL, "DECLINE", "of another move", (), ALL),
    UserRule((COPYING,), "REPLICATED", "", ("READY",), (READY,)),
    UserRule((COPYING,), "NO-ROOM", "", (), (ATTACHED,)),
    UserRule(ALL, "REPLICATED", "of another move", (), ALL),
    UserRule(ALL, "NO-ROOM", "of another move", (), ALL),
    UserRule(ALL, "REPLICATE", "there is room, which is kept free", ("REPLICATED",), ALL),
    UserRule(ALL, "REPLICATE", "no room", ("NO-ROOM",), ALL),
    UserRule(ALL, "CANCEL", "forget the room kept free", (), ALL),
    UserRule((*IN_CHARGE, REDIRECTING), "TOOK-OVER", "of a higher term",
             ("HANDED-OVER", "CANCEL"), (REDIRECTING,)),
    UserRule(IN_CHARGE, "TOOK-OVER", "of a lower term", ("TOOK-OVER",), IN_CHARGE),
    UserRule(AWAY, "TOOK-OVER", "of a lower term, or nothing is known of the user", (), AWAY),
    UserRule(ALL, "HANDED-OVER", "", (), ALL),
    UserRule(ALL, "SUBSCRIBE", "", (), ALL),
    UserRule((ASKED,), "time", "no answer", (), (ATTACHED,)),
    UserRule((COPYING, READY), "time", "no answer", ("CANCEL",), (ATTACHED,)),
    UserRule((COPYING,), "death", "of the foreign broker", (), (ATTACHED,)),
    UserRule((REDIRECTING,), "time", "the TTL is over", (), (ABSENT,)),
    UserRule(IN_CHARGE, "silence", "of the user", ("CANCEL",), (ABSENT,)),
    UserRule((*IN_CHARGE, REDIRECTING), "LEAVE", "", ("CANCEL",), (ABSENT,)),
    UserRule((ABSENT,), "LEAVE", "", (), (ABSENT,)),
)  # fmt: skip


def rule_table() -> str:
    """Return all rules as text, one line each, columns aligned.

    >>> print(rule_table().splitlines()[0].split())
    ['state', 'on', 'if', 'send', 'then']
    """
    rows = [("state", "on", "if", "send", "then")]
    for rule in RULES:
        then = "the same" if rule.then == rule.states else _named(rule.then)
        rows.append((_named(rule.states), rule.on, rule.when, ", ".join(rule.send), then))
    return align_columns(rows)


def _named(states: tuple[UserState, ...]) -> str:
    return "any" if states == ALL else " | ".join(state.value for state in states)

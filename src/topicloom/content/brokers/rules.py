"""What is promised, and the life of a user at a broker in one table.

The promise. Let no message take longer than `max_delay`; messages may overtake each other and come twice.
Let e be an event that a client publishes when every broker knows some broker's announcement of a subscription
that matches e, and let its subscriber keep it until e arrives. Then e is delivered to it exactly once,
- whatever migrations go on: several at once, one right after another, there and back, declined, refused;
- if the foreign broker dies at any time before the client connects to it, or within `travel` seconds after
  (until then the home broker has all that the user should get, and the client goes back to it first).
What is under way on a connection that a client closes when it has moved may be lost on it: it comes another
way. Publications of a client that moves are not lost or repeated either: what its old broker has not
confirmed goes to the new one, and subscribers know the numbers they have had.
Nothing is ever delivered twice, nor to a client whose subscription does not match, whoever dies.
If a broker dies at another time, its clients find another one in their lists and register there; events that
were under way to or from them then may be lost, or not.

Why. (1) Letters arrive exactly once while both ends live (post.py). (2) The client alone says who its broker
is: each attempt has a higher term, and a broker that hears of a higher term yields. (3) A broker that yields
still announces the user's interest for `ttl`, redirects what comes, and keeps a copy: `ttl` outlasts the time
until all brokers know the new broker's interest, plus the longest travel of what was sent before, plus the
time in which the client finds out that its new broker died. (4) The client knows what it has had (seen.py).

`print(table())` shows the table; tests hold every step of every run against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class State(Enum):
    """What a user is to a broker."""

    ABSENT = "absent"
    ATTACHED = "attached"
    ASKED = "asked"
    """Attached, and asked to move."""
    COPYING = "copying"
    """Attached, has accepted; the foreign broker was sent all about it."""
    READY = "ready"
    """Attached, and told to connect to the foreign broker."""
    REDIRECTING = "redirecting"
    """Another broker's; what comes for it is sent on."""


ABSENT, ATTACHED, ASKED, COPYING, READY, REDIRECTING = State
MOVING = (ASKED, COPYING, READY)
CHARGE = (ATTACHED, *MOVING)
AWAY = (ABSENT, REDIRECTING)
ALL = (ABSENT, *CHARGE, REDIRECTING)


@dataclass(frozen=True, slots=True)
class Rule:
    """In one of `states`, on `on`, if `when`: send one of `send` (to whom it concerns), go to `then`.

    Events, and receipts of letters, are sent as well; `send` lists control bodies only.
    """

    states: tuple[State, ...]
    on: str
    when: str
    send: tuple[str, ...]
    then: tuple[State, ...]


RULES = (
    Rule(ALL, "REGISTER", "the term is higher, and there is room or no other way",
         ("WELCOME", "TOOK-OVER", "CANCEL"), (ATTACHED,)),
    Rule(ALL, "REGISTER", "no room", ("REFUSED",), ALL),
    Rule(ALL, "REGISTER", "the term is not higher", (), ALL),
    Rule(ALL, "CONNECT", "the term is higher, and there is room",
         ("WELCOME", "TOOK-OVER", "CANCEL"), (ATTACHED,)),
    Rule(ALL, "CONNECT", "no room", ("REFUSED",), ALL),
    Rule(ALL, "CONNECT", "the term is not higher", (), ALL),
    Rule((ATTACHED,), "decision", "another broker costs less", ("REQUEST-TO-MOVE",), (ASKED,)),
    Rule((ASKED,), "ACCEPT", "", ("REPLICATE",), (COPYING,)),
    Rule((ASKED,), "ACCEPT", "the foreign broker is dead", (), (ATTACHED,)),
    Rule((ASKED,), "DECLINE", "", (), (ATTACHED,)),
    Rule(ALL, "ACCEPT", "of another move", (), ALL),
    Rule(ALL, "DECLINE", "of another move", (), ALL),
    Rule((COPYING,), "REPLICATED", "", ("READY",), (READY,)),
    Rule((COPYING,), "NO-ROOM", "", (), (ATTACHED,)),
    Rule(ALL, "REPLICATED", "of another move", (), ALL),
    Rule(ALL, "NO-ROOM", "of another move", (), ALL),
    Rule(ALL, "REPLICATE", "there is room, which is kept free", ("REPLICATED",), ALL),
    Rule(ALL, "REPLICATE", "no room", ("NO-ROOM",), ALL),
    Rule(ALL, "CANCEL", "forget the room kept free", (), ALL),
    Rule((*CHARGE, REDIRECTING), "TOOK-OVER", "of a higher term", ("HANDED-OVER", "CANCEL"), (REDIRECTING,)),
    Rule(CHARGE, "TOOK-OVER", "of a lower term", ("TOOK-OVER",), CHARGE),
    Rule(AWAY, "TOOK-OVER", "of a lower term, or nothing is known of the user", (), AWAY),
    Rule(ALL, "HANDED-OVER", "", (), ALL),
    Rule(ALL, "SUBSCRIBE", "", (), ALL),
    Rule((ASKED,), "time", "no answer", (), (ATTACHED,)),
    Rule((COPYING, READY), "time", "no answer", ("CANCEL",), (ATTACHED,)),
    Rule((COPYING,), "death", "of the foreign broker", (), (ATTACHED,)),
    Rule((REDIRECTING,), "time", "the TTL is over", (), (ABSENT,)),
    Rule(CHARGE, "silence", "of the client", ("CANCEL",), (ABSENT,)),
    Rule((*CHARGE, REDIRECTING), "LEAVE", "", ("CANCEL",), (ABSENT,)),
    Rule((ABSENT,), "LEAVE", "", (), (ABSENT,)),
)  # fmt: skip


def permits(rule: Rule, before: State, on: str, sent: tuple[str, ...], after: State) -> bool:
    """Is a step one of this row? `then` equal to `states` means: no change.

    >>> permits(RULES[7], ASKED, "ACCEPT", ("REPLICATE",), COPYING)
    True
    """
    return (
        before in rule.states
        and on == rule.on
        and (after == before if rule.then == rule.states else after in rule.then)
        and all(word in rule.send for word in sent)
        and (not rule.send or rule.send[0] in sent or rule.send[0] in ("HANDED-OVER", "CANCEL"))
    )


def table() -> str:
    """All rules as text, one line each, columns aligned.

    >>> print(table().splitlines()[0].split())
    ['state', 'on', 'if', 'send', 'then']
    """
    rows = [("state", "on", "if", "send", "then")]
    for rule in RULES:
        states, then = (_named(some) for some in (rule.states, rule.then))
        then = "the same" if rule.then == rule.states else then
        rows.append((states, rule.on, rule.when, ", ".join(rule.send), then))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(field.ljust(width) for field, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _named(states: tuple[State, ...]) -> str:
    return "any" if states == ALL else " | ".join(state.value for state in states)

"""Copies of one message on bridges, one by one, as Mosquitto hands them on."""

from __future__ import annotations

from collections import Counter
from itertools import product

MANY = 60
"""More copies than any message makes that does not go round among these few brokers."""

Rule = tuple[str, str, str, str]  # pattern, direction, local prefix, remote prefix
Link = tuple[str, str, list[Rule], bool]  # dialer, acceptor, rules, the acceptor knows it is a bridge


def match(pattern: list[str], name: list[str], first: bool = True) -> bool:
    """MQTT 3.1.1, 4.7, level by level."""
    if first and name[0].startswith("$") and pattern[0] in ("+", "#"):
        return False
    if not pattern or pattern == ["#"]:
        return not name or pattern == ["#"]
    if not name:
        return False
    return pattern[0] in ("+", name[0]) and match(pattern[1:], name[1:], False)


def crossed(rules: list[Rule], name: str, way: str) -> str | None:
    """The name at the other end, or None; `way` is out or in."""
    sent = None
    for pattern, direction, local, remote in rules:
        here, there = (local, remote) if way == "out" else (remote, local)
        if direction in (way, "both") and match((here + pattern).split("/"), name.split("/")):
            if here or there:
                return there + (name[len(here) :] if name.startswith(here) else name)
            sent = name
    return sent


def copies(links: list[Link], start: str, name: str) -> Counter[tuple[str, str]]:
    """How often each broker gets a message under each name; stops after MANY."""
    got: Counter[tuple[str, str]] = Counter()
    waiting: list[tuple[str, str, object]] = [(start, name, None)]
    while waiting and got.total() < MANY:
        broker, called, came_by = waiting.pop(0)
        got[broker, called] += 1
        for number, (dialer, acceptor, rules, known) in enumerate(links):
            if broker == dialer and came_by != (number, "dialer"):
                further = crossed(rules, called, "out")
                if further is not None:
                    waiting.append((acceptor, further, (number, "acceptor")))
            if broker == acceptor and (came_by != (number, "acceptor") or not known):
                further = crossed(rules, called, "in")
                if further is not None:
                    waiting.append((dialer, further, (number, "dialer")))
    return got


def all_names(links: list[Link], levels: int) -> list[str]:
    """Every name of so many levels out of the words of the rules and one that none of them has."""
    words = {"zz"}
    for _, _, rules, _ in links:
        for pattern, _, local, remote in rules:
            words |= set((local + pattern).split("/")) | set((remote + pattern).split("/"))
    words -= {"+", "#"}
    return ["/".join(name) for n in range(1, levels + 1) for name in product(sorted(words), repeat=n)]

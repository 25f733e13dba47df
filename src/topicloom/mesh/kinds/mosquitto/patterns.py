"""MQTT topic names: what a pattern matches, what two patterns have in common, how a bridge renames."""

from __future__ import annotations

from topicloom.mesh.kinds.mosquitto.read import Bridge, TopicRule

MOST_LEVELS = 200
"""Mosquitto refuses names of more levels."""


def matches(pattern: str, name: str) -> bool:
    """Does this topic filter match this topic name (MQTT 3.1.1, section 4.7)?

    >>> matches("a/+/#", "a/b"), matches("a/+/#", "a"), matches("#", "$SYS/x")
    (True, False, False)
    """
    wanted, levels = pattern.split("/"), name.split("/")
    if wanted[0] in ("+", "#") and name.startswith("$"):
        return False  # 4.7.2: wildcards at the front leave out names that begin with $
    for index, level in enumerate(wanted):
        if level == "#":
            return True
        if index >= len(levels) or level not in ("+", levels[index]):
            return False
    return len(levels) == len(wanted)


def sent_as(bridge: Bridge, name: str, *, out: bool) -> str | None:
    """What a message of this name is called at the other end of a bridge; None if it does not cross.

    As mosquitto does it: any rule of this direction lets it cross, the first one with a prefix renames it. A
    prefix is taken away only where the name begins with it: `a/#` matches `a` too, which keeps its name.
    """
    found = None
    for rule in bridge.rules:
        if not (rule.goes_out if out else rule.comes_in):
            continue
        pattern, old, new = (
            (rule.local, rule.local_prefix, rule.remote_prefix)
            if out
            else (rule.remote, rule.remote_prefix, rule.local_prefix)
        )
        if matches(pattern, name):
            if old or new:
                return new + name.removeprefix(old)
            found = name
    return found


def rule_of(bridge: Bridge, name: str, *, out: bool) -> TopicRule | None:
    """The first rule that lets a message of this name cross."""
    for rule in bridge.rules:
        if (rule.goes_out if out else rule.comes_in) and matches(rule.local if out else rule.remote, name):
            return rule
    return None


def covers(wide: str, narrow: str) -> bool:
    """Does the one pattern match every name that the other matches?"""
    wider, narrower = wide.split("/"), narrow.split("/")
    for index, level in enumerate(wider):
        if level == "#":
            return True
        if index >= len(narrower) or narrower[index] == "#" or level not in ("+", narrower[index]):
            return False
    return len(wider) == len(narrower)


def common(one: str, other: str) -> str | None:
    """The pattern of the names that both match, level by level: $ is a letter as any other here.

    >>> common("a/+/#", "+/b"), common("a/#", "a"), common("a/+", "b/#"), common("a/#", "+/#")
    ('a/b', 'a', None, 'a/#')
    """
    first, second = one.split("/"), other.split("/")
    found: list[str] = []
    for index in range(max(len(first), len(second))):
        for mine, its in ((first, second), (second, first)):
            if mine[index : index + 1] == ["#"]:
                return "/".join((*found, *its[index:])) or None
        if index >= len(first) or index >= len(second):
            return None
        level, fixed = first[index], second[index]
        if level != fixed and "+" not in (level, fixed):
            return None
        found.append(fixed if level == "+" else level)
    return "/".join(found)

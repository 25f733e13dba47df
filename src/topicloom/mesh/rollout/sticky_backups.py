"""Backups that stay: a link keeps those it had wherever they are still safe with what changed.

Safe is what `topic_trees/backups.py` says. Taking a backup away never makes another one unsafe, so all that
carries no changed topic keeps what it has; links with a changed topic get theirs back one by one, as long as
no choice of backups closes a loop. A link that is new, or turned around, has none: an export from scratch
gives it one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from topicloom.mesh.model.mesh import Mesh, MeshLink
from topicloom.mesh.rollout.change import Groups


def sticky_backups(
    old: Mesh, links: Sequence[MeshLink], members: Mapping[str, Sequence[str]]
) -> list[MeshLink]:
    """Return the links with the backups that they can keep."""
    had = {link.name: link.backups for link in old.links}
    wanting = {topic: set(own) for topic, own in members.items()}
    units, before = _units(links), _units(old.links)
    same = {unit for unit, own in units.items() if set(own) <= set(before.get(unit, ()))}
    found = {link.name: link for link in links}
    doubtful = []
    for link in links:
        backups = _wanted(link, had.get(link.name, ()), wanting)
        if backups and _units([link]).keys() <= same:  # it was safe, and is with less around it
            found[link.name] = replace(link, backups=backups)
        elif backups:
            doubtful.append(replace(link, backups=backups))
    for link in doubtful:
        bare, found[link.name] = found[link.name], link
        if not all(_is_safe([found[name] for name in units[unit]]) for unit in _units([link])):
            found[link.name] = bare
    return [found[link.name] for link in links]


def _wanted(link: MeshLink, backups: Sequence[str], wanting: Mapping[str, set[str]]) -> tuple[str, ...]:
    """Return the backups that want all topics of the link."""
    return tuple(one for one in backups if all(one in wanting[topic] for topic in link.topics))


def _units(links: Sequence[MeshLink]) -> dict[str, list[str]]:
    """Return the links that must hold no loop together: those of an account, or of a topic."""
    units: dict[str, list[str]] = {}
    for link in links:
        own = (f"account {link.account}",) if link.account else tuple(f"topic {name}" for name in link.topics)
        for unit in own:
            units.setdefault(unit, []).append(link.name)
    return units


def _is_safe(links: Sequence[MeshLink]) -> bool:
    """Return whether no choice of backups closes a loop: see `topic_trees/backups.py`."""
    nodes = {end for link in links for end in (link.dialer, link.acceptor, *link.backups)}
    bodies = Groups(nodes)
    for link in links:
        if not link.backups:
            bodies.join(link.dialer, link.acceptor)
    arcs: dict[str, set[str]] = {}
    for link in links:
        if link.backups:
            if bodies.top(link.dialer) in arcs:
                return False
            arcs[bodies.top(link.dialer)] = {bodies.top(end) for end in (link.acceptor, *link.backups)}
    try:
        TopologicalSorter(arcs).prepare()
    except CycleError:
        return False
    return True

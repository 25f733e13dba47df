"""Fewest brokers whose files must change for a new interest, whatever a planner does.

Programs of zeros and ones: which files change, and for NATS which account each topic is in. They demand only
what no plan can do without, so the true number may be higher.

NATS. What links carry does not stand in files without logins, so links that stay carry what both of their
ends want in the account.

- A subscriber whose file has no account of that name changes.
- Where the links of an account that lie within the subscribers of a topic leave it in several components,
  somebody who dials a new link within them changes.
- Where a way through others joins two of these components, the account would have a loop, or the topic would
  pass through servers that do not want it: one of those who dial the links of this way changes.
- A link with a backup that does not want a topic of the link changes its dialer: nothing but a new file takes
  the backup away. (`backups=False` leaves this out: the bound for links without backups.)

Mosquitto. What a link carries stands in the file of its dialer. With logins these are the brokers to restart.

- Who dials a link of a topic that one of its ends (or backups) does not want any more changes.
- Where the links that are left of a topic do not join those who want it, one of these changes: somebody
  dials a new link.
- A broker that comes gets a file, and one that goes is stopped.

With logins the access lists of all who gain or lose a topic change, and of both ends of a link that must not
carry a topic any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from topicloom.base.progress import SILENT
from topicloom.base.solver.integer_program import ProgramRows, minimise
from topicloom.base.solver.linear_program import Budget
from topicloom.mesh.model.mesh import Mesh, components_of, neighbors_by_topic

SECONDS = 60.0
Neighbors = Mapping[str, list[tuple[str, str]]]  # of each node in one account: (the other end, who dials)


def fewest_changed(
    old: Mesh, wanted: Mapping[str, set[str]], *, backups: bool = True, logins: bool = False
) -> int:
    """Return how many servers of a NATS mesh must change at least; `wanted` by topic."""
    accounts: dict[str, set[str]] = {node.name: set() for node in old.nodes}
    for topic in old.topics:
        for node in topic.subscribers:
            accounts[node].add(topic.account or "")
    number = {node: at for at, node in enumerate(sorted({*accounts, *set().union(*wanted.values())}))}
    near = {account: _neighbors(old, account) for account in old.accounts}
    rows: list[tuple[dict[int, float], float]] = []  # coefficients, and the least that they must sum up to
    columns = len(number)
    for own in wanted.values():
        choices = range(columns, columns := columns + len(old.accounts) + 1)
        rows.append((dict.fromkeys(choices, 1.0), 1.0))
        for choice, account in zip(choices, (*old.accounts, None), strict=True):
            for some in _changed(old, own, accounts, account, near, backups=backups):
                rows.append(({**{number[node]: 1.0 for node in some}, choice: -1.0}, 0.0))
    if logins:
        rows += [({number[node]: 1.0}, 1.0) for node in rights_changed(old, wanted) if node in number]
    return _solved(rows, columns, len(number))


def rights_changed(old: Mesh, wanted: Mapping[str, set[str]]) -> set[str]:
    """Return whose access lists must change where there are logins: clients have other topics there, or a
    link that comes in may not carry one any more.
    """
    before = {topic.topic: set(topic.subscribers) for topic in old.topics}
    found = set[str]().union(
        *(before.get(one, set()) ^ wanted.get(one, set()) for one in before.keys() | wanted)
    )
    for link in old.links:
        if not all({link.dialer, link.acceptor} <= wanted.get(topic, set()) for topic in link.topics):
            found |= {link.dialer, link.acceptor}
    return found


def fewest_restarted(
    old: Mesh, wanted: Mapping[str, set[str]], *, backups: bool = True, logins: bool = False
) -> int:
    """Return how many Mosquitto brokers must dial otherwise, come or go at least; `wanted` by topic.

    With `logins` those count too whose access lists must change, by a reload.
    """
    before, after = {node.name for node in old.nodes}, set().union(*wanted.values())
    must = before ^ after
    kept: list[tuple[str, str, list[str]]] = []
    for link in old.links:
        stays = [
            topic
            for topic in link.topics
            if {link.dialer, link.acceptor, *(link.backups if backups else ())} <= wanted.get(topic, set())
        ]
        if len(stays) < len(link.topics):
            must.add(link.dialer)
        # A backup may go and the link stay: that is a change of the same file.
        ends = {link.dialer, link.acceptor}
        kept.append((link.dialer, link.acceptor, [t for t in link.topics if ends <= wanted.get(t, set())]))
    near = neighbors_by_topic(kept)
    split = [own for topic, own in wanted.items() if len(components_of(sorted(own), near.get(topic, {}))) > 1]
    number = {node: at for at, node in enumerate(sorted(before | after))}
    if logins:
        must |= rights_changed(old, wanted)
    sets = [*({node} for node in must), *split]
    rows = [({number[node]: 1.0 for node in own}, 1.0) for own in sets]
    return _solved(rows, len(number), len(number)) if rows else 0


def _solved(rows: list[tuple[dict[int, float], float]], columns: int, counted: int) -> int:
    """Return a bound of the program: the fewest ones among the first columns that are counted."""
    costs = np.zeros(columns)
    costs[:counted] = 1.0
    ones = np.ones(columns)
    entries = [(at, column, value) for at, (row, _) in enumerate(rows) for column, value in row.items()]
    program = ProgramRows(
        np.array([at for at, _, _ in entries]),
        np.array([column for _, column, _ in entries]),
        np.array([value for _, _, value in entries]),
        np.array([least for _, least in rows]),
        np.full(len(rows), np.inf),
    )
    found = minimise(costs, ones, ones > 0, program, Budget(SECONDS, SILENT))
    return int(np.ceil(found.bound - 1e-6))


def _neighbors(old: Mesh, account: str) -> Neighbors:
    near: dict[str, list[tuple[str, str]]] = {node.name: [] for node in old.nodes}
    for link in old.links:
        if link.account == account:
            near[link.dialer].append((link.acceptor, link.dialer))
            near[link.acceptor].append((link.dialer, link.dialer))
    return near


def _changed(
    old: Mesh,
    own: set[str],
    accounts: Mapping[str, set[str]],
    account: str | None,
    near: Mapping[str, Neighbors],
    *,
    backups: bool,
) -> Iterator[set[str]]:
    """Yield sets of servers, one of each of which changes if these subscribers are in this account."""
    yield from ({node} for node in own if account is None or account not in accounts.get(node, ()))
    if account is None:
        return
    component: dict[str, str] = {}
    for node in sorted(own):
        if node not in component:
            reached = _reach({node}, near[account], own)
            component |= dict.fromkeys(reached, node)
    if len(set(component.values())) > 1:
        yield own
        for start in set(component.values()):
            within = {node for node, first in component.items() if first == start}
            for way in _reach(within, near[account], None, stop=own - within).values():
                if way[-1] in own - within:
                    yield {_dialer(near[account], one, other) for one, other in pairwise(way)}
    for link in old.links if backups else ():
        if link.account == account and {link.dialer, link.acceptor} <= own and not set(link.backups) <= own:
            yield {link.dialer}


def _reach(
    start: set[str], near: Neighbors, among: set[str] | None, stop: set[str] | None = None
) -> dict[str, list[str]]:
    """Return the nodes that links lead to, each with its way; none beyond `stop`, nor outside of `among`."""
    ways = {node: [node] for node in start}
    left = sorted(start)
    while left:
        node = left.pop()
        for other, _ in near.get(node, ()):
            if other not in ways and (among is None or other in among):
                ways[other] = [*ways[node], other]
                if other not in (stop or ()):
                    left.append(other)
    return ways


def _dialer(near: Neighbors, one: str, other: str) -> str:
    return next(dialer for end, dialer in near[one] if end == other)

"""Backup acceptors: whom a dialer may turn to when its acceptor is gone, safe whichever links do so.

Why it is safe. Root each topic's tree. A link is steady for the topic if its dialer is the parent there,
otherwise its dialer is a child and it may move. Take what steady links join for one body: each body dials at
most one link that may move, the one of its top. If the arcs of all links that may move, to acceptors and to
backups, form no cycle, then whatever each dialer chooses, each body has at most one arc and there is no
cycle: a forest, and a spanning tree while its root lives. So a link gets backups only if it may move in all
its topics, and a backup only if it closes no cycle in any of them and wants them all. With classes the same
must hold for all links of a class together.

Not promised: with classes, while a dead node leaves one topic split, a link of another topic of the class
that has turned to its backup may join its components through nodes that do not want it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.mesh.model.search import search
from topicloom.mesh.model.topic_trees import PlannedLink
from topicloom.overlay.model.interest import Interest


def with_backups(
    interest: Interest,
    links: Sequence[PlannedLink],
    *,
    classes: bool = False,
    most: int = 2,
    split: int = 1,
    progress: Progress = SILENT,
) -> list[PlannedLink]:
    """Return the same links, with up to `most` safe backups where there are any.

    All links get a first backup, where there is one, before any gets a second. With `split` > 1 a link whose
    topics have no backup in common may become up to so many links with disjoint topics (not with classes: an
    account has one link between two nodes); and links of an edge that got no backup become one again.
    """
    arcs = _Arcs(interest, links, classes)
    order = sorted(range(len(links)), key=lambda at: (-len(links[at].topics), at))
    bundles: list[PlannedLink] = []
    for at in order:
        check_stop(progress)
        if most and arcs.may_move[at]:
            bundles += _divide(arcs, links[at], 1 if classes else split)
        else:
            bundles.append(links[at])
    for turn in range(1, most):
        for at, link in enumerate(bundles):
            check_stop(progress)
            if len(link.backups) == turn:
                bundles[at] = arcs.with_backup(link)
    if split > 1 and not classes:
        bundles = _reunite(bundles)
    return sorted(bundles, key=lambda link: (link.topic_class, link.dialer, link.acceptor, link.topics))


def _divide(arcs: _Arcs, link: PlannedLink, parts: int) -> list[PlannedLink]:
    """Divide a link into several with a first backup each, if one does not serve all; best served first."""
    whole = arcs.with_backup(link)
    if whole.backups or parts < 2:
        return [whole]
    done: list[PlannedLink] = []
    rest = list(link.topics)
    while rest and len(done) < parts - 1:
        served = arcs.most_served(link, rest)
        if not served:
            break
        done.append(arcs.with_backup(replace(link, topics=tuple(served))))
        rest = [topic for topic in rest if topic not in served]
    if rest:
        done.append(arcs.with_backup(replace(link, topics=tuple(rest))))
    return done


def _reunite(links: Sequence[PlannedLink]) -> list[PlannedLink]:
    """Unite links of one edge without backups, in the direction of most topics: they never move."""
    bare: dict[tuple[int, int], list[PlannedLink]] = defaultdict(list)
    for link in links:
        if not link.backups:
            bare[min(link.dialer, link.acceptor), max(link.dialer, link.acceptor)].append(link)
    united = [link for link in links if link.backups]
    for own in bare.values():
        best = max(own, key=lambda link: (len(link.topics), -link.acceptor))
        united.append(replace(best, topics=tuple(sorted(topic for link in own for topic in link.topics))))
    return united


class _Arcs:
    """The arcs of links that may move, by unit: a topic, or a class. They never form a cycle."""

    def __init__(self, interest: Interest, links: Sequence[PlannedLink], classes: bool) -> None:
        self.classes = classes
        self.may_move = [True] * len(links)
        self.body: dict[int, dict[int, int]] = {}
        self.arcs: dict[int, dict[int, set[int]]] = {}
        self.depth: dict[int, dict[int, int]] = {}
        own: dict[int, list[int]] = defaultdict(list)
        for at, link in enumerate(links):
            for unit in self._units(link):
                own[unit].append(at)
        for unit, places in sorted(own.items()):
            self.depth[unit] = self._root_unit([(links[at], at) for at in places])
        topics = {topic for link in links for topic in link.topics}
        self.members = {topic: set(interest.nodes_of(topic).tolist()) for topic in topics}
        for unit, places in own.items():
            steady = [(links[at].dialer, links[at].acceptor) for at in places if not self.may_move[at]]
            body = join_ends(list(self.depth[unit]), steady)
            arcs: dict[int, set[int]] = defaultdict(set)
            for at in places:
                if self.may_move[at]:
                    arcs[body[links[at].dialer]].add(body[links[at].acceptor])
            self.body[unit], self.arcs[unit] = body, arcs

    def _units(self, link: PlannedLink) -> tuple[int, ...]:
        return (link.topic_class,) if self.classes else link.topics

    def _root_unit(self, own: Sequence[tuple[PlannedLink, int]]) -> dict[int, int]:
        """Return the depth of each node below the root that lets most links move; mark those that may not."""
        around: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)  # (+1 if the other accepts, link)
        for link, at in own:
            around[link.dialer][link.acceptor] = 1, at
            around[link.acceptor][link.dialer] = -1, at
        depth: dict[int, int] = {}
        for start in sorted(around):
            if start in depth:
                continue
            gain = {start: 0}
            for node, near in search(start, around.__getitem__).items():
                if node != start:  # when the root goes over a link, only that link changes
                    gain[node] = gain[near] + around[near][node][0]
            root = max(gain, key=lambda node: (gain[node], -node))
            depth[root] = 0
            for node, parent in search(root, around.__getitem__).items():
                if node != root:
                    depth[node] = depth[parent] + 1
                    step, at = around[parent][node]
                    self.may_move[at] &= step != 1  # not where the parent dials
        return depth

    def with_backup(self, link: PlannedLink) -> PlannedLink:
        """Add the safe backup nearest to the roots that wants all topics of the link, if there is one."""
        wanting: set[int] = set.intersection(*(self.members[topic] for topic in link.topics))
        wanting -= {link.dialer, link.acceptor, *link.backups}
        units = self._units(link)
        for node in sorted(wanting, key=lambda node: (sum(self.depth[unit][node] for unit in units), node)):
            if not any(self._leads(unit, node, link.dialer) for unit in units):
                for unit in units:
                    body = self.body[unit]
                    self.arcs[unit][body[link.dialer]].add(body[node])
                return replace(link, backups=(*link.backups, node))
        return link

    def most_served(self, link: PlannedLink, topics: Sequence[int]) -> list[int]:
        """Return those of these topics that one backup can serve, for the backup that serves most."""
        served: dict[int, list[int]] = defaultdict(list)
        for topic in topics:
            for node in self.members[topic] - {link.dialer, link.acceptor}:
                if not self._leads(topic, node, link.dialer):
                    served[node].append(topic)
        return served[min(served, key=lambda node: (-len(served[node]), node))] if served else []

    def _leads(self, unit: int, start: int, end: int) -> bool:
        """Return whether arcs lead from one node's body to the other's."""
        body, arcs = self.body[unit], self.arcs[unit]
        return body[end] in search(body[start], lambda at: arcs.get(at, ()))


def join_ends(nodes: Sequence[int], pairs: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Return for each node the smallest one that the pairs join it with.

    >>> join_ends([1, 2, 3], [(3, 2)])
    {1: 1, 2: 2, 3: 2}
    """
    around: dict[int, list[int]] = {node: [] for node in nodes}
    for a, b in pairs:
        around[a].append(b)
        around[b].append(a)
    body: dict[int, int] = {}
    for start in sorted(around):
        if start not in body:
            body |= dict.fromkeys(search(start, around.__getitem__), start)
    return body

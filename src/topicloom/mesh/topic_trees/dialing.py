"""Who dials whom: the links that carry topic trees or forests, and the order to start their brokers in.

Brokers that accept start before those that dial them, as far as cycles allow. A link that finds nobody waits,
or turns to a backup, and not every broker returns from there by itself. So of the links that are dialled too
early those with backups should be few; then the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush

import numpy as np

from topicloom.mesh.model.topic_trees import ForestPacking, PlannedLink, TopicTrees

Neighbor = tuple[int, int, int]  # (node, cost if this one comes before it, if behind)
ROUNDS = 20  # over all nodes, at most; in practice a handful


def tree_links(trees: TopicTrees, *, by_direction: bool = False) -> list[PlannedLink]:
    """Return a link for each edge that a tree uses, with all its topics, sorted by dialer and acceptor.

    The child of most of its topics dials; on a tie the node that is less often a parent, then the larger
    number. With `by_direction` an edge that is used both ways gets two links, one for each
    direction, and then every topic is dialled from child to parent: more connections, more safe backups.
    """
    carried: dict[tuple[int, int], list[int]] = {}
    for topic, a, b in _edges(trees):
        carried.setdefault((a, b), []).append(topic)
    if not by_direction:
        standing = Counter(trees.parent.tolist())
        for a, b in sorted(carried):
            if a < b and (b, a) in carried:
                up, down = carried.pop((a, b)), carried.pop((b, a))
                first = (len(up), -standing[a], a) > (len(down), -standing[b], b)
                carried[(a, b) if first else (b, a)] = sorted(up + down)
    return [PlannedLink(a, b, tuple(carried[a, b])) for a, b in sorted(carried)]


def turn_links(links: Sequence[PlannedLink]) -> list[PlannedLink]:
    """Return the links, those without backups turned so that few nodes dial for each topic.

    A link is configured where it is dialled, so when a subscriber leaves a topic its own broker changes if it
    dials for the topic, and each neighbor that dials it does. The neighbors cannot be helped: their number is
    that of the links. Which nodes dial for a topic can. Links are turned one by one as long as that helps.

    >>> links = [PlannedLink(a, b, (5,)) for a, b in ((0, 1), (2, 0), (3, 0))]
    >>> [(link.dialer, link.acceptor) for link in turn_links(links)]
    [(0, 1), (0, 2), (0, 3)]
    """
    found = list(links)
    dialled = Counter((link.dialer, topic) for link in links for topic in link.topics)
    for _ in range(ROUNDS):
        turned = 0
        for at, link in enumerate(found):
            if link.backups:
                continue
            fewer = sum(dialled[link.dialer, topic] == 1 for topic in link.topics)
            more = sum(not dialled[link.acceptor, topic] for topic in link.topics)
            if more < fewer:
                for topic in link.topics:
                    dialled[link.dialer, topic] -= 1
                    dialled[link.acceptor, topic] += 1
                found[at] = replace(link, dialer=link.acceptor, acceptor=link.dialer)
                turned += 1
        if not turned:
            break
    return sorted(found, key=lambda link: (link.dialer, link.acceptor))


def forest_links(packing: ForestPacking) -> list[PlannedLink]:
    """Return a link for each class and edge of its forest, dialled towards the root of the forest."""
    carried: dict[tuple[int, int, int], list[int]] = {}
    for topic, a, b in _edges(packing.trees):
        carried.setdefault((int(packing.class_of[topic]), a, b), []).append(topic)
    return [PlannedLink(a, b, tuple(carried[c, a, b]), c) for c, a, b in sorted(carried)]


def _edges(trees: TopicTrees) -> Iterator[tuple[int, int, int]]:
    """Yield (topic, child, parent)."""
    topics = np.repeat(np.arange(trees.n_topics), np.diff(trees.starts)).tolist()
    return zip(topics, trees.child.tolist(), trees.parent.tolist(), strict=True)


def start_order(n_nodes: int, links: Sequence[PlannedLink]) -> list[int]:
    """Return all nodes in an order in which moving a single node does not lead to fewer early links.

    >>> start_order(3, [PlannedLink(0, 2, (0,)), PlannedLink(2, 1, (0,))])
    [1, 2, 0]
    """
    weight: Counter[tuple[int, int]] = Counter()  # of a dialer that starts before its acceptor
    for link in links:  # one link with backups weighs more than all without
        weight[link.dialer, link.acceptor] += len(links) + 1 if link.backups else 1
    around: list[list[Neighbor]] = [[] for _ in range(n_nodes)]
    for (dialer, acceptor), cost in weight.items():
        around[dialer].append((acceptor, cost, 0))
        around[acceptor].append((dialer, 0, cost))
    order = _greedy_order(around)
    place = {node: at for at, node in enumerate(order)}
    for _ in range(ROUNDS):
        moved = sum(_move(order, place, node, around[node]) for node in range(n_nodes))
        if not moved:
            break
    return order


def _greedy_order(around: Sequence[Sequence[Neighbor]]) -> list[int]:
    """Take next the node that waits for least, then the one most waited for, then the smallest."""
    left = set(range(len(around)))
    waits = [sum(before for _, before, _ in own) for own in around]  # for those that are left
    wanted = [sum(behind for *_, behind in own) for own in around]  # by those
    queue = [(waits[node], -wanted[node], node) for node in left]
    heapify(queue)
    order: list[int] = []
    while queue:
        *known, node = heappop(queue)
        if node not in left or known != [waits[node], -wanted[node]]:
            continue  # there is a later entry for it
        left.remove(node)
        order.append(node)
        for other, before, behind in around[node]:
            waits[other] -= behind
            wanted[other] -= before
            if other in left:
                heappush(queue, (waits[other], -wanted[other], other))
    return order


def _move(order: list[int], place: dict[int, int], node: int, around: Sequence[Neighbor]) -> bool:
    """Move the node to where it costs least, keeping the order of the others; False if it is there."""
    here = place[node]
    now = sum(before if place[other] > here else behind for other, before, behind in around)
    cost, best = min(_costs(place, around)) if now else (0, here)
    if cost >= now:
        return False
    there = best - (here < best)
    order.insert(there, order.pop(here))
    place.update((order[at], at) for at in range(min(here, there), max(here, there) + 1))
    return True


def _costs(place: dict[int, int], around: Sequence[Neighbor]) -> Iterator[tuple[int, int]]:
    """Yield (cost, place) in front of all neighbors and right behind each of them."""
    cost = sum(before for _, before, _ in around)
    yield cost, 0
    steps: Counter[int] = Counter()
    for other, before, behind in around:
        steps[place[other]] += behind - before
    for at in sorted(steps):
        cost += steps[at]
        yield cost, at + 1

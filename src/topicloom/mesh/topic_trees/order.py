"""The order to start brokers in: those that accept before those that dial them, as far as circles allow.

A link that finds nobody waits, or turns to a backup, and not every broker returns from there by itself. So
of the links that are dialled too early those with backups should be few; then the others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

from topicloom.mesh.model.topic_trees import PlannedLink

ROUNDS = 20  # over all nodes, at most; in practice a handful


def start_order(n_nodes: int, links: Sequence[PlannedLink]) -> list[int]:
    """All nodes. Where all dial in circles, moving a single node does not lead to fewer early links.

    >>> start_order(3, [Link(0, 2, (0,)), Link(2, 1, (0,))])
    [1, 2, 0]
    """
    weight = _weights(links)
    order = _greedy_order(n_nodes, weight)
    around: dict[int, list[tuple[int, int, int]]] = defaultdict(list)  # (other, cost if before, if behind)
    for (dialer, acceptor), cost in weight.items():
        around[dialer].append((acceptor, cost, 0))
        around[acceptor].append((dialer, 0, cost))
    place = {node: at for at, node in enumerate(order)}
    for _ in range(ROUNDS):
        moved = sum(_move(order, place, node, around[node]) for node in sorted(around))
        if not moved:
            break
    return order


def _weights(links: Sequence[PlannedLink]) -> Counter[tuple[int, int]]:
    """What it costs that a dialer comes before its acceptor: one with backups more than all without."""
    weight: Counter[tuple[int, int]] = Counter()
    for link in links:
        weight[link.dialer, link.acceptor] += len(links) + 1 if link.backups else 1
    return weight


def _greedy_order(n_nodes: int, weight: Counter[tuple[int, int]]) -> list[int]:
    """Next is who waits for least, of several who is waited for most, then the smallest."""
    waits, wanted = [0] * n_nodes, [0] * n_nodes  # for those that are not started, by those
    around: list[list[tuple[int, int, int]]] = [[] for _ in range(n_nodes)]  # (other, it waits, it is wanted)
    for (dialer, acceptor), cost in weight.items():
        waits[dialer] += cost
        wanted[acceptor] += cost
        around[acceptor].append((dialer, cost, 0))
        around[dialer].append((acceptor, 0, cost))
    queue = [(waits[node], -wanted[node], node) for node in range(n_nodes)]
    heapify(queue)
    left = set(range(n_nodes))
    order: list[int] = []
    while queue:
        *known, node = heappop(queue)
        if node not in left or known != [waits[node], -wanted[node]]:
            continue  # there is a later entry for it
        left.remove(node)
        order.append(node)
        for other, waited, wants in around[node]:
            waits[other] -= waited
            wanted[other] -= wants
            if other in left:
                heappush(queue, (waits[other], -wanted[other], other))
    return order


def _move(order: list[int], place: dict[int, int], node: int, around: Sequence[tuple[int, int, int]]) -> bool:
    """Put the node where it costs least, the order of the others kept; False if that is where it is."""
    here = place[node]
    now = sum(before if place[other] > here else behind for other, before, behind in around)
    cost, best = min(_costs(place, around)) if now else (0, here)
    if cost >= now:
        return False
    there = best - (here < best)
    order.insert(there, order.pop(here))
    place.update((order[at], at) for at in range(min(here, there), max(here, there) + 1))
    return True


def _costs(place: dict[int, int], around: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, int]]:
    """(cost, place) in front of all neighbors, and right behind each of them."""
    cost = sum(before for _, before, _ in around)
    yield cost, 0
    steps: Counter[int] = Counter()
    for other, before, behind in around:
        steps[place[other]] += behind - before
    for at in sorted(steps):
        cost += steps[at]
        yield cost, at + 1

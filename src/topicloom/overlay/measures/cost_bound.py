"""A lower bound on what any topic-connected overlay costs, under forbidden pairs: shares of prices.

A node needs a neighbor in each of its topics that has others. Give topic t of node v the share y(t), the
least of cost(v, u) / k(v, u) over all u with t that v may be linked to, where k(v, u) is the number of topics
that both want. An edge to u then pays for its topics: they are k(v, u), and none has more than its part of
the cost. So the neighbors of v cost at least the sum of its shares, and every edge is counted at two nodes:
half the sum over all nodes bounds the cost of all edges.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs, pointers
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.overlay.model.constraints import Constraints
from topicloom.overlay.model.interest import Interest

ROUNDING = 1e-9  # taken off in the end: far more than all rounding errors together
MOST_WORK = 1e9  # list entries that are read; further nodes count nothing


def bound_cost(interest: Interest, constraints: Constraints, *, progress: Progress = SILENT) -> float:
    """Return a cost below which no topic-connected overlay can be.

    >>> interest = Interest.from_pairs([(node, "x") for node in "ab"])
    >>> round(bound_cost(interest, Constraints.of(interest, costs={("a", "b"): 7.0})), 6)
    7.0
    """
    total, work = 0.0, 0.0
    sizes, prices = interest.topic_sizes(), _prices(constraints, interest.n_nodes)
    for node in range(interest.n_nodes):
        work += float(sizes[interest.topics_of(node)].sum())
        if work > MOST_WORK:
            break
        if node % 256 == 0:
            check_stop(progress)
        total += float(topic_shares(interest, prices, node).sum())
    return total / 2 * (1 - ROUNDING)


def topic_shares(interest: Interest, prices: tuple[Longs, Ints, Floats], node: int) -> Floats:
    """Return the share of each topic of a node; 0 where nobody else wants it, or all pairs are forbidden."""
    topics = interest.topics_of(node).tolist()
    counts = np.zeros(interest.n_nodes)
    for topic in topics:
        counts[interest.nodes_of(topic)] += 1
    cost = np.ones(interest.n_nodes)
    known = slice(int(prices[0][node]), int(prices[0][node + 1]))
    cost[prices[1][known]] = prices[2][known]
    cost[node] = np.inf
    each = cost / np.maximum(counts, 1)
    shares = np.array([each[interest.nodes_of(topic)].min() for topic in topics])
    return np.where(np.isfinite(shares), shares, 0.0)


def _prices(constraints: Constraints, n_nodes: int) -> tuple[Longs, Ints, Floats]:
    """Return the pairs of each node that do not cost 1; what is forbidden is infinitely dear."""
    pairs = (constraints.priced, constraints.forbidden)  # of two prices the later one holds
    u = np.concatenate([end for pair in pairs for end in (pair.u, pair.v)])
    v = np.concatenate([end for pair in pairs for end in (pair.v, pair.u)])
    price = np.concatenate((constraints.costs, constraints.costs, np.full(2 * len(pairs[1]), np.inf)))
    order = np.argsort(u, kind="stable")
    return pointers(u, n_nodes), v[order], price[order]


def check_shares(
    interest: Interest, constraints: Constraints, node: int, shares: dict[int, Fraction]
) -> bool:
    """Prove in exact arithmetic that no allowed edge of a node pays for less than its topics' shares."""
    ends = zip(constraints.priced.u.tolist(), constraints.priced.v.tolist(), strict=True)
    costs = dict(zip(ends, constraints.costs.tolist(), strict=True))
    barred = set(zip(constraints.forbidden.u.tolist(), constraints.forbidden.v.tolist(), strict=True))
    mine = set(interest.topics_of(node).tolist())
    for other in range(interest.n_nodes):
        pair = (min(node, other), max(node, other))
        if other == node or pair in barred:
            continue
        paid = sum(shares[topic] for topic in mine & set(interest.topics_of(other).tolist()))
        if paid > Fraction(costs.get(pair, 1.0)):
            return False
    return True

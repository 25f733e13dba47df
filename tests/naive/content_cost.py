"""The cost of an assignment straight from its definition: one tree per publishing user and channel."""

from __future__ import annotations

from itertools import combinations

import networkx as nx

from topicloom.content.model.problem import ContentProblem


def wants(problem: ContentProblem) -> list[set[int]]:
    """The channels of each user."""
    found: list[set[int]] = []
    for user in range(problem.n_users):
        mine: set[int] = set()
        for k in range(problem.want_ptr[user], problem.want_ptr[user + 1]):
            mine |= set(range(problem.want_first[k], problem.want_last[k] + 1))
        found.append(mine)
    return found


def rates(problem: ContentProblem) -> list[dict[int, float]]:
    """What each user publishes on each channel."""
    return [
        {
            int(problem.rate_channels[k]): float(problem.rates[k])
            for k in range(problem.rate_ptr[user], problem.rate_ptr[user + 1])
        }
        for user in range(problem.n_users)
    ]


def spanning(problem: ContentProblem, brokers: set[int]) -> float:
    """The weight of the minimum spanning tree of some brokers."""
    graph = nx.Graph()
    graph.add_nodes_from(brokers)
    graph.add_weighted_edges_from((a, b, problem.core[a, b]) for a, b in combinations(sorted(brokers), 2))
    return float(nx.minimum_spanning_tree(graph).size(weight="weight"))


def steiner(problem: ContentProblem, ends: set[int]) -> float:
    others = sorted(set(range(problem.n_brokers)) - ends)
    return min(
        spanning(problem, ends | set(extra))
        for size in range(len(others) + 1)
        for extra in combinations(others, size)
    )


def tree_weight(problem: ContentProblem, model: str, publisher: int, members: set[int]) -> float:
    """What one message costs from the publisher's broker to all brokers with a subscriber."""
    if not members:
        return 0.0
    if model == "unicast":
        return float(sum(problem.core[publisher, broker] for broker in members))
    if model == "steiner":
        return steiner(problem, members | {publisher})
    if model == "free":
        return spanning(problem, members | {publisher})
    raise ValueError(model)


def cost(problem: ContentProblem, assignment: list[int], model: str) -> tuple[float, float]:
    """(access cost, core cost): user by user, message by message."""
    wanted, published = wants(problem), rates(problem)
    access = core = 0.0
    for user in range(problem.n_users):
        for channel, rate in published[user].items():
            access += rate * problem.access[user, assignment[user]]
            receivers = [v for v in range(problem.n_users) if v != user and channel in wanted[v]]
            access += sum(rate * problem.access[v, assignment[v]] for v in receivers)
            members = {assignment[v] for v in range(problem.n_users) if channel in wanted[v]}
            core += rate * tree_weight(problem, model, assignment[user], members)
    return access, core

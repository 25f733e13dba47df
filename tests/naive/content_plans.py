"""The planners of [Zhao2011] word by word, with plain lists and loops, and the cheapest plan by trying all.

Readings are those of the planners' docstrings: loads count, traffic counts both directions, trees grow from
their brokers. Ties go to the smallest number unless said otherwise.
"""

from __future__ import annotations

from itertools import combinations, product
from math import inf

from topicloom.content.model.problem import ContentProblem


class Tables:
    """A problem as nested lists: g[i][c] rates, s[i][c] wants, prices, and loads that grow."""

    def __init__(self, problem: ContentProblem) -> None:
        self.users, self.brokers = range(problem.n_users), range(problem.n_brokers)
        self.channels = range(problem.n_channels)
        self.g = [[0.0] * problem.n_channels for _ in self.users]
        self.s = [[0] * problem.n_channels for _ in self.users]
        for i in self.users:
            for k in range(problem.rate_ptr[i], problem.rate_ptr[i + 1]):
                self.g[i][problem.rate_channels[k]] = float(problem.rates[k])
            for k in range(problem.want_ptr[i], problem.want_ptr[i + 1]):
                for c in range(problem.want_first[k], problem.want_last[k] + 1):
                    self.s[i][c] = 1
        self.price, self.core = problem.access.tolist(), problem.core.tolist()
        self.demand = problem.demand.tolist()
        self.most = [capacity * (1 + 1e-9) for capacity in problem.capacity.tolist()]
        self.load = [0.0 for _ in self.brokers]
        self.home: dict[int, int] = {}
        self.unplaced = 0

    def with_room(self, i: int) -> list[int]:
        return [b for b in self.brokers if self.load[b] + self.demand[i] <= self.most[b]]

    def put(self, i: int, b: int) -> None:
        self.home[i] = b
        self.load[b] += self.demand[i]

    def put_cheapest(self, i: int) -> None:
        """The cheapest broker with room; where none has any, the one with the most free room."""
        room = self.with_room(i)
        if room:
            self.put(i, min(room, key=lambda b: (self.price[i][b], b)))
        else:
            self.unplaced += 1
            self.put(i, min(self.brokers, key=lambda b: (self.load[b] - self.most[b], b)))

    def assignment(self) -> list[int]:
        return [self.home[i] for i in self.users]


def naive_random(problem: ContentProblem, draws: list[float]) -> list[int]:
    """Any broker with room: the draw, a number below 1, picks one of the list."""
    tables = Tables(problem)
    for i in tables.users:
        room = tables.with_room(i)
        if room:
            tables.put(i, room[int(draws[i] * len(room))])
        else:
            tables.put_cheapest(i)
    return tables.assignment()


def naive_packing(problem: ContentProblem) -> tuple[list[int], int]:
    """Algorithm 1; the assignment and how many users found no room."""
    tables = Tables(problem)
    for i in tables.users:
        tables.put_cheapest(i)
    return tables.assignment(), tables.unplaced


# --- clustering ------------------------------------------------------------------------------------------


def beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """(traffic, price): the larger ratio, with 0 / 0 taken for 0; the lower price if both are equal."""
    left, right = one[0] * other[1], other[0] * one[1]
    if left != right:
        return left > right
    if (one[0] > 0) != (other[0] > 0):
        return one[0] > 0
    return one[1] < other[1]


def naive_clustering(problem: ContentProblem) -> list[int]:
    """Algorithm 2: all pairs for each broker, then all brokers for each user."""
    tables = Tables(problem)

    def traffic(i: int, j: int) -> float:
        g, s = tables.g, tables.s
        return sum(g[i][c] * s[j][c] + g[j][c] * s[i][c] for c in tables.channels)

    for b in tables.brokers:
        best, worth = None, (0.0, 0.0)
        for i, j in combinations([i for i in tables.users if i not in tables.home], 2):
            if tables.demand[i] + tables.demand[j] > tables.most[b]:
                continue
            ratio = traffic(i, j), tables.price[i][b] + tables.price[j][b]
            if best is None or beats(ratio, worth):
                best, worth = (i, j), ratio
        for i in best or ():
            tables.put(i, b)
    for i in [i for i in tables.users if i not in tables.home]:
        chosen, worth = None, (0.0, 0.0)
        for b in tables.with_room(i):
            ratio = sum(traffic(i, j) for j in tables.home if tables.home[j] == b), tables.price[i][b]
            if chosen is None or beats(ratio, worth):
                chosen, worth = b, ratio
        if chosen is None:
            tables.put_cheapest(i)
        else:
            tables.put(i, chosen)
    return tables.assignment()


# --- Steiner-tree mixing ---------------------------------------------------------------------------------


def naive_tree(tables: Tables, start: int, members: list[int]) -> dict[int, int]:
    """Algorithm 3 from the broker `start`: which broker each member connects to, one member at a time."""
    tree, homes = {start}, {}
    while len(homes) < len(members):
        _, user, broker = min(
            (min(tables.core[r][b] for r in tree) + tables.price[v][b], v, b)
            for v in members
            if v not in homes
            for b in tables.brokers
        )
        homes[user] = broker
        tree.add(broker)
    return homes


def naive_mixing(problem: ContentProblem, draws: list[float] | None) -> list[int]:
    """A tree per channel and publisher; then a broker by weight for each user, without draws the largest."""
    tables = Tables(problem)
    weight = [[0.0 for _ in tables.brokers] for _ in tables.users]
    for c, u in product(tables.channels, tables.users):
        if tables.g[u][c] == 0:
            continue
        members = [v for v in tables.users if tables.s[v][c]]

        def way(b: int, u: int = u, members: list[int] = members) -> float:
            near = min(
                tables.core[b][last] + tables.price[v][last]
                for v in members
                if v != u
                for last in tables.brokers
            )
            return tables.price[u][b] + near

        start = min(tables.brokers, key=lambda b: (way(b), b))
        weight[u][start] += tables.g[u][c]
        for v, b in naive_tree(tables, start, members).items():
            if v != u:
                weight[v][b] += tables.g[u][c]
    for i in tables.users:
        room = [b for b in tables.with_room(i) if weight[i][b] > 0]
        if not room:
            tables.put_cheapest(i)
        elif draws is None:
            tables.put(i, min(room, key=lambda b: (-weight[i][b], b)))
        else:
            left = draws[i] * sum(weight[i][b] for b in room)
            for b in room:
                left -= weight[i][b]
                if left < 0:
                    break
            tables.put(i, b)
    return tables.assignment()


# --- the cheapest plan -----------------------------------------------------------------------------------


def spanning_edges(core: list[list[float]], brokers: list[int]) -> list[tuple[float, int, int]]:
    """Kruskal's edges of the brokers."""
    part, edges = {b: {b} for b in brokers}, []
    for price, a, b in sorted((core[a][b], a, b) for a, b in combinations(brokers, 2)):
        if part[a] is not part[b]:
            edges.append((price, a, b))
            part[a] |= part[b]
            for other in part[b]:
                part[other] = part[a]
    return edges


def tree_weight(core: list[list[float]], model: str, publisher: int, members: set[int]) -> float:
    """The weight of the tree that carries a message from one broker to the brokers `members`."""
    ends = members | {publisher}
    if model == "unicast":
        return sum(core[publisher][b] for b in members)
    if model == "shared":
        edges = spanning_edges(core, list(range(len(core))))
        while loose := [e for e in edges if any(_is_leaf(end, edges) and end not in ends for end in e[1:])]:
            edges.remove(loose[0])
        return sum(price for price, _, _ in edges) if len(ends) > 1 else 0.0
    others = [b for b in range(len(core)) if b not in ends] if model == "steiner" else []
    supersets = (ends | set(more) for size in range(len(others) + 1) for more in combinations(others, size))
    return min(sum(price for price, _, _ in spanning_edges(core, sorted(own))) for own in supersets)


def _is_leaf(broker: int, edges: list[tuple[float, int, int]]) -> bool:
    return sum(broker in edge[1:] for edge in edges) == 1


def naive_cost(tables: Tables, model: str, assignment: tuple[int, ...]) -> float:
    cost = sum(tables.demand[i] * tables.price[i][assignment[i]] for i in tables.users)
    for c in tables.channels:
        members = {assignment[i] for i in tables.users if tables.s[i][c]}
        for i in tables.users:
            if tables.g[i][c]:
                cost += tables.g[i][c] * tree_weight(tables.core, model, assignment[i], members)
    return cost


def cheapest(problem: ContentProblem, model: str) -> float:
    """The least cost of all assignments within the capacities; inf if there is none."""
    tables, best = Tables(problem), inf
    for assignment in product(tables.brokers, repeat=problem.n_users):
        loads = [sum(tables.demand[i] for i in tables.users if assignment[i] == b) for b in tables.brokers]
        if all(load <= most for load, most in zip(loads, tables.most, strict=True)):
            best = min(best, naive_cost(tables, model, assignment))
    return best

"""GM and GM-M under constraints, as the rules read: slow, obvious, plain Python; and what is possible at all.

Fixed edges come first. Then, of all pairs that are not forbidden and whose ends are below their caps (and,
in GM-M's phase D, below D), the one of maximum contribution; ties by cost, then as in `State.tie_key`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

from naive.greedy import Pair, State, Step
from topicloom.overlay.model.interest import Interest


def naive_constrained(
    interest: Interest,
    *,
    phases: bool,
    caps: Mapping[int, int] | None = None,
    forbidden: Iterable[Pair] = (),
    fixed: Iterable[Pair] = (),
    costs: Mapping[Pair, float] | None = None,
    weigh: bool = False,
) -> list[Step]:
    """The edges chosen besides the fixed ones, in order, until nothing that may be added joins anything."""
    state, barred, chosen = State(interest), set(forbidden), []
    for u, v in sorted(fixed):
        state.add(u, v)

    def candidates(below: int | None) -> list[Step]:
        return [
            (u, v, contribution)
            for u, v, contribution in state.candidates(below)
            if (u, v) not in barred and all(state.degree[x] < (caps or {}).get(x, 10**6) for x in (u, v))
        ]

    def key(step: Step) -> tuple[float, ...]:
        u, v, contribution = step
        cost = (costs or {}).get((u, v), 1.0)
        value = (-(contribution / cost),) if weigh else (-contribution, cost)
        return (*value, *state.tie_key((u, v)))

    phase = 1
    while candidates(None):
        while steps := candidates(phase if phases else None):
            best = min(steps, key=key)
            state.add(*best[:2])
            chosen.append(best)
        phase += 1
    return chosen


def possible(
    interest: Interest, caps: Mapping[int, int], forbidden: Iterable[Pair] = (), fixed: Iterable[Pair] = ()
) -> bool:
    """Is there any overlay under the constraints in which every topic is connected? Tries all, with sense.

    Some component of a split topic must get an edge that leaves it: branch over those edges, and once an
    edge was tried, do without it.
    """
    topics = [frozenset(interest.nodes_of(topic).tolist()) for topic in range(interest.n_topics)]
    barred, given = set(forbidden), list(fixed)
    shared = [p for p in combinations(range(interest.n_nodes), 2) if any(set(p) <= t for t in topics)]

    def leaving(edges: list[Pair], without: frozenset[Pair]) -> list[Pair] | None:
        """The fewest edges of which one is needed; None when every topic is connected."""
        degree = {v: sum(v in edge for edge in edges) for v in range(interest.n_nodes)}
        free = [p for p in shared if p not in without and all(degree[v] < caps.get(v, 10**6) for v in p)]
        fewest = None
        for nodes in topics:
            for part in _parts(nodes, edges):
                if part != nodes:
                    way = [p for p in free if set(p) <= nodes and len(part & set(p)) == 1]
                    fewest = way if fewest is None or len(way) < len(fewest) else fewest
        return fewest

    def search(edges: list[Pair], without: frozenset[Pair]) -> bool:
        ways = leaving(edges, without)
        if ways is None:
            return True
        for edge in ways:
            if search([*edges, edge], without):
                return True
            without |= {edge}
        return False

    return search(given, frozenset(barred))


def _parts(nodes: frozenset[int], edges: list[Pair]) -> list[frozenset[int]]:
    parts = [{node} for node in nodes]
    for edge in edges:
        if set(edge) <= nodes:
            touched = [part for part in parts if part & set(edge)]
            parts = [part for part in parts if not part & set(edge)] + [set().union(*touched)]
    return [frozenset(part) for part in parts]

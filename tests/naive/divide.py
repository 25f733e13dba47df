"""DCB-M and DCBR-M as plain Python: [Chen2010, Algorithms 8 to 13] with the corrections of docs/papers.md.

The judge of the divide and conquer builders on small instances, edge for edge. It shares the greedy state of
naive/greedy.py and nothing with the package but `model`.
"""

from __future__ import annotations

from naive.greedy import Pair, State
from naive.twins import naive_planted
from naive.xxh64 import naive_xxh64
from topicloom.overlay.model.interest import Interest

SPARK_SEED = 42


def naive_eta(interest: Interest) -> int:
    """Section V: the smallest threshold that leaves at most 20% of the nodes bulk."""
    sizes = [len(interest.topics_of(v)) for v in range(interest.n_nodes)]
    eta = 0
    while 5 * sum(size > eta for size in sizes) > len(sizes):
        eta += 1
    return eta


def naive_split(interest: Interest, eta: int) -> tuple[list[int], list[int]]:
    """Section IV-B: bulk nodes want more than eta topics, light nodes at most eta."""
    nodes = range(interest.n_nodes)
    bulk = [v for v in nodes if len(interest.topics_of(v)) > eta]
    return bulk, [v for v in nodes if v not in bulk]


def naive_groups(interest: Interest, light: list[int], p: int, seed: int) -> list[list[int]]:
    """Nodes sorted by the hash of (identifier, seed), ties by identifier, cut into p equal blocks."""

    def key(node: int) -> tuple[int, bytes]:
        name = interest.node_ids[node].as_py().encode()
        value = naive_xxh64((seed % 2**64).to_bytes(8, "little"), naive_xxh64(name, SPARK_SEED))
        return (value - 2**64 if value >= 2**63 else value), name  # Spark's numbers have a sign

    ordered = sorted(light, key=key)
    p = min(p, len(light))
    cuts = [-(-len(light) * d // p) for d in range(p)] + [len(light)]
    return [sorted(ordered[cuts[d] : cuts[d + 1]]) for d in range(p)]


def naive_rep_set(interest: Interest, group: list[int], wanted: set[int], coverage: int) -> list[int]:
    """Algorithm 13 with min(lambda, subscribers in the group) for lambda; ties to the smallest node."""
    topics = {v: set(interest.topics_of(v).tolist()) for v in group}
    missing = {t: min(coverage, sum(t in topics[v] for v in group)) for t in wanted}
    chosen: list[int] = []
    while any(missing.values()):
        open_topics = {t for t, count in missing.items() if count > 0}
        best = max((v for v in group if v not in chosen), key=lambda v: (len(topics[v] & open_topics), -v))
        chosen.append(best)
        for t in topics[best] & open_topics:
            missing[t] -= 1
    return sorted(chosen)


class Joined(State):
    """The greedy state over some of the nodes, those of one group being joined on the topics they share."""

    def __init__(self, interest: Interest, nodes: list[int], groups: list[list[int]]) -> None:
        super().__init__(interest)
        self.nodes = sorted(nodes)
        for group in groups:
            for t in range(interest.n_topics):
                members = {v for v in group if t in self.topics[v]}
                for v in members:
                    self.NODES[v][t] = members


def build_mm_edges(state: State, inner: str = "gm-m") -> list[Pair]:
    """Algorithm 2: pairs that do not raise the maximum degree first, best first; GM: no limit."""
    edges: list[Pair] = []
    limit = max(state.degree, default=0) if inner == "gm-m" else 10**9
    while state.candidates():
        while (step := state.best(below=limit)) is not None:
            state.add(*step[:2])
            edges.append(step[:2])
        limit += 1
    return edges


def naive_divide(
    interest: Interest,
    *,
    eta: int | str = "auto",
    p: int | str = 1,
    coverage: int | None = None,
    seed: int = 0,
    kernel_nodes: int = 10**9,
    inner: str = "gm-m",
) -> set[Pair]:
    """DCBR-M with coverage factor lambda, DCB-M with None: all edges.

    Bulk nodes and representatives that do not fit `kernel_nodes` are divided again: the representatives of a
    group stay together, bulk nodes are cut into blocks of the hashed order.
    """
    bulk, light = naive_split(interest, naive_eta(interest) if eta == "auto" else int(eta))
    everyone = list(range(interest.n_nodes))

    def represented(groups: list[list[int]], members: list[int]) -> list[list[int]]:
        return [naive_group_reps(interest, group, members, coverage) for group in groups]

    if p == "auto":
        count = -(-len(light) // kernel_nodes)
        while coverage is not None and count > 1:
            groups = naive_groups(interest, light, count, seed)
            chosen = sum(map(len, represented(groups, everyone)))
            if len(bulk) + chosen <= kernel_nodes or 2 * chosen <= len(light):
                break
            count = (count + 1) // 2
        p = count
    groups = naive_groups(interest, light, int(p), seed)
    edges: set[Pair] = set()
    for group in groups:
        steps = [(*pair, 0) for pair in build_mm_edges(Joined(interest, group, []), inner)]
        edges |= {step[:2] for step in naive_planted(interest, steps, group)}
    clumps, singles = represented(groups, everyone), bulk
    while coverage is not None and sum(map(len, clumps)) + len(singles) > kernel_nodes:
        members = [*(v for clump in clumps for v in clump), *singles]
        count = naive_count(clumps, singles, kernel_nodes)
        while count > 1:
            groups = naive_level(interest, clumps, singles, count, seed)
            reps = represented(groups, members)
            if 2 * sum(map(len, reps)) <= len(members):
                break
            count = (count + 1) // 2
        if count == 1:
            break
        edges |= joined_edges(interest, groups, clumps, edges, inner)
        clumps, singles = reps, []
    rest = [*(v for clump in clumps for v in clump), *singles]
    return edges | joined_edges(interest, [rest], clumps, edges, inner)


def naive_group_reps(
    interest: Interest, group: list[int], members: list[int], coverage: int | None
) -> list[int]:
    """Representatives for the topics of a group that a member outside of it wants; with None everybody."""
    if coverage is None:
        return group
    own = {t for v in group for t in interest.topics_of(v).tolist()}
    outside = {t for v in members if v not in group for t in interest.topics_of(v).tolist()}
    return naive_rep_set(interest, group, own & outside, coverage)


def naive_level(
    interest: Interest, clumps: list[list[int]], singles: list[int], count: int, seed: int
) -> list[list[int]]:
    """Clump number c to group c * count // clumps, single nodes in equal blocks of the hashed order."""
    groups: list[list[int]] = [[] for _ in range(count)]
    for number, clump in enumerate(clumps):
        groups[number * count // len(clumps)] += clump
    one_by_one = [v for block in naive_groups(interest, singles, len(singles), seed) for v in block]
    for place, node in enumerate(one_by_one):
        groups[place * count // len(one_by_one)].append(node)
    return groups


def naive_count(clumps: list[list[int]], singles: list[int], kernel_nodes: int) -> int:
    """The fewest groups that keep to the limit, looked for up to twice the least or one for each clump."""
    total = sum(map(len, clumps)) + len(singles)
    least = -(-total // kernel_nodes)
    tries = list(range(least, max(len(clumps), 2 * least) + 1))
    if (room := kernel_nodes - max(map(len, clumps), default=0)) > 0:
        tries.append(max(tries[-1], -(-len(singles) // room)))
    for count in tries:
        sizes = [0] * count
        for number, clump in enumerate(clumps):
            sizes[number * count // len(clumps)] += len(clump)
        for place in range(len(singles)):
            sizes[place * count // len(singles)] += 1
        if max(sizes) <= kernel_nodes:
            return count
    return least


def joined_edges(
    interest: Interest, groups: list[list[int]], clumps: list[list[int]], edges: set[Pair], inner: str
) -> set[Pair]:
    """The edges that `inner` adds in each group, clumps being joined and degrees counting all `edges`."""
    found: set[Pair] = set()
    for group in groups:
        state = Joined(interest, group, [[v for v in clump if v in group] for clump in clumps])
        for u, v in edges:
            state.degree[u] += 1
            state.degree[v] += 1
        found |= set(build_mm_edges(state, inner))
    return found

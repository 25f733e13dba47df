"""GM, GM-M and Ring-Per-Topic as the papers' pseudo-code reads: slow, obvious, plain Python.

The judge of the fast kernels on small instances, edge for edge: the tie rule stands here in one line
(`tie_key`). No arrays, no cleverness, nothing shared with the package but `model`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from topicloom.overlay.model.interest import Interest

Pair = tuple[int, int]
Step = tuple[int, int, int]


class NotGreedy(AssertionError):  # noqa: N818 - it is a verdict
    """A sequence of edges that the greedy rule could not have chosen; says at which step."""


class State:
    """Components, degrees and pairs taken: [Chockler2007a, Algorithm 1], [Chen2010, Algorithm 3]."""

    def __init__(self, interest: Interest) -> None:
        self.nodes = range(interest.n_nodes)
        self.topics = [frozenset(interest.topics_of(v).tolist()) for v in self.nodes]
        self.degree = [0 for _ in self.nodes]
        self.taken: set[Pair] = set()
        self.start_components()

    def start_components(self) -> None:
        """[Chockler2007a, Algorithm 2], lines 1-3: every node is alone in each of its topics."""
        self.NODES = {v: {t: {v} for t in self.topics[v]} for v in self.nodes}

    def joins(self, v: int, w: int) -> list[int]:
        """T_(v,w) of [Chockler2007a, 6.1]: topics of both for which they are in different components."""
        return [t for t in self.topics[v] & self.topics[w] if self.NODES[v][t] is not self.NODES[w][t]]

    def contribution(self, v: int, w: int) -> int:
        return len(self.joins(v, w))

    def add(self, v: int, w: int) -> None:
        """[Chockler2007a, Algorithm 3, lines 6-14], for topics in which v and w are not joined yet."""
        for t in self.joins(v, w):
            merged = self.NODES[v][t] | self.NODES[w][t]
            for u in merged:
                self.NODES[u][t] = merged
        self.degree[v] += 1
        self.degree[w] += 1
        self.taken.add((v, w))

    def tie_key(self, pair: Pair) -> tuple[bool, int, int, int]:
        """Smallest first: identical topic sets, then the lowest larger degree, then the smallest u and v."""
        u, v = pair
        return (self.topics[u] != self.topics[v], max(self.degree[u], self.degree[v]), u, v)

    def candidates(self, below: int | None = None) -> list[Step]:
        """Every free pair of positive contribution; with `below`, only those with both degrees under it."""
        free = (pair for pair in combinations(self.nodes, 2) if pair not in self.taken)
        if below is not None:
            free = (p for p in free if self.degree[p[0]] < below and self.degree[p[1]] < below)
        steps = [(u, v, self.contribution(u, v)) for u, v in free]
        return [step for step in steps if step[2] > 0]

    def best(self, below: int | None = None) -> Step | None:
        """The pair of maximum contribution that the tie rule puts first; None when none is positive."""
        steps = self.candidates(below)
        return min(steps, key=lambda step: (-step[2], *self.tie_key(step[:2])), default=None)


def naive_gm(interest: Interest, redundancy: int = 1) -> list[Step]:
    """GM [Chockler2007a, 6.1]; `redundancy` runs, each on the pairs not yet used [Chockler2007a, 6.4].

    A later run starts with every node alone again; degrees go on counting for the tie rule.
    """
    state, chosen = State(interest), []
    for _ in range(redundancy):
        state.start_components()
        while (step := state.best()) is not None:
            state.add(*step[:2])
            chosen.append(step)
    return chosen


def naive_gm_m(interest: Interest) -> list[Step]:
    """GM-M [Chen2010, Algorithms 1-6]: phase D = 1, 2, ... takes pairs with both degrees under D."""
    state, chosen, phase = State(interest), [], 1
    while state.candidates():
        while (step := state.best(below=phase)) is not None:
            state.add(*step[:2])
            chosen.append(step)
        phase += 1
    return chosen


def naive_ring_pt(interest: Interest, order: str = "id", seed: int = 0) -> set[Pair]:
    """Ring-Per-Topic [Chockler2007a, 8]: a ring through the subscribers of each topic; edges are a set.

    `order="id"` goes by ascending node number, `order="random"` by a hash of seed, topic and node.
    """
    edges: set[Pair] = set()
    for topic in range(interest.n_topics):
        ring = interest.nodes_of(topic).tolist()
        if order == "random":
            ring.sort(key=lambda node: split_mix(split_mix(topic << 32 | node) ^ split_mix(seed)))
        for here, there in zip(ring, ring[1:] + ring[:1], strict=True):
            if here != there:
                edges.add((min(here, there), max(here, there)))
    return edges


def split_mix(number: int) -> int:
    """The finaliser of SplitMix64 (Steele, Lea, Flood 2014) in whole numbers."""
    number = (number + 0x9E3779B97F4A7C15) % 2**64
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ number >> 27) * 0x94D049BB133111EB % 2**64
    return number ^ number >> 31


def replay(
    interest: Interest,
    edges: Iterable[Sequence[int]],
    phases: bool = False,
    *,
    redundancy: int = 1,
    ties: bool = False,
) -> None:
    """Raise `NotGreedy` unless each edge, at its time, had the maximum contribution of all free pairs.

    `phases=True` asks it within the degree phases of GM-M. An edge may carry its contribution as a third
    number, which is then checked too; `ties=True` also asks for the tie rule. At the end no pair of
    positive contribution may be left.
    """
    state, run, phase = State(interest), 1, 1

    def next_choice() -> Step | None:
        """What the greedy takes now, after starting the next phase or run if it is time to."""
        nonlocal run, phase
        while (step := state.best(below=phase if phases else None)) is None:
            if state.candidates():
                phase += 1
            elif run < redundancy:
                run += 1
                state.start_components()
            else:
                return None
        return step

    place = 0
    for place, (u, v, *claimed) in enumerate(edges, start=1):
        step = next_choice()
        if step is None:
            raise NotGreedy(f"edge {place} ({u}, {v}): no pair contributes any more")
        _check_step(state, place, (u, v), claimed, step, phase if phases else None, ties)
        state.add(u, v)
    left = next_choice()
    if left is not None:
        raise NotGreedy(f"after {place} edges ({left[0]}, {left[1]}) still contributes {left[2]}")


def _check_step(
    state: State, place: int, pair: Pair, claimed: list[int], best: Step, phase: int | None, ties: bool
) -> None:
    u, v = pair
    if not u < v or pair in state.taken:
        raise NotGreedy(f"edge {place} ({u}, {v}) is taken already or not written with u < v")
    if phase is not None and max(state.degree[u], state.degree[v]) >= phase:
        raise NotGreedy(f"edge {place} ({u}, {v}) has an end of degree {phase} or more in phase {phase}")
    contribution = state.contribution(u, v)
    if claimed and claimed[0] != contribution:
        raise NotGreedy(f"edge {place} ({u}, {v}) contributes {contribution}, not {claimed[0]}")
    if contribution != best[2]:
        raise NotGreedy(
            f"edge {place} ({u}, {v}) contributes {contribution}, ({best[0]}, {best[1]}) gives {best[2]}"
        )
    if ties and pair != best[:2]:
        raise NotGreedy(f"edge {place} ({u}, {v}): the tie rule puts ({best[0]}, {best[1]}) first")

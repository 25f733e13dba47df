"""Lower bounds for any topic-connected overlay of an interest: on its edges and on its maximum degree.

There are four proofs, and the best one counts in each component of the interest: a component of n nodes
needs n - 1 edges; every node needs as many neighbors as it takes to cover its topics (`cover_bound.py`);
prices (`price_bound.py`); prices split over trees (`tree_bound.py`). Each is checked before it is used.

How hard is searched is decided by the size of the interest alone, never by the clock. Charging all pairs once
costs one unit of work per entry of sum over topics of subscribers squared; the search repeats that some
twenty times, so large interests get fewer rounds, and the largest are compared once, by bits, at one price
per node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from topicloom.base.arrays import Longs
from topicloom.base.kernels.parallel import default_threads
from topicloom.base.progress import SILENT, Progress
from topicloom.overlay.kernels.price_bound import UNIT, Duals
from topicloom.overlay.measures.components import find_components
from topicloom.overlay.measures.cover_bound import find_needs, overlaps
from topicloom.overlay.measures.price_bound import is_proof, pass_work, units_by_component
from topicloom.overlay.measures.price_search import PriceSearch, Round
from topicloom.overlay.measures.tree_bound import (
    MOST_CHARGES,
    count_charges,
    is_split,
    split_charges,
    tree_units_by_component,
    triangles_of,
)
from topicloom.overlay.model.interest import Interest

UNITS = round(1 / UNIT)
FEW_CHARGES = 100_000  # up to so many (pair, topic) charges every variant of the trees is tried


def _rounds(pace: float, rounds: str) -> tuple[Round, ...]:
    """Return rounds written as steps x sharpness."""
    pairs = (one.split("x") for one in rounds.split())
    return tuple(Round(int(steps), int(sharp), pace) for steps, sharp in pairs)


@dataclass(frozen=True, slots=True)
class Effort:
    """What is tried: rounds of the price search, whether trees follow, how much cover search."""

    name: str
    edge_rounds: tuple[Round, ...] = ()
    degree_rounds: tuple[Round, ...] = ()
    trees: bool = False
    cover_work: float = 0.0  # list entries read
    cover_sets: int = 0  # sets looked at per node
    overlaps: bool = False


FULL = Effort(
    "prices",
    _rounds(6.0, "4x20 6x20 10x20 15x25 20x40 25x60 30x100 30x150 40x250 40x400"),
    _rounds(4.0, "5x60 10x60 20x60 25x60 30x60 30x60 30x100 30x150 40x250"),
    cover_work=1e9,
    cover_sets=300_000,
)
SHORT = Effort(
    "prices, short search",
    _rounds(6.0, "4x20 6x20 10x25 15x50 20x100 20x200 20x400"),
    _rounds(4.0, "5x60 10x60 20x60 25x80 20x250"),
    cover_work=1.5e9,
    cover_sets=30_000,
)
BRIEF = Effort("prices, brief search", _rounds(6.0, "4x20 6x30 10x60"), cover_work=1e9, cover_sets=5_000)
OVERLAPS = Effort("overlaps", cover_work=1e9, cover_sets=5_000, overlaps=True)
COUNTS = Effort("components", cover_work=1e9, cover_sets=5_000)

FULL_WORK, SHORT_WORK, BRIEF_WORK = 3e8, 4e9, 1.2e10
WORD_WORK = 6e10  # pairs of nodes times words of topics that may be compared


def choose_effort(interest: Interest) -> Effort:
    """Choose the most thorough effort whose work is within its limit."""
    work = float(pass_work(interest).sum())
    if work <= FULL_WORK:
        if count_charges(interest) <= MOST_CHARGES:
            return replace(FULL, name="prices and trees", trees=True)
        return FULL
    if work <= SHORT_WORK:
        return SHORT
    if work <= BRIEF_WORK:
        return BRIEF
    words = -(-interest.n_topics // 64)
    return OVERLAPS if float(interest.n_nodes) ** 2 / 2 * words <= WORD_WORK else COUNTS


def rare_topics(interest: Interest, work: float) -> Interest:
    """Leave out the most popular topics, so that all pairs can be charged with that much work.

    Leaving out a topic only takes demands away: what bounds the rest bounds the whole.
    """
    sizes = interest.topic_sizes().astype(np.float64)
    order = np.argsort(sizes, kind="stable")
    rare = np.zeros(interest.n_topics, np.bool_)
    rare[order[np.cumsum(sizes[order] ** 2) <= work]] = True
    return interest.only_topics(rare)


@dataclass(frozen=True, slots=True)
class Bounds:
    """No topic-connected overlay has fewer edges, and none a smaller maximum degree.

    `method` says how hard was searched, `details` what each proof gave.
    """

    edges_bound: int
    degree_max_bound: int
    method: str
    details: Mapping[str, Any] = field(default_factory=dict)


def gap(found: int, bound: int) -> float | None:
    """Return by what fraction `found` exceeds a lower bound; None if none is needed and some are there.

    >>> gap(110, 100), gap(0, 0), gap(3, 0)
    (0.1, 0.0, None)
    """
    if bound == 0:
        return 0.0 if found == 0 else None
    return (found - bound) / bound


def bound_overlays(
    interest: Interest,
    *,
    effort: Effort | None = None,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Bounds:
    """Find the best lower bounds with a deterministic amount of work; `effort` None suits it to the size.

    >>> ring = [("a", "w"), ("b", "w"), ("b", "x"), ("c", "x"), ("c", "y"), ("a", "y")]
    >>> found = bound_overlays(Interest.from_pairs(ring))
    >>> found.edges_bound, found.degree_max_bound
    (3, 2)
    """
    effort = effort or choose_effort(interest)
    return _BoundSearch(interest, effort, threads or default_threads(), progress).run()


class _BoundSearch:
    """One interest, bounded with one effort; collects the best figure of each proof."""

    def __init__(self, interest: Interest, effort: Effort, threads: int, progress: Progress) -> None:
        self.interest, self.effort, self.threads, self.progress = interest, effort, threads, progress
        self.components = find_components(interest)
        self.edges = {"components": np.maximum(self.components.sizes - 1, 0)}
        self.degree: dict[str, int] = {}

    def run(self) -> Bounds:
        self.progress.phase("bound: covers", float(self.interest.n_nodes))
        needs = find_needs(
            self.interest,
            most_work=self.effort.cover_work,
            most_sets=self.effort.cover_sets,
            threads=self.threads,
            progress=self.progress,
        )
        self.edges["covers"] = -(-self.components.total(needs) // 2)
        self.degree["covers"] = int(needs.max(initial=0))
        if self.effort.edge_rounds and self.interest.n_subscriptions:
            self._price(self.interest, needs, self.effort)
        if self.effort.overlaps:
            self._overlap()
            rare = rare_topics(self.interest, SHORT_WORK)
            if rare.n_subscriptions:
                self._price(rare, np.zeros_like(needs), BRIEF)
        edges = np.max(list(self.edges.values()), axis=0)
        # The degrees of a component sum to twice its edges.
        averages = -(-2 * edges // np.maximum(self.components.sizes, 1))
        self.degree["average"] = int(averages.max(initial=0))
        return Bounds(
            edges_bound=int(edges.sum()),
            degree_max_bound=max(self.degree.values()),
            method=self.effort.name,
            details={
                "edges": {name: int(found.sum()) for name, found in self.edges.items()},
                "degree_max": dict(self.degree),
                "components": len(self.components.sizes),
            },
        )

    def _price(self, interest: Interest, needs: Longs, effort: Effort) -> None:
        """Prices for edges, then, from there, with allowances that move, for the maximum degree."""
        passes = sum(len(rounds) + 2 for rounds in (effort.edge_rounds, effort.degree_rounds) if rounds)
        self.progress.phase("bound: prices", float(passes * interest.n_nodes))
        search = PriceSearch(interest, needs, threads=self.threads, progress=self.progress)
        edge_duals = search.run(search.start(), effort.edge_rounds, move_allowances=False)
        proofs = [edge_duals]
        if effort.degree_rounds:
            proofs.append(search.run(edge_duals, effort.degree_rounds, move_allowances=True))
        for duals in proofs:
            if is_proof(interest, duals, threads=self.threads, progress=self.progress):
                self._record("prices", units_by_component(interest, duals, needs, self.components), duals)
        if effort.trees:
            self._split(interest, needs, proofs)

    def _split(self, interest: Interest, needs: Longs, proofs: list[Duals]) -> None:
        """Trees, from the prices found; with the tolls and without where that costs little."""
        triangles = triangles_of(interest)
        thorough = len(triangles.pair_of) <= FEW_CHARGES
        variants = []
        for duals in proofs if thorough else proofs[:1]:
            without = Duals(duals.price, np.zeros_like(duals.toll), duals.allowance)
            tolls = (needs * duals.toll).sum() / max(duals.price.sum(), UNIT)
            variants += [duals, without] if thorough else [duals if tolls > 0.05 else without]
        self.progress.phase("bound: trees", float(len(variants)))
        for variant in variants:
            charge = split_charges(interest, triangles, variant, progress=self.progress)
            if is_split(triangles, variant, charge):
                found = tree_units_by_component(interest, triangles, variant, charge, needs, self.components)
                self._record("trees", found, variant)
            self.progress.advance()

    def _overlap(self) -> None:
        """Price each node at one over the most topics it shares with any other."""
        interest, none = self.interest, np.zeros(self.interest.n_nodes, np.int64)
        self.progress.phase("bound: overlaps", float(interest.n_nodes))
        largest = overlaps(interest, threads=self.threads, progress=self.progress)
        price = np.floor(UNITS / np.maximum(largest, 1))[interest.pair_nodes()] * UNIT
        duals = Duals(price, np.zeros(len(none)), np.full(len(none), 0.5))
        # Nothing to check: two nodes share no more topics than either's largest overlap.
        self._record("overlaps", units_by_component(interest, duals, none, self.components), duals)

    def _record(self, name: str, units: Longs, duals: Duals) -> None:
        """Record what `units` (the sum of prices) prove: edges if all allowances are 1/2, and the degree."""
        if (duals.allowance == 0.5).all():
            edges = -(-units // UNITS)
            self.edges[name] = np.maximum(self.edges.get(name, edges), edges)
        allowances = self.components.total(np.rint(duals.allowance / UNIT).astype(np.int64))
        degree = int((-(-units // np.maximum(allowances, 1))).max(initial=0))
        self.degree[name] = max(self.degree.get(name, 0), degree)

"""How hard to search for lower bounds, decided by the size of the interest alone, never by the clock.

Charging all pairs once costs one unit of work per entry of sum over topics of subscribers squared; the
search repeats that some twenty times, so large interests get fewer rounds, and the largest are compared
once, by bits, at one price per node.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from topicloom.overlay.measures.price_bound import pass_work
from topicloom.overlay.measures.price_search import Round
from topicloom.overlay.measures.tree_bound import MOST_CHARGES, count_charges
from topicloom.overlay.model.interest import Interest


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

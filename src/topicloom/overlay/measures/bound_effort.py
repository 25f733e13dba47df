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


def _rounds(pace: float, *steps: tuple[int, float]) -> tuple[Round, ...]:
    return tuple(Round(count, sharp, pace) for count, sharp in steps)


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
    _rounds(
        6.0,
        (4, 20),
        (6, 20),
        (10, 20),
        (15, 25),
        (20, 40),
        (25, 60),
        (30, 100),
        (30, 150),
        (40, 250),
        (40, 400),
    ),
    _rounds(4.0, (5, 60), (10, 60), (20, 60), (25, 60), (30, 60), (30, 60), (30, 100), (30, 150), (40, 250)),
    cover_work=1e9,
    cover_sets=300_000,
)
SHORT = Effort(
    "prices, short search",
    _rounds(6.0, (4, 20), (6, 20), (10, 25), (15, 50), (20, 100), (20, 200), (20, 400)),
    _rounds(4.0, (5, 60), (10, 60), (20, 60), (25, 80), (20, 250)),
    cover_work=1.5e9,
    cover_sets=30_000,
)
BRIEF = Effort(
    "prices, brief search",
    _rounds(6.0, (4, 20), (6, 30), (10, 60)),
    cover_work=1e9,
    cover_sets=5_000,
)
OVERLAPS = Effort("overlaps", cover_work=1e9, cover_sets=5_000, overlaps=True)
COUNTS = Effort("components", cover_work=1e9, cover_sets=5_000)

FULL_WORK, SHORT_WORK, BRIEF_WORK = 3e8, 4e9, 1.2e10
WORD_WORK = 6e10  # pairs of nodes times words of topics that may be compared


def choose_effort(interest: Interest) -> Effort:
    """The most thorough effort whose work is within its limit."""
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
    """The interest without its most popular topics, so that all pairs can be charged with that much work.

    Leaving out a topic only takes demands away: what bounds the rest bounds the whole.
    """
    sizes = interest.topic_sizes().astype(np.float64)
    order = np.argsort(sizes, kind="stable")
    rare = np.zeros(interest.n_topics, np.bool_)
    rare[order[np.cumsum(sizes[order] ** 2) <= work]] = True
    kept = rare[interest.node_topics]
    return Interest.from_codes(
        interest.node_ids, interest.topic_ids, interest.pair_nodes()[kept], interest.node_topics[kept]
    )

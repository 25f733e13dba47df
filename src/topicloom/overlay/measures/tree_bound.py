"""A tighter proof for small interests: every edge's allowance is split over topics, pair by pair.

With a charge c[e,t] >= 0 for every pair e and topic t that both ends want, and sum over t of c[e,t] at most
the allowance of e less its tolls, any topic-connected overlay contains a spanning tree of each topic and
weighs at least the cheapest one: the sum over topics of the cheapest trees is a bound (the Lagrangian dual
of the partition inequalities). The prices of `price_bound.py` are the special case c = max(a[u,t], a[v,t]);
from there the charges of the edges in the cheapest trees are raised step by step (subgradient ascent).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Floats, Longs, pointers
from topicloom.base.progress import Progress, check_stop
from topicloom.overlay.kernels.price_bound import UNIT, Duals
from topicloom.overlay.kernels.tree_bound import cheapest_trees, share_out
from topicloom.overlay.measures.components import InterestComponents
from topicloom.overlay.measures.price_bound import place_slots
from topicloom.overlay.model.interest import Interest

MOST_CHARGES = 2_000_000  # above so many (pair, topic) charges the split is not tried
CHARGE_STEPS = 2e8  # steps times charges: what the ascent may cost


@dataclass(frozen=True, slots=True, eq=False)
class Triangles:
    """The (pair, topic) charges of an interest: topic by topic as triangles, and grouped by pair."""

    topic_ptr: Longs
    block_ptr: Longs
    low: Longs  # the two subscriptions (slots) of each charge
    high: Longs
    pair_of: Longs
    pair_ptr: Longs
    members: Longs
    pair_u: Longs
    pair_v: Longs


def count_charges(interest: Interest) -> int:
    """Return how many (pair, topic) charges there would be."""
    sizes = interest.topic_sizes()
    return int((sizes * (sizes - 1) // 2).sum())


def triangles_of(interest: Interest) -> Triangles:
    """Lay out the charges."""
    sizes = interest.topic_sizes()
    block_ptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes * (sizes - 1) // 2)))
    low, high = np.zeros(block_ptr[-1], np.int64), np.zeros(block_ptr[-1], np.int64)
    for topic in np.flatnonzero(sizes > 1):
        i, j = np.tril_indices(sizes[topic], -1)
        block = slice(block_ptr[topic], block_ptr[topic + 1])
        low[block], high[block] = interest.topic_ptr[topic] + j, interest.topic_ptr[topic] + i
    keys = interest.topic_nodes[low].astype(np.int64) * interest.n_nodes + interest.topic_nodes[high]
    distinct, pair_of = np.unique(keys, return_inverse=True)
    slots = place_slots(interest)
    pair_u, pair_v = np.divmod(distinct, max(interest.n_nodes, 1))
    return Triangles(
        interest.topic_ptr.copy(),
        block_ptr,
        slots[low],
        slots[high],
        pair_of,
        pointers(pair_of, len(distinct)),
        np.argsort(pair_of, kind="stable"),
        pair_u,
        pair_v,
    )


def allowed_charges(triangles: Triangles, duals: Duals) -> Floats:
    """Return what is left of each pair's allowance for its topics, tolls paid; exact."""
    u, v = triangles.pair_u, triangles.pair_v
    return duals.allowance[u] + duals.allowance[v] - duals.toll[u] - duals.toll[v]


def is_split(triangles: Triangles, duals: Duals, charge: Floats) -> bool:
    """Are the charges multiples of UNIT, none negative, and within each pair's allowance? Exact."""
    if len(charge) != len(triangles.pair_of) or not ((charge >= 0.0) & (charge < 2.0**17)).all():
        return False
    if (np.rint(charge / UNIT) * UNIT != charge).any():
        return False
    sums = np.bincount(triangles.pair_of, weights=charge, minlength=len(triangles.pair_u))
    return bool((sums <= allowed_charges(triangles, duals)).all())


def split_charges(interest: Interest, triangles: Triangles, duals: Duals, *, progress: Progress) -> Floats:
    """Charges that sum to what is allowed, as good as some hundred steps make them; a proof (`is_split`)."""
    allowed = allowed_charges(triangles, duals)
    charge = np.maximum(duals.price[triangles.low], duals.price[triangles.high])
    everything = np.arange(len(allowed))
    spare = allowed - np.bincount(triangles.pair_of, weights=charge, minlength=len(allowed))
    sizes = np.diff(triangles.pair_ptr)
    charge += (np.maximum(spare, 0.0) / np.maximum(sizes, 1))[triangles.pair_of]
    share_out(everything, triangles.pair_ptr, triangles.members, allowed, charge)
    best, best_value, ahead, tries = charge.copy(), -1.0, 0.04, 0
    weights = np.zeros(interest.n_topics)
    chosen = np.zeros(interest.n_subscriptions, np.int64)
    steps = int(np.clip(CHARGE_STEPS / max(len(charge), 1), 20, 1500))
    for _ in range(steps):
        check_stop(progress)
        n_chosen = cheapest_trees(triangles.topic_ptr, triangles.block_ptr, charge, weights, chosen)
        value = weights.sum()
        tries = 0 if value > best_value * (1.0 + 1e-4 * ahead) else tries + 1
        if value > best_value:
            best, best_value = charge.copy(), value
        if tries > steps // 50 + 4:  # aim less high
            ahead, tries = ahead * 0.7, 0
        tree = chosen[:n_chosen]
        taken = np.bincount(triangles.pair_of[tree], minlength=len(allowed))
        norm = float((taken - taken**2 / sizes).sum())
        if norm < 1e-9 or ahead < 1e-6:
            break
        charge[tree] += (best_value * (1.0 + ahead) - value) / norm
        share_out(np.flatnonzero(taken), triangles.pair_ptr, triangles.members, allowed, charge)
    # Rounded down to the grid; a pair that is still above its allowance is charged nothing.
    charge = np.maximum(np.floor(best / UNIT) - 1.0, 0.0) * UNIT
    sums = np.bincount(triangles.pair_of, weights=charge, minlength=len(allowed))
    charge[(sums > allowed)[triangles.pair_of]] = 0.0
    return charge


def tree_units_by_component(
    interest: Interest,
    triangles: Triangles,
    duals: Duals,
    charge: Floats,
    needs: Longs,
    components: InterestComponents,
) -> Longs:
    """Return the bound that the charges and tolls prove, in UNITs, for each component of the interest."""
    weights = np.zeros(interest.n_topics)
    chosen = np.zeros(interest.n_subscriptions, np.int64)
    cheapest_trees(triangles.topic_ptr, triangles.block_ptr, charge, weights, chosen)
    values = components.total(needs * np.rint(duals.toll / UNIT).astype(np.int64))
    wanted = np.flatnonzero(interest.topic_sizes() > 0)
    part = components.of_node[interest.topic_nodes[interest.topic_ptr[wanted]]]
    np.add.at(values, part, np.rint(weights[wanted] / UNIT).astype(np.int64))
    return values

"""Prices on subscriptions that bound every overlay from below: what pairs are charged, and how prices rise.

A pair of nodes is charged, for each topic both want, the larger of the two prices, plus the tolls of both
ends; it may be charged no more than the allowances of its ends together. Why that bounds the overlay is
told in `measures/price_bound.py`. Slots run node by node, places topic by topic, as in an interest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from topicloom.base.arrays import Floats, Ints, Lists, Longs
from topicloom.base.kernels.jit import kernel

# Prices that are to prove something are whole multiples of this, so that their sums carry no error.
UNIT = 2.0**-34

ALLOWANCE_FLOOR = 1e-3  # allowances are 1/2 on average; below this a node no longer matters

CHUNK = 128  # nodes that are looked at together for a heavy pair

NO_EDGE = 1e-4  # a pair with less of a fractional edge than this moves no price


class Duals(NamedTuple):
    """Prices of subscriptions (in the order of `node_topics`), tolls and allowances of nodes."""

    price: Floats
    toll: Floats
    allowance: Floats

    def on_grid(self) -> Duals:
        """Rounded down to multiples of UNIT, prices and allowances to at least one; allowances rounded."""
        return Duals(
            np.maximum(np.floor(self.price / UNIT), 1.0) * UNIT,
            np.floor(self.toll / UNIT) * UNIT,
            np.maximum(np.rint(self.allowance / UNIT), 1.0) * UNIT,
        )


class HeavyPairs(NamedTuple):
    """Some pairs of nodes, with the slots of the topics they share."""

    keys: Longs
    u: Ints
    v: Ints
    entry_ptr: Longs
    slot_u: Ints
    slot_v: Ints


@kernel
def heaviest_pairs(
    start: int, stop: int, lists: Lists, duals: Duals, place_price: Floats, others: Ints, ratios: Floats
) -> float:
    """Find for each node from `start` to `stop` its pairs with the largest ratio of charge to allowance.

    others[u], ratios[u] hold them, heaviest first (ratio 0: none). The largest excess is returned: positive
    if any pair is charged more than its allowance (such a pair passes any `least` up to 1). Prices of topics
    with more than one subscriber must be positive: a pair that is charged nothing is taken for one that
    shares nothing.
    """
    node_ptr, node_topics, topic_ptr, topic_nodes = lists
    price, toll, allowance = duals.price, duals.toll, duals.allowance
    excess = -1.0
    n_nodes = len(node_ptr) - 1
    kept = others.shape[1]
    charge = np.zeros(n_nodes, np.float64)
    for u in range(start, stop):
        for slot in range(node_ptr[u], node_ptr[u + 1]):
            topic, mine = node_topics[slot], price[slot]
            for place in range(topic_ptr[topic], topic_ptr[topic + 1]):
                charge[topic_nodes[place]] += max(mine, place_price[place])
        charge[u] = 0.0
        ratios[u, :] = 0.0
        least, my_toll, mine = 0.0, toll[u], allowance[u]
        for base in range(0, n_nodes, CHUNK):
            end = min(base + CHUNK, n_nodes)
            charges, tolls, allowances = charge[base:end], toll[base:end], allowance[base:end]
            heavy = 0
            for i in range(len(charges)):  # a plain count, many at a time; few chunks hold anything
                heavy += charges[i] + my_toll + tolls[i] > least * (mine + allowances[i])
            for v in range(base, end if heavy > 0 else base):
                due, allowed = charge[v] + my_toll + toll[v], mine + allowance[v]
                if due > least * allowed and charge[v] > 0.0:
                    at, ratio = kept - 1, due / allowed
                    while at > 0 and ratios[u, at - 1] < ratio:
                        ratios[u, at], others[u, at] = ratios[u, at - 1], others[u, at - 1]
                        at -= 1
                    ratios[u, at], others[u, at] = ratio, v
                    least = ratios[u, kept - 1]
                    excess = max(excess, due - allowed)
        charge[:] = 0.0
    return excess


@kernel
def raise_prices(
    steps: int,
    node_ptr: Longs,
    counted: Floats,
    needs: Floats,
    pairs: HeavyPairs,
    duals: Duals,
    sums: Duals,
    ratios: Floats,
    sharp: float,
    step: float,
    allowance_step: float,
) -> None:
    """Take `steps` steps of multiplicative ascent on the given pairs, adding the prices of each to the sums.

    The value of a node is the sum of its prices (those with counted[slot] = 1) and of needs x toll, over its
    heaviest ratio: dividing by that ratio keeps every pair within its allowance. The heaviest ratio is
    smoothed: each node splits its value over its pairs with weights exp(sharp x ratio); that gives pairs a
    fractional edge x. The slope of a price is 1 less the x of the pairs it is charged to; ties for the
    larger price are split. A node whose edges sum above the average earns allowance.
    """
    pair_u, pair_v, entry_ptr, slot_u, slot_v = pairs.u, pairs.v, pairs.entry_ptr, pairs.slot_u, pairs.slot_v
    price, toll, allowance = duals.price, duals.toll, duals.allowance
    n_nodes, n_pairs, floor = len(node_ptr) - 1, len(pair_u), 0.2 / sharp
    heaviest, weight = np.empty(n_nodes), np.empty(n_nodes)
    value, edges = np.empty(n_nodes), np.empty(n_nodes)
    load = np.empty(len(price))
    for _ in range(steps):
        heaviest[:] = 0.0
        for pair in range(n_pairs):
            u, v = pair_u[pair], pair_v[pair]
            due = toll[u] + toll[v]
            for entry in range(entry_ptr[pair], entry_ptr[pair + 1]):
                due += max(price[slot_u[entry]], price[slot_v[entry]])
            ratios[pair] = due / (allowance[u] + allowance[v])
            heaviest[u] = max(heaviest[u], ratios[pair])
            heaviest[v] = max(heaviest[v], ratios[pair])
        for u in range(n_nodes):
            if heaviest[u] == 0.0:
                heaviest[u] = 1.0
            toll[u] /= heaviest[u]
            value[u] = needs[u] * toll[u]
            for slot in range(node_ptr[u], node_ptr[u + 1]):
                price[slot] /= heaviest[u]
                value[u] += counted[slot] * price[slot]
                sums.price[slot] += price[slot]
            sums.toll[u] += toll[u]
            sums.allowance[u] += allowance[u]
        weight[:] = 0.0
        for pair in range(n_pairs):
            u, v = pair_u[pair], pair_v[pair]
            weight[u] += np.exp(sharp * (ratios[pair] / heaviest[u] - 1.0))
            weight[v] += np.exp(sharp * (ratios[pair] / heaviest[v] - 1.0))
        edges[:] = 0.0
        load[:] = 0.0
        for pair in range(n_pairs):
            u, v = pair_u[pair], pair_v[pair]
            x = value[u] * np.exp(sharp * (ratios[pair] / heaviest[u] - 1.0)) / weight[u]
            x += value[v] * np.exp(sharp * (ratios[pair] / heaviest[v] - 1.0)) / weight[v]
            x /= allowance[u] + allowance[v]
            edges[u] += x
            edges[v] += x
            if x > NO_EDGE:
                for entry in range(entry_ptr[pair], entry_ptr[pair + 1]):
                    mine, other = price[slot_u[entry]], price[slot_v[entry]]
                    share = min(mine, other) / (max(mine, other) + 1e-300)
                    share *= share
                    share *= share
                    share *= share
                    share /= 1.0 + share  # what the smaller price is charged of x
                    if mine > other:
                        share = 1.0 - share
                    load[slot_u[entry]] += x * share
                    load[slot_v[entry]] += x * (1.0 - share)
        total = (edges * allowance).sum() / allowance.sum()
        for u in range(n_nodes):
            if needs[u] > 0:
                slope = step * (1.0 - edges[u] / needs[u])
                toll[u] = max(toll[u] * np.exp(min(max(slope, -0.7), 0.7)), floor * allowance[u])
            least = floor * value[u] / max(node_ptr[u + 1] - node_ptr[u], 1)
            for slot in range(node_ptr[u], node_ptr[u + 1]):
                if price[slot] > 0.0:
                    slope = min(max(step * (counted[slot] - load[slot]), -0.7), 0.7)
                    price[slot] = max(price[slot] * np.exp(slope), least)
            if allowance_step > 0.0:
                slope = min(max(allowance_step * (edges[u] / total - 1.0), -0.3), 0.3)
                allowance[u] = max(allowance[u] * np.exp(slope), ALLOWANCE_FLOOR)
        if allowance_step > 0.0:
            allowance *= 0.5 * n_nodes / allowance.sum()

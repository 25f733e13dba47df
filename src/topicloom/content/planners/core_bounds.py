"""How much the core adds to the access cost at least, channel by channel; true under every core model.

Let a channel have the rate G and its subscribers be found on the set of brokers S. Of two bounds the larger
counts:

1. The subscribers' demand needs at least k brokers, the k largest ones. A tree of k brokers or more weighs at
   least as much as the lightest forest of k - 1 edges (the first that Kruskal's algorithm takes), and as the
   way from some broker to the (k-1)-th nearest other. Sent one by one, messages go at least to the k - 1
   nearest of some broker.
2. In a tree that joins S every broker of S except the root pays for the edge to its parent, at least the
   price n_b to its nearest broker; so for any m the tree weighs at least
   sum over b in S of min(n_b, m)  -  m.
   The demand of a user is a sum over channels, and a subscriber has the whole rate G in each of its own. Let
   every channel assign its subscribers as it likes best (plans may not): then it is a facility location
   problem, brokers open at min(n_b, m) and users connect at their prices, and dual ascent bounds it from
   below. What this is above the users' cheapest links, less m, times G, is what the core adds.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Floats, Ints, sealed
from topicloom.base.progress import Progress, check_stop
from topicloom.content.kernels.ascent import raise_values
from topicloom.content.kernels.room import limits
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.core_model import CoreModel

ROUNDING = 1e-9  # relative: what the sums may be too high by
QUANTILES = (0.5, 1.0)  # of the prices to the nearest broker: the m that are tried
ROUNDS = 50  # of dual ascent
ENOUGH = 1e-3  # a round that adds less than this share is the last one
MOST_STEPS = 4e9
"""Prices looked at by all ascents together: some ten seconds. Channels come by falling rate."""


def core_bound(problem: ContentProblem, model: CoreModel, tolls: Floats, progress: Progress) -> float:
    """What every plan within the capacities costs above the access bound by `tolls`, at least."""
    added = _least_weights(model)[_brokers_needed(problem)]
    if problem.n_brokers > 1:
        n_nearest = np.sort(problem.core, axis=1)[:, 1]
        levels = np.unique(np.quantile(n_nearest, QUANTILES, method="nearest"))
        left = MOST_STEPS
        for channel in np.argsort(-problem.channel_rate, kind="stable").tolist():
            if left <= 0 or problem.channel_rate[channel] == 0:
                break
            members = sealed(problem.subscribers_of(channel))
            for most in levels[levels > 0].tolist():
                opening = np.minimum(n_nearest, most)
                gained, rounds = _ascend(problem, members, tolls, opening, progress)
                left -= rounds * len(members) * problem.n_brokers
                added[channel] = max(added[channel], gained - most)
    return float(np.sum(problem.channel_rate * added))


def _ascend(
    problem: ContentProblem, members: Ints, tolls: Floats, opening: Floats, progress: Progress
) -> tuple[float, int]:
    """What opening brokers adds to the cheapest links of `members` at least, and the rounds it took."""
    slack, values = opening.copy(), np.full(len(members), -np.inf)
    gained = 0.0
    for rounds in range(1, ROUNDS + 1):
        check_stop(progress)
        more = raise_values(members, problem.access, tolls, slack, values)
        gained += more
        if rounds > 1 and more <= ENOUGH * gained:  # the first round only takes the cheapest links
            break
    return gained * (1 - ROUNDING), rounds


def _brokers_needed(problem: ContentProblem) -> Ints:
    """For each channel the fewest brokers that can carry its subscribers; 0 if nobody wants it."""
    owner = np.repeat(np.arange(problem.n_users), np.diff(problem.want_ptr))
    change = np.zeros(problem.n_channels + 1)
    np.add.at(change, problem.want_first, problem.demand[owner])
    np.add.at(change, problem.want_last + 1, -problem.demand[owner])
    # Sums that end in a subtraction may come out too high by rounding, relative to all that was added up.
    carried = np.cumsum(change)[:-1] - ROUNDING * float(problem.demand[owner].sum())
    room = np.cumsum(np.sort(limits(problem.capacity))[::-1])
    needed = np.minimum(np.searchsorted(room, carried, side="left") + 1, problem.n_brokers)
    return np.where(problem.channel_wanted > 0, needed, 0).astype(np.int32)


def _least_weights(model: CoreModel) -> Floats:
    """At k: what a tree of at least k brokers weighs at least; nothing for none or one."""
    nearest = np.sort(model.core, axis=1)  # column k: the k-th nearest other broker, after the broker itself
    if model.name == "unicast":
        least = np.cumsum(nearest, axis=1).min(axis=0)
    else:
        forest = np.concatenate([[0.0], np.cumsum(np.sort(model.step[model.order[1:]]))])
        least = np.maximum(forest, nearest.min(axis=0))
    return np.concatenate([[0.0], least])

"""Steiner-tree mixing: trees per channel, mixed into one broker per user [Zhao2011, IV-B].

Phase 1 grows a tree for every channel and publisher (Algorithm 3) and adds up what passes each link of a user
and a broker. Phase 2 draws each user's broker by that weight. Phase 3, the trees between the brokers, is the
evaluator's business.

The paper counts a tree per publisher and channel; publishers that start at the same broker have the same
tree, so there are at most brokers x channels of them. Algorithm 3 as printed measures distances from the
users last connected; here a tree grows from all its brokers (Takahashi and Matsuyama), as the text means it.
The paper does not say what happens when the drawn broker is full: only brokers with room are drawn, then the
cheapest with room is taken, then the broker with the most free room.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from topicloom.base.arrays import Floats, Ints, pointers, sealed
from topicloom.base.kernels.parallel import default_threads, for_slices
from topicloom.base.parameters import Parameter, check_values, parameters_of
from topicloom.base.progress import SILENT, Progress, Stopwatch, check_stop
from topicloom.base.seeds import generator
from topicloom.content.kernels.steiner_mixing import fill_near, find_starts, grow_trees
from topicloom.content.model.problem import ContentPlan, ContentProblem
from topicloom.content.planners.greedy_packing import place

RULES = ("draw", "argmax")
SLICE_STEPS = 100_000_000
"""Steps of the innermost loop in one call: a fraction of a second."""


def plan_steiner_mixing(
    problem: ContentProblem,
    *,
    core_model: str = "free",
    seed: int = 0,
    time_limit: float | None = None,
    progress: Progress = SILENT,
    rule: Annotated[str, Parameter("how a user's broker is taken from its weights", RULES)] = "draw",
) -> ContentPlan:
    """A broker per user by the traffic of the Steiner trees: drawn, or with `rule="argmax"` the largest.

    It holds 20 bytes per pair of a user and a broker besides the prices: 2 GB for 100,000 x 1,000.

    >>> line = ContentProblem.of(["i", "j"], ["a", "b"], [9, 9], [[1, 3], [3, 1]], [[0, 9], [9, 0]], 1,
    ...     rates=([0], [0], [3.0]), wants=([1], [0], [0]))
    >>> plan_steiner_mixing(line).assignment.tolist()     # the link between the brokers is too expensive
    [0, 0]
    """
    check_values("steiner-mixing", parameters_of(plan_steiner_mixing), {"rule": rule})
    watch = Stopwatch(progress)
    traffic = _Traffic(problem)
    with watch.phase("measure ways", problem.n_users):
        near, last = _ways(problem, progress)
    with watch.phase("find starts", problem.n_channels):
        starts = _all_starts(problem, traffic, progress)
    roots = [np.unique(starts[traffic.published(c)]) for c in range(problem.n_channels)]
    n_trees = sum(map(len, roots))
    with watch.phase("grow trees", n_trees):
        weight = np.zeros(problem.access.shape)
        for c, own_roots in enumerate(roots):
            _add_channel(weight, traffic, c, own_roots, starts, near, last, progress)
    with watch.phase("mix trees", problem.n_users):
        draws = generator(seed, "content", "steiner-mixing").random(problem.n_users)
        draws = draws if rule == "draw" else np.full(problem.n_users, -1.0)
        assignment, unplaced = place(problem, weight, draws, progress)
    report = {"trees": n_trees, "users_without_room": unplaced}
    return ContentPlan(assignment, "steiner-mixing", {"rule": rule}, seed, watch.seconds, report)


class _Traffic:
    """Who publishes and who wants each channel."""

    def __init__(self, problem: ContentProblem) -> None:
        owner = np.repeat(np.arange(problem.n_users), np.diff(problem.rate_ptr))
        order = np.argsort(problem.rate_channels, kind="stable")
        self._published = pointers(problem.rate_channels, problem.n_channels)
        self.publishers: Ints = owner[order].astype(np.int32)
        self.rates = problem.rates[order]
        self._problem = problem

    def published(self, channel: int) -> slice:
        """Where the channel's publishers and rates are."""
        return slice(self._published[channel], self._published[channel + 1])

    def members(self, channel: int) -> Ints:
        """The users that want the channel, ascending."""
        return self._problem.subscribers_of(channel)


def _ways(problem: ContentProblem, progress: Progress) -> tuple[Floats, Ints]:
    """`near` and `last` of kernels/mixing.py."""
    n_users, n_brokers = problem.n_users, problem.n_brokers
    near, last = np.empty((n_brokers, n_users)), np.empty((n_brokers, n_users), dtype=np.int32)
    step = max(SLICE_STEPS // max(n_brokers**2, 1), 1)
    step = min(step, max(-(-n_users // default_threads()), 1))

    def work(first: int, stop: int) -> None:
        fill_near(first, stop, problem.access, problem.core, near, last)

    for_slices(work, n_users, slice_size=step, threads=default_threads(), progress=progress)
    return sealed(near), sealed(last)


def _all_starts(problem: ContentProblem, traffic: _Traffic, progress: Progress) -> Ints:
    """The broker where the tree of each publisher starts, for the publishers of every channel in turn."""
    starts = np.zeros(len(traffic.publishers), dtype=np.int32)

    def work(first: int, stop: int) -> None:
        for channel in range(first, stop):
            at = traffic.published(channel)
            publishers = sealed(traffic.publishers[at])
            if len(publishers):
                members = sealed(traffic.members(channel))
                find_starts(problem.access, problem.core, members, publishers, starts[at])

    threads = default_threads()
    for_slices(work, problem.n_channels, slice_size=1, threads=threads, progress=progress)
    return starts


def _add_channel(
    weight: Floats,
    traffic: _Traffic,
    channel: int,
    roots: Ints,
    starts: Ints,
    near: Floats,
    last: Ints,
    progress: Progress,
) -> None:
    """Grow the channel's trees and add what they put on the links of users: in one order, on any threads."""
    check_stop(progress)
    if not len(roots):
        return
    at = traffic.published(channel)
    publishers, rates, begins = traffic.publishers[at], traffic.rates[at], starts[at]
    members = traffic.members(channel)
    homes = np.empty((len(roots), len(members)), dtype=np.int32)
    own_near, own_last = sealed(near[:, members]), sealed(last[:, members])

    def work(first: int, stop: int) -> None:
        grow_trees(sealed(roots[first:stop]), own_near, own_last, homes[first:stop])

    threads = default_threads()
    step = max(SLICE_STEPS // max(len(members) * len(near), 1), 1)
    step = min(step, max(-(-len(roots) // (4 * threads)), 1))
    for_slices(work, len(roots), slice_size=step, threads=threads, progress=progress)

    weight[publishers, begins] += rates
    group_rate = np.zeros(len(near))
    np.add.at(group_rate, begins, rates)
    _add_homes(weight, members, homes, roots, group_rate, *_own(len(weight), publishers, begins, rates))


def _own(n_users: int, publishers: Ints, begins: Ints, rates: Floats) -> tuple[Ints, Floats]:
    """For every user where it publishes the channel from, -1 if it does not, and at what rate."""
    begin, rate = np.full(n_users, -1, dtype=np.int32), np.zeros(n_users)
    begin[publishers], rate[publishers] = begins, rates
    return begin, rate


def _add_homes(
    weight: Floats, members: Ints, homes: Ints, roots: Ints, group_rate: Floats, begin: Ints, rate: Floats
) -> None:
    """A member gets from every tree what its publishers send, its own messages left out."""
    begin, rate = begin[members], rate[members]
    for root, home in zip(roots.tolist(), homes, strict=True):
        weight[members, home] += group_rate[root] - np.where(begin == root, rate, 0.0)

"""Steiner-tree mixing: trees per channel, mixed into one broker per user [Zhao2011, IV-B].

Phase 1 grows a tree for every channel and publisher (Algorithm 3) and adds up what passes each link of a user
and a broker. Phase 2 draws each user's broker by that weight. Phase 3, the trees between the brokers, is left
to the evaluator.

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
from topicloom.content.planners.placement import place

RULES = ("draw", "argmax")
SLICE_STEPS = 100_000_000  # steps of the innermost loop in one call: a fraction of a second


def plan_steiner_mixing(
    problem: ContentProblem,
    *,
    seed: int = 0,
    progress: Progress = SILENT,
    rule: Annotated[str, Parameter("how a user's broker is taken from its weights", RULES)] = "draw",
) -> ContentPlan:
    """Choose each user's broker by the traffic of the Steiner trees: drawn, or with "argmax" the largest.

    It holds 20 bytes per pair of a user and a broker besides the prices: 2 GB for 100,000 x 1,000.

    >>> line = ContentProblem.of(["i", "j"], ["a", "b"], [9, 9], [[1, 3], [3, 1]], [[0, 9], [9, 0]], 1,
    ...     rates=([0], [0], [3.0]), wants=([1], [0], [0]))
    >>> plan_steiner_mixing(line).assignment.tolist()     # the link between the brokers is too expensive
    [0, 0]
    """
    check_values("steiner-mixing", parameters_of(plan_steiner_mixing), {"rule": rule})
    watch = Stopwatch(progress)
    trees = _ChannelTrees(problem, progress)
    with watch.phase("measure paths", problem.n_users):
        near, last = trees.paths()
    with watch.phase("find starts", problem.n_channels):
        trees.find_starts()
    roots = [np.unique(trees.starts[trees.published(c)]) for c in range(problem.n_channels)]
    n_trees = sum(map(len, roots))
    with watch.phase("grow trees", n_trees):
        weight = np.zeros(problem.access.shape)
        for c, own_roots in enumerate(roots):
            check_stop(progress)
            if len(own_roots):
                trees.add_channel(weight, c, own_roots, near, last)
    with watch.phase("mix trees", problem.n_users):
        draws = generator(seed, "content", "steiner-mixing").random(problem.n_users)
        draws = draws if rule == "draw" else np.full(problem.n_users, -1.0)
        assignment, unplaced = place(problem, weight, draws, progress)
    report = {"trees": n_trees, "users_without_room": unplaced}
    return ContentPlan(assignment, "steiner-mixing", {"rule": rule}, report, seconds=watch.seconds, seed=seed)


class _ChannelTrees:
    """The publishers of every channel in turn, their rates, and the brokers where their trees start."""

    def __init__(self, problem: ContentProblem, progress: Progress) -> None:
        owner = problem.rate_users
        order = np.argsort(problem.rate_channels, kind="stable")
        self._ptr = pointers(problem.rate_channels, problem.n_channels)
        self._publishers: Ints = owner[order].astype(np.int32)
        self._rates = problem.rates[order]
        self.starts: Ints = np.zeros(len(owner), dtype=np.int32)
        self._problem, self._progress, self._threads = problem, progress, default_threads()

    def published(self, channel: int) -> slice:
        """Return where the channel's publishers, rates and starts are."""
        return slice(self._ptr[channel], self._ptr[channel + 1])

    def paths(self) -> tuple[Floats, Ints]:
        """Return `near` and `last` of kernels/steiner_mixing.py."""
        n_users, n_brokers = self._problem.n_users, self._problem.n_brokers
        near, last = np.empty((n_brokers, n_users)), np.empty((n_brokers, n_users), dtype=np.int32)
        step = max(SLICE_STEPS // max(n_brokers**2, 1), 1)
        step = min(step, max(-(-n_users // self._threads), 1))

        def work(first: int, stop: int) -> None:
            fill_near(first, stop, self._problem.access, self._problem.core, near, last)

        for_slices(work, n_users, slice_size=step, threads=self._threads, progress=self._progress)
        return sealed(near), sealed(last)

    def find_starts(self) -> None:
        """Find the broker where the tree of each publisher of each channel starts."""
        problem = self._problem

        def work(first: int, stop: int) -> None:
            for channel in range(first, stop):
                at = self.published(channel)
                publishers = sealed(self._publishers[at])
                if len(publishers):
                    members = sealed(problem.subscribers_of(channel))
                    find_starts(problem.access, problem.core, members, publishers, self.starts[at])

        for_slices(work, problem.n_channels, slice_size=1, threads=self._threads, progress=self._progress)

    def add_channel(self, weight: Floats, channel: int, roots: Ints, near: Floats, last: Ints) -> None:
        """Grow a channel's trees and add what they put on users' links: in one order, on any threads."""
        at = self.published(channel)
        publishers, rates, starts = self._publishers[at], self._rates[at], self.starts[at]
        members = self._problem.subscribers_of(channel)
        homes = np.empty((len(roots), len(members)), dtype=np.int32)
        own_near, own_last = sealed(near[:, members]), sealed(last[:, members])

        def work(first: int, stop: int) -> None:
            grow_trees(sealed(roots[first:stop]), own_near, own_last, homes[first:stop])

        step = max(SLICE_STEPS // max(len(members) * len(near), 1), 1)
        step = min(step, max(-(-len(roots) // (4 * self._threads)), 1))
        for_slices(work, len(roots), slice_size=step, threads=self._threads, progress=self._progress)

        weight[publishers, starts] += rates
        group_rate = np.zeros(len(near))
        np.add.at(group_rate, starts, rates)
        # A member gets from every tree what its publishers send, except its own messages.
        own_start, own_rate = np.full(len(weight), -1, dtype=np.int32), np.zeros(len(weight))
        own_start[publishers], own_rate[publishers] = starts, rates
        own_start, own_rate = own_start[members], own_rate[members]
        for root, home in zip(roots.tolist(), homes, strict=True):
            weight[members, home] += group_rate[root] - np.where(own_start == root, own_rate, 0.0)

"""Clustering: users with much traffic between them on one broker [Zhao2011, Algorithm 2].

First each broker in turn gets the pair of users with the largest traffic / price, then every other user joins
the broker with the largest. The traffic of a pair counts both directions, and its price is the sum of both
users' prices to the broker. The printed algorithm takes the smallest ratio in the second part where the text
asks for the largest, and leaves open what happens to a user that fits nowhere: it goes to the broker with the
most free room.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Floats, Ints, Longs, sealed
from topicloom.base.progress import SILENT, Progress, Stopwatch, check_stop
from topicloom.content.kernels.clustering import best_pair, join_clusters, scan_windows
from topicloom.content.model.problem import ContentPlan, ContentProblem
from topicloom.content.planners.cost import problem_arrays

# The most promising users are tried first: the better their best pair, the fewer of all can beat it.
STAGES = (64, 1024)
WINDOW_WORK = 500_000_000  # the most users x windows that are scanned for what users can send each other
ROUNDING = 1e-12  # relative; a pair is left out only if its bound is lower by more than this
SLICE = 10_000_000  # pairs of users, or of a channel and a broker, that one call looks at


def plan_clustering(problem: ContentProblem, *, progress: Progress = SILENT) -> ContentPlan:
    """Assign pairs by the largest traffic / price, then all others; of equal ratios the cheaper comes first.

    >>> pairs = ContentProblem.of(["i", "j", "k"], ["a", "b"], [10, 9], [[2, 1], [1, 1], [1, 1]],
    ...     [[0, 1], [1, 0]], 2, rates=([0, 1], [0, 1], [4.0, 1.0]), wants=([2, 0], [0, 1], [0, 1]))
    >>> plan_clustering(pairs).assignment.tolist()      # i and k first, then j, which sends to i
    [0, 0, 0]
    """
    watch = Stopwatch(progress)
    with watch.phase("bound traffic"):
        clusters = _Clusters(problem, progress)
    with watch.phase("pair users", problem.n_brokers):
        for broker in range(problem.n_brokers):
            clusters.seed_broker(broker)
            progress.advance()
    with watch.phase("join clusters", problem.n_users):
        unplaced = clusters.join_all()
    report = {"users_without_room": unplaced}
    return ContentPlan(clusters.assignment, "clustering", seconds=watch.seconds, report=report)


class _Clusters:
    """The assignment so far (-1: none) and what the kernels need to know of the problem."""

    def __init__(self, problem: ContentProblem, progress: Progress) -> None:
        self.problem, self.progress = problem, progress
        self.assignment: Ints = np.full(problem.n_users, -1, dtype=np.int32)
        self.fixed = problem_arrays(problem)
        self.known = running_sums(problem), *self._bounds(running_sums(problem))
        self.reach = (self.known[1] + self.known[2]) / 2

    def _bounds(self, before: Floats) -> tuple[Floats, Floats]:
        """Return the most that every user sends to, and gets from, one other: upper bounds.

        What a user wants lies in a window of channels, and there are far fewer windows than users.
        """
        problem = self.problem
        wanting = np.flatnonzero(np.diff(problem.want_ptr))
        windows = windows_of(problem, wanting)
        below, most = np.zeros(problem.n_channels + 1), np.zeros(len(windows[0]))
        sends, gets = np.zeros(problem.n_users), np.zeros(problem.n_users)
        step = max(SLICE // (len(most) + len(below)), 1)
        for user in range(0, problem.n_users, step):
            check_stop(self.progress)
            stop = min(user + step, problem.n_users)
            scan_windows(user, stop, self.fixed, before, *windows[:2], below, sends, most)
        gets[wanting] = most[windows[2]]
        return sealed(sends), sealed(gets)

    def seed_broker(self, broker: int) -> None:
        """Put the best pair of users without a broker on `broker`, if any two fit."""
        price = sealed(self.problem.access[:, broker])
        demand, limit = self.problem.demand, self.fixed.capacity
        free = np.flatnonzero(self.assignment < 0)
        least = demand[free].min(initial=np.inf)
        free = free[demand[free] + least <= limit[broker]]
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = np.where(self.reach[free] > 0, self.reach[free] / price[free], 0.0)
        pair, ratio, doubt = np.full(2, -1, dtype=np.int64), np.zeros(2), 0.0

        def search(order: Ints, key: Floats) -> None:
            row, listed = 0, (sealed(order.astype(np.int64)), sealed(key), price)
            while row < len(order) - 1:
                check_stop(self.progress)
                so_far = self.fixed, self.known, doubt, (pair, ratio)
                row = best_pair(row, SLICE, listed, float(limit[broker]), *so_far)

        head = free[_largest(worth, STAGES[0])]
        search(head, np.zeros(len(head)))
        for size in (*STAGES[1:], None):
            unit = ratio[1] if ratio[0] > 0 else 1.0
            key = self.reach[free] * unit - ratio[0] * price[free]
            if pair[0] >= 0:  # keep those that could beat it, or equal it, with the most promising other
                doubt = ROUNDING * float((self.reach[free] * unit + ratio[0] * price[free]).max(initial=0))
                kept = key + key.max(initial=-np.inf) >= -doubt
                free, key = free[kept], key[kept]
            order = np.lexsort((free, price[free], -key))[:size]
            search(free[order], key[order])
            if size is not None and len(free) <= size:
                break
        if pair[0] >= 0:
            self.assignment[pair] = broker

    def join_all(self) -> int:
        """Count the pairs on their brokers, then let all others join; return the number without room."""
        n_users, n_brokers = self.problem.n_users, self.problem.n_brokers
        n_channels = self.problem.n_channels
        wanted, sent = np.zeros((n_channels, n_brokers)), np.zeros((n_channels + 1, n_brokers))
        load, scratch, unplaced = np.zeros(n_brokers), np.zeros(n_brokers), 0
        step = max(SLICE // max(n_channels * n_brokers, 1), 1)
        slices = [(0, n_users, scratch[:0])]
        slices += [(first, min(first + step, n_users), scratch) for first in range(0, n_users, step)]
        for first, stop, traffic in slices:
            check_stop(self.progress)
            unplaced += join_clusters(first, stop, self.fixed, wanted, sent, traffic, load, self.assignment)
            self.progress.advance((stop - first) * len(traffic[:1]))
        return unplaced


def windows_of(problem: ContentProblem, wanting: Longs) -> tuple[Ints, Ints, Longs]:
    """Return the distinct windows first..end-1 around what users want, and the window of each `wanting` user.

    If users x windows are too many, windows are widened to whole blocks of channels.
    """
    first = problem.want_first[problem.want_ptr[wanting]].astype(np.int64)
    last = problem.want_last[problem.want_ptr[wanting + 1] - 1].astype(np.int64)
    size = 1
    while True:
        keys, window = np.unique((first // size) * problem.n_channels + last // size, return_inverse=True)
        if len(keys) * problem.n_users <= WINDOW_WORK or size >= problem.n_channels:
            break
        size *= 2
    firsts = keys // max(problem.n_channels, 1) * size
    ends = np.minimum((keys % max(problem.n_channels, 1) + 1) * size, problem.n_channels)
    return sealed(firsts.astype(np.int32)), sealed(ends.astype(np.int32)), window


def running_sums(problem: ContentProblem) -> Floats:
    """Return the running sums of every user's rates, from 0 on: those of user i begin at rate_ptr[i] + i."""
    n_users, ptr = problem.n_users, problem.rate_ptr
    totals = np.concatenate([[0.0], np.cumsum(problem.rates)])
    owner = np.repeat(np.arange(n_users), np.diff(ptr) + 1)
    place = np.arange(len(problem.rates) + n_users) - owner
    return sealed(totals[place] - totals[ptr[owner]])


def _largest(values: Floats, count: int) -> Ints:
    """Return the places of the `count` largest values, in ascending order."""
    if len(values) <= count:
        return np.arange(len(values), dtype=np.int32)
    return np.sort(np.argpartition(-values, count - 1)[:count]).astype(np.int32)

"""The users and brokers of a content problem, ready to be simulated.

Users have the names 0, 1, ... in the order of the problem, brokers the numbers after them. The one attribute
of an event is the number of its channel, so a subscription is a range of channel numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import numpy as np

from topicloom.base.arrays import Bools, Ints, Longs
from topicloom.base.seeds import stream_key
from topicloom.content.brokers.broker import Broker
from topicloom.content.brokers.forwarding import RoutingTrees
from topicloom.content.brokers.messages import Name, Rates, Wants
from topicloom.content.brokers.settings import BrokerSettings
from topicloom.content.brokers.user import User
from topicloom.content.brokers.wants_and_rates import Channels
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.broker_trees import CoreModel


def wants_of(problem: ContentProblem, user: int) -> Wants:
    """Return what a user wants, half-open."""
    ends = slice(problem.want_ptr[user], problem.want_ptr[user + 1])
    first, last = problem.want_first[ends].tolist(), problem.want_last[ends].tolist()
    return tuple(((float(a), float(b + 1)),) for a, b in zip(first, last, strict=True))


def rates_of(problem: ContentProblem, user: int) -> Rates:
    """Return what a user publishes."""
    ends = slice(problem.rate_ptr[user], problem.rate_ptr[user + 1])
    return tuple(zip(problem.rate_channels[ends].tolist(), problem.rates[ends].tolist(), strict=True))


def make_users(
    problem: ContentProblem,
    start: Ints,
    told: Callable[[int], Rates | None],
    declines: Bools,
    settings: BrokerSettings,
) -> list[User]:
    """Make the users: each turns to its broker of `start` first, then to the others, cheapest first."""
    found = []
    for user in range(problem.n_users):
        home = problem.n_users + int(start[user])
        others = [problem.n_users + b for b in np.argsort(problem.access[user], kind="stable").tolist()]
        found.append(
            User(
                user,
                wants_of(problem, user),
                brokers=[home, *(other for other in others if other != home)],
                rates=told(user),
                policy=(lambda foreign: False) if declines[user] else (lambda foreign: True),
                settings=settings,
            )
        )
    return found


def make_brokers(problem: ContentProblem, scale: float, seed: int, settings: BrokerSettings) -> list[Broker]:
    """Make the brokers, with capacities times `scale`."""
    names = list(range(problem.n_users, problem.n_users + problem.n_brokers))
    model = CoreModel.of(problem.core, "free")
    trees, channels = RoutingTrees(names, problem.core), Channels.numbered(problem.n_channels)

    def prices(user: Name) -> Sequence[float]:
        row: list[float] = problem.access[int(user)].tolist()
        return row

    return [
        Broker(
            name,
            brokers=names,
            core=model,
            capacity=float(problem.capacity[place]) * scale,
            channels=channels,
            prices=prices,
            rng=Random(stream_key(seed, "content", "broker", str(place))),
            settings=settings,
            trees=trees,
        )
        for place, name in enumerate(names)
    ]


def with_traffic(problem: ContentProblem, traffic: Longs) -> ContentProblem:
    """Return the problem with user i publishing and wanting what user `traffic[i]` did, each of them once.

    >>> one = ContentProblem.of(["i", "j"], ["b"], [9.0], [[1.0], [2.0]], [[0.0]], 1,
    ...     rates=([0], [0], [3.0]), wants=([1], [0], [0]))
    >>> with_traffic(one, np.array([1, 0])).rate_ptr.tolist()
    [0, 0, 1]
    """
    now = np.argsort(traffic)
    return ContentProblem.of(
        problem.users,
        problem.brokers,
        problem.capacity,
        problem.access,
        problem.core,
        problem.n_channels,
        rates=(now[problem.rate_users], problem.rate_channels, problem.rates),
        wants=(now[problem.want_users], problem.want_first, problem.want_last),
    )

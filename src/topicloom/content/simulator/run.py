"""A whole simulation of migrating users: from a random start, round by round, with the exact cost of each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.base.seeds import generator
from topicloom.content.brokers.broker import Broker
from topicloom.content.brokers.messages import Rates
from topicloom.content.brokers.user import User
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.cost import measure_cost
from topicloom.content.simulator.population import make_brokers, make_users, rates_of, wants_of, with_traffic
from topicloom.content.simulator.scenario import ContentScenario
from topicloom.content.simulator.world import ContentCounters, ContentWorld
from topicloom.errors import UsageError
from topicloom.simulation.links import read_links

SLICE = 0.5  # simulated seconds between two checks for a stop
MOST_EVENTS = 20_000  # in a round, however few deliveries an event makes


@dataclass(frozen=True, slots=True)
class ContentOutcome:
    """The problem and the assignment at the end, and one row of figures per round.

    `control` counts control messages after everybody had registered; `messages` all messages by kind, up to
    the end of the last round: brokers go on while the last events arrive.
    """

    problem: ContentProblem
    assignment: Ints
    rows: list[dict[str, Any]]
    counters: ContentCounters
    settled: bool
    migrations: int
    control: int
    messages: dict[str, int]


class ContentRun:
    """One simulation from start to end; see `simulate_content`."""

    def __init__(
        self, problem: ContentProblem, start: Ints, scenario: ContentScenario, progress: Progress
    ) -> None:
        self.problem, self._scenario, self._progress = problem, scenario, progress
        self._original, self._start = problem, start
        self._values = scenario.values
        self.settings = scenario.settings(problem.n_brokers)
        self._known = 4 * self.settings.max_delay  # until every broker knows what a user has told
        self._travel = (problem.n_brokers + 3) * self.settings.max_delay
        self._draw = generator(scenario.seed, "content", "simulate")
        self._count = self._events_in_round()
        self._scale = self._event_scale()
        names = [*problem.users.to_pylist(), *problem.brokers.to_pylist()]
        if len(set(names)) < len(names) and Path(self._values["latency"]).is_file():
            name = next(name for name, times in Counter(names).items() if times > 1)
            raise UsageError(
                f"`latency={self._values['latency']}`: a user and a broker are both called {name!r}, so "
                "no file can say which one it means; give one latency or a range"
            )
        links = read_links(self._values["latency"], 0.0, len(names), scenario.seed, names)
        declines = self._draw.random(problem.n_users) < self._values["decline"]
        members: list[User | Broker] = [
            *make_users(problem, start, self._told_rates, declines, self.settings),
            *make_brokers(problem, self._scale, scenario.seed, self.settings),
        ]
        self.world = ContentWorld(members, links, self.settings.max_delay)
        # Whose rates and wants, of those in the problem as given, each user has now.
        self._traffic: Longs = np.arange(problem.n_users)
        self._rows: list[dict[str, Any]] = []
        self._registered = 0

    def finish(self) -> ContentOutcome:
        """Run to the end."""
        world, values, quiet, settled = self.world, self._values, 0, False
        users, spread = self.problem.n_users, min(self.settings.round / 4, self.settings.ping)
        for number in range(len(world.members)):  # one after the other, so pings are spread too
            world.start_at(spread * number / max(users, 1) if number < users else 0.0, number)
        self._progress.phase("simulate rounds", values["rounds"])
        self._advance(self.settings.round)
        self._registered = world.counters.control
        self._add_row()
        for _ in range(values["rounds"]):
            self._drift()
            self._publish()
            self._advance(world.now + self.settings.round)
            self._add_row()
            self._progress.advance()
            quiet = quiet + 1 if not self._rows[-1]["migrations"] else 0
            settled = 0 < values["settle"] <= quiet
            if settled:
                break
        last, messages = self._assignment(), dict(sorted(world.counters.messages.items()))
        self._advance(world.now + self.settings.ttl + self._travel)  # what is under way may arrive
        migrations, control = (
            sum(row[key] for row in self._rows) for key in ("migrations", "control_messages")
        )
        return ContentOutcome(
            self.problem, last, self._rows, world.counters, settled, migrations, control, messages
        )

    def _events_in_round(self) -> int:
        """Return how many events make as many deliveries as asked for, or hardly more."""
        problem = self.problem
        published = float(problem.rates.sum())
        received = float(problem.demand.sum()) - published
        count = self._values["deliveries"] * published / max(received, 1e-300)
        return int(max(1.0, min(count, MOST_EVENTS)))

    def _event_scale(self) -> float:
        """Return events per second here over those of the problem: brokers that count them see no others."""
        if self._values["rates"] != "counted":
            return 1.0
        total = float(self.problem.rates.sum())
        return self._count / self.settings.round / total if total else 1.0

    def _told_rates(self, user: int) -> Rates | None:
        return rates_of(self.problem, user) if self._values["rates"] == "told" else None

    def _drift(self) -> None:
        """Let some users exchange what they publish and want: the total demand stays the same."""
        count = round(self._values["drift"] * self.problem.n_users)
        if count < 2:
            return
        drifting = np.sort(self._draw.choice(self.problem.n_users, count, replace=False))
        self._traffic[drifting] = self._traffic[np.roll(drifting, int(self._draw.integers(1, count)))]
        self.problem = with_traffic(self._original, self._traffic)
        for user in drifting.tolist():
            wants, rates = wants_of(self.problem, user), self._told_rates(user)
            self.world.tell(user, partial(User.subscribe, wants=wants, now=self.world.now, rates=rates))

    def _publish(self) -> None:
        """Schedule the events of a round at random moments, by users and on channels as their rates say."""
        problem, now = self.problem, self.world.now
        total = float(problem.rates.sum())
        if not self._values["events"] or not total:
            return
        # No event is under way while wants change: who should get it would not be well defined.
        first, last = (self._known, self._travel) if self._values["drift"] else (0.0, 0.0)
        if first + last >= self.settings.round / 2:
            raise UsageError(
                f"`round={self.settings.round:g}`: with drift and events a round must be longer than "
                f"{2 * (first + last):g} s, or set a smaller max_delay"
            )
        count = self._count
        owners = problem.rate_users
        rows = self._draw.choice(len(owners), count, p=problem.rates / total)
        times = now + first + np.sort(self._draw.random(count)) * (self.settings.round - first - last)
        for row, time in zip(rows.tolist(), times.tolist(), strict=True):
            self.world.call_at(time, partial(self._event, int(owners[row]), int(problem.rate_channels[row])))

    def _event(self, user: int, channel: int, now: float) -> None:
        expected = set(self.problem.subscribers_of(channel).tolist()) - {user}
        # The whole channel is wanted or not: any value in it does.
        id = self.world.tell(user, partial(User.publish, point=(channel + 0.5,), payload=b"", now=now))
        self.world.counters.publish(id, expected)

    def _advance(self, until: float) -> None:
        while self.world.now < until:
            check_stop(self._progress)
            self.world.run(min(self.world.now + SLICE, until))

    def _assignment(self) -> Ints:
        """Return where everybody is; a user without a broker counts as at its start."""
        found = self._start.copy()
        for user in range(self.problem.n_users):
            broker = self.world.members[user].broker  # type: ignore[union-attr]
            if broker is not None:
                found[user] = int(broker) - self.problem.n_users
        return found

    def _add_row(self) -> None:
        cost = measure_cost(self.problem, self._assignment(), "free")
        counters, rows = self.world.counters, self._rows
        members, control = self.world.members, counters.control - self._registered
        arrived = sum(member.migration.arrived for member in members if isinstance(member, Broker))
        assert isfinite(cost.total)
        rows.append(
            {
                "round": len(rows),
                "time": self.world.now,
                "cost": cost.total,
                "access_cost": cost.access,
                "core_cost": cost.core,
                "overflow": cost.overflow,
                "migrations": arrived - sum(row["migrations"] for row in rows),
                "control_messages": control - sum(row["control_messages"] for row in rows),
                "published": counters.published,
                "delivered": counters.delivered,
            }
        )


def simulate_content(
    problem: ContentProblem, start: Ints, scenario: ContentScenario, *, progress: Progress = SILENT
) -> ContentOutcome:
    """Let users and brokers of `problem` run from the assignment `start`.

    >>> line = ContentProblem.of(["i", "j"], ["a", "b"], [9, 9], [[1, 2], [2, 1]], [[0, 5], [5, 0]], 1,
    ...     rates=([0], [0], [3.0]), wants=([1], [0], [0]))
    >>> scenario = ContentScenario.of(["deliveries=20"])
    >>> outcome = simulate_content(line, np.array([0, 1], dtype=np.int32), scenario)
    >>> outcome.assignment.tolist(), outcome.settled, outcome.counters.missing
    ([0, 0], True, 0)
    """
    return ContentRun(problem, start, scenario, progress).finish()

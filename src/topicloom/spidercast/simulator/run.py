"""Run a whole simulation: a population in its world, published events, snapshots in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import Any

from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.base.seeds import stream_key
from topicloom.errors import UsageError
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.model.interest import Interest
from topicloom.spidercast.simulator.connections import WORDS as CONNECTION_WORDS
from topicloom.spidercast.simulator.garbage import no_garbage_collection
from topicloom.spidercast.simulator.outages import Outage
from topicloom.spidercast.simulator.population import Population
from topicloom.spidercast.simulator.rest import QuietWatch, RestWatch
from topicloom.spidercast.simulator.scenario import PUBLISH_REST, TRACE_REST, Scenario
from topicloom.spidercast.simulator.snapshot import (
    LinkChange,
    Moment,
    link_changes,
    measure_moment,
    take_moment,
)
from topicloom.spidercast.simulator.world import World

SLICE = 0.1  # simulated seconds between two checks for a stop
LIMIT = 600.0  # simulated seconds after which a run that never settles is ended
RESTLESS = 10_000  # settled: at most one link change among so many nodes within the seconds of `settle`
CLOSE_LOOK = 20.0  # seconds after the last cut for which every slice is looked at
LINKS_NODES = 5_000  # up to so many nodes the links of every snapshot are kept
ALL_DIAMETERS = 5_000  # up to so many nodes `diameters=auto` measures diameters in every snapshot


@dataclass(frozen=True, slots=True)
class SimulationOutcome:
    """The last moment, and all snapshots in the order they were taken; the last is of that moment."""

    moment: Moment
    snapshots: list[dict[str, Any]]
    partitioned: list[tuple[float, str, int]]  # time, topic, components
    settled: bool
    occurrences: int
    messages: dict[str, int]
    healed_after: float | None = None  # seconds from the end of the last cut until no topic was split
    outages: list[Outage] = field(default_factory=list)
    crash_times: list[float] = field(default_factory=list)
    connections: dict[str, int] = field(default_factory=dict)  # how often nodes heard what of them
    links: tuple[LinkChange, ...] = ()  # what changed from snapshot to snapshot, of few enough nodes


class SimulationRun:
    """One simulation from start to end; see `simulate`."""

    def __init__(
        self, interest: Interest, scenario: Scenario, threads: int | None = None, progress: Progress = SILENT
    ) -> None:
        self._interest, self._scenario = interest, scenario
        self._threads, self._progress = threads, progress
        self.world = World(scenario.links(interest), reset=scenario.values["reset"])
        self.population = Population(self.world, interest, scenario)
        self._publishing = Random(stream_key(scenario.seed, "simulate", "publish"))
        self._snapshots: list[dict[str, Any]] = []
        self._partitioned: list[tuple[float, str, int]] = []
        self._healed_after: float | None = None
        self._links: list[LinkChange] = []
        self._linked: set[tuple[int, int]] = set()

    def finish(self) -> SimulationOutcome:
        """Run to the end."""
        with no_garbage_collection(self._interest.n_nodes):
            self._progress.phase("start nodes")
            end = self._end()
            self.population.begin()
            self._schedule(end)
            settled = self._advance(end)
            moment = self._snapshot(last=True)
        world = self.world
        sent = sorted((kind.__name__, count) for kind, count in world.counters.messages.items())
        return SimulationOutcome(
            moment,
            self._snapshots,
            self._partitioned,
            settled,
            world.occurrences,
            dict(sent),
            self._healed_after,
            self.population.outages.all,
            self.population.crash_times,
            {word: world.connections.told[word] for word in CONNECTION_WORDS},
            tuple(self._links),
        )

    def _end(self) -> float:
        seconds, last = float(self._scenario.values["seconds"]), self.population.trace_end()
        if seconds and last is not None and last > seconds:
            raise UsageError(
                f"`trace={self._scenario.values['trace']}`: it goes on until {last:g} s, after the end "
                "of the run; set seconds to more than that, or leave it out"
            )
        return seconds or (inf if last is None else last + TRACE_REST)

    def _schedule(self, end: float) -> None:
        """Schedule snapshots and publications."""
        values = self._scenario.values
        every = values["snapshot"]
        if every:
            self._repeat(every, (LIMIT if end == inf else end) - every / 2, self._snapshot)
        if values["publish"]:
            last = min(values["until"] or inf, end - PUBLISH_REST)
            self._repeat(1.0 / values["publish"], last, self._publish)

    def _repeat(self, every: float, last: float, action: Callable[[], object], step: int = 1) -> None:
        def again(now: float) -> None:
            action()
            self._repeat(every, last, action, step + 1)

        if step * every <= last:
            self.world.call_at(step * every, again)

    def _advance(self, end: float) -> bool:
        """Run to the end; without one until no node will act any more, or hardly a link changed for some
        seconds. Return True if it is settled then."""
        settles = end == inf
        stop = LIMIT if settles else end
        self._progress.phase("simulate", None if settles else stop)
        settle, last_fault = self._scenario.values["settle"], self.population.outages.last_end
        quiet = QuietWatch(self.world, settle, self._interest.n_nodes // RESTLESS)
        rest = RestWatch(self.world)
        steps = 0
        while self.world.now < stop:
            check_stop(self._progress)
            steps += 1
            before = self.world.now
            self.world.run(min(steps * SLICE, stop))
            self._progress.advance(self.world.now - before)
            quiet.look()
            self._look_if_healed()
            over = self.world.now - last_fault
            if settles and over >= 0 and quiet.calm and rest.look():
                return True
            if settles and over >= settle and quiet.reached:
                return True
        return quiet.reached

    def _look_if_healed(self) -> None:
        """Note when the topics are whole after the last cut: looked at ten times a second, later once."""
        healed = self.population.outages.healed
        if healed is None or self._healed_after is not None or self.world.now < healed:
            return
        since = self.world.now - healed
        if since > CLOSE_LOOK and round(since / SLICE) % 10:
            return
        moment = take_moment(self.world, self._interest, self.population.newcomers())
        if check_overlay(moment.interest, moment.overlay, n_witnesses=0).topics_partitioned == 0:
            self._healed_after = round(since, 6)

    def _publish(self) -> None:
        frozen = self.world.is_frozen
        here = sorted(node for node in self.population.settled_nodes() if not frozen(node))
        if not here:
            return
        node = self._publishing.choice(here)
        topics = sorted(map(int, self.world.present(node).interest))
        if topics:
            topic = self._publishing.choice(topics)
            self.world.publish(node, topic, self.population.subscribers(topic))

    def _snapshot(self, *, last: bool = False) -> Moment:
        moment = take_moment(self.world, self._interest, self.population.newcomers())
        figures, partitioned = measure_moment(
            moment,
            diameters=self._wants_diameters(last),
            threads=self._threads,
            progress=self._progress if last else SILENT,
        )
        self._snapshots.append(figures | self._counts())
        self._partitioned += [(moment.time, topic, parts) for topic, parts in partitioned.items()]
        if self._interest.n_nodes <= LINKS_NODES:
            self._linked, changes = link_changes(moment, self._linked)
            self._links += changes
        return moment

    def _wants_diameters(self, last: bool) -> bool:
        wish = self._scenario.values["diameters"]
        small = self._interest.n_nodes <= ALL_DIAMETERS
        return wish == "always" or (last and wish != "never") or (wish == "auto" and small)

    def _counts(self) -> dict[str, Any]:
        """Return the running totals at this moment."""
        counters, people = self.world.counters, self.population
        here = [node.event_counts for _, node in self.world.here()]
        hops = sorted(counters.hops.items())
        spread = {
            name: getattr(people, name) + sum(getattr(part, name) for part in here)
            for name in ("duplicates", "repaired", "late")
        }
        return {
            "control_messages": counters.control_messages,
            "heartbeats": counters.heartbeats,
            "event_messages": counters.event_messages,
            "messages_lost": counters.lost,
            "links_made": counters.links_made,
            "links_ended": counters.links_ended,
            **{name: getattr(people, name) for name in ("joins", "departures", "crashes")},
            "published": counters.published,
            "delivered": counters.delivered,
            **spread,
            "expected": counters.expected,
            "missing": counters.missing,
            "hops_avg": sum(hop * n for hop, n in hops) / counters.delivered if counters.delivered else None,
            "hops_max": hops[-1][0] if hops else None,
            "longest_wait": counters.waited if counters.published else None,
        }


def simulate(
    interest: Interest, scenario: Scenario, *, threads: int | None = None, progress: Progress = SILENT
) -> SimulationOutcome:
    """Run `scenario` on the nodes of `interest`.

    >>> interest = Interest.from_pairs([(node, topic) for node in "abcd" for topic in "xy"])
    >>> outcome = simulate(interest, Scenario.of("spidercast", ["kg=2"]))
    >>> outcome.settled, outcome.snapshots[-1]["topics_partitioned"]
    (True, 0)
    """
    return SimulationRun(interest, scenario, threads, progress).finish()

"""The nodes of a simulation: they join with a view, leave, crash and change what they want."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from topicloom.base.seeds import stream_key
from topicloom.overlay.model.interest import Interest
from topicloom.spidercast.protocol.gossip import Gossip
from topicloom.spidercast.protocol.membership import Membership
from topicloom.spidercast.protocol.messages import Descriptor
from topicloom.spidercast.protocol.node import Node
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.simulator.given_views import ViewTable
from topicloom.spidercast.simulator.node_changes import ChangeKind, NodeChange, own_topics
from topicloom.spidercast.simulator.outages import Outages
from topicloom.spidercast.simulator.scenario import Scenario
from topicloom.spidercast.simulator.world import World

ENTRY_POINTS = 3  # nodes that a joining node knows when views come by gossip


class Population:
    """The nodes of a world, with counts of how they came and went."""

    def __init__(self, world: World, interest: Interest, scenario: Scenario) -> None:
        self._world, self._interest, self._scenario = world, interest, scenario
        n_nodes, n_topics = interest.n_nodes, interest.n_topics
        self._views = None if scenario.gossip else ViewTable(n_nodes, n_topics, scenario.share, scenario.seed)
        self._rng = Random(stream_key(scenario.seed, "simulate", "nodes"))
        self._churn = scenario.churn(interest)
        self._trace = scenario.trace(interest)
        self.outages = Outages(world, interest, scenario, self._trace or ())
        self._lives = [0] * n_nodes
        self.joined: dict[int, float] = {}  # who is here, and since when
        self.joins = self.departures = self.crashes = 0
        self.crash_times: list[float] = []
        self.duplicates = self.repaired = self.late = 0  # of nodes that are away now

    def first_changes(self) -> list[NodeChange]:
        """Return the changes that are known from the start."""
        if self._trace is not None:
            return self._trace
        if self._churn is not None:
            return list(self._churn.first_changes())
        nodes = range(self._interest.n_nodes)
        return [NodeChange(0.0, node, ChangeKind.JOIN, own_topics(self._interest, node)) for node in nodes]

    def begin(self) -> None:
        """Carry out all changes of time 0, and schedule the others."""
        changes = self.first_changes()
        self.outages.begin()
        # Nodes that are here from the start must be known before the first of them looks for neighbors.
        for change in changes:
            if change.time == 0.0 and change.kind is ChangeKind.JOIN:
                self._add_to_views(change)
        for change in changes:
            if change.time == 0.0:
                self.carry_out(change)
            else:
                self._schedule(change)

    def trace_end(self) -> float | None:
        """Return the time of the last row of the trace."""
        return self._trace[-1].time if self._trace else None

    def settled_nodes(self) -> Iterator[int]:
        """Return the nodes that have been here for some time."""
        since = self._since()
        return (node for node, joined in self.joined.items() if joined <= since)

    def newcomers(self) -> set[int]:
        """Return the nodes that came a moment ago."""
        since = self._since()
        return {node for node, joined in self.joined.items() if joined > since}

    def _since(self) -> float:
        """Return the time after which a node that joined is new; those here from the start never are."""
        return max(0.0, self._world.now - float(self._scenario.values["fresh"]))

    def subscribers(self, topic: int) -> set[int]:
        """Return the nodes that have been here for some time and want `topic`."""
        return {node for node in self.settled_nodes() if topic in self._world.present(node).interest}

    def _schedule(self, change: NodeChange) -> None:
        self._world.call_at(change.time, lambda now: self.carry_out(change))

    def carry_out(self, change: NodeChange) -> None:
        """Carry out one change, and schedule the one after it."""
        world, node, topics = self._world, change.node, change.topics or ()
        match change.kind:
            case ChangeKind.JOIN:
                self._join(change)
            case ChangeKind.LEAVE:
                self._depart(node)
                world.leave(node)
                self._remove_from_views(node)
            case ChangeKind.CRASH:
                self._crash(node)
            case ChangeKind.SUBSCRIBE:
                world.tell(node, lambda found: found.subscribe(topics, world.now))
                self._update_views(node)
            case ChangeKind.UNSUBSCRIBE:
                world.counters.expect_no_more(node, topics)
                world.tell(node, lambda found: found.unsubscribe(topics, world.now))
                self._update_views(node)
            case ChangeKind.FREEZE:
                world.freeze(node)
            case ChangeKind.THAW:
                world.thaw(node)
            case ChangeKind.CUT | ChangeKind.HEAL:
                self.outages.cut_off(node, change.kind is ChangeKind.CUT, world.now)
            case ChangeKind.SLOW | ChangeKind.BANDWIDTH | ChangeKind.SETUP | ChangeKind.FIFO:
                self.outages.reshape(node, change.kind, change.value)
            case ChangeKind.PUBLISH:
                world.publish(node, topics[0], self.subscribers(topics[0]))
        if self._churn is not None:
            following = self._churn.next_change(node, change)
            if following is not None:
                self._schedule(following)

    def _join(self, change: NodeChange) -> None:
        node, scenario = change.node, self._scenario
        if change.time > 0.0 or self._lives[node]:
            self._add_to_views(change)
        self.joins += 1
        self.joined[node] = self._world.now
        self._lives[node] += 1
        self._world.enter(
            node,
            Node(
                node,
                change.topics or (),
                membership=lambda context: self._membership(node, context),
                rng=self._rng,
                settings=scenario.settings,
                goals=scenario.goals,
                incarnation=self._lives[node],
            ),
        )

    def _membership(self, node: int, context: NodeContext) -> Membership:
        if self._views is not None:
            return self._views.view_of(node)
        here = [other for other in self.joined if other != node]
        known = self._rng.sample(here, min(ENTRY_POINTS, len(here)))
        known = self.outages.both_sides(known, here)
        return Gossip(context, [self._described(other) for other in known])

    def _described(self, node: int) -> Descriptor:
        found = self._world.find(node)
        if found is None:  # it starts in the same moment
            return Descriptor(node, 1, 0.0, frozenset(own_topics(self._interest, node)), 1)
        return Descriptor(node, found.version, 0.0, found.interest, found.incarnation)

    def _depart(self, node: int) -> None:
        """Do what leaving and crashing have in common."""
        self.departures += 1
        del self.joined[node]
        spread = self._world.present(node).event_counts
        self.duplicates += spread.duplicates
        self.repaired += spread.repaired
        self.late += spread.late
        self._world.counters.expect_no_more(node)

    def _crash(self, node: int) -> None:
        self.crashes += 1
        self.crash_times.append(self._world.now)
        self._depart(node)
        self._world.crash(node)
        life = self._lives[node]

        def noticed(now: float) -> None:
            if self._lives[node] == life and node not in self.joined:
                self._remove_from_views(node)

        self._world.call_at(self._world.now + self._scenario.settings.detector, noticed)

    def _add_to_views(self, change: NodeChange) -> None:
        if self._views is not None:
            self._views.enter(change.node, change.topics or ())
        elif change.time == 0.0:
            self.joined[change.node] = 0.0  # gossip: may be named to others as one who is here

    def _remove_from_views(self, node: int) -> None:
        if self._views is not None:
            self._views.forget(node)

    def _update_views(self, node: int) -> None:
        if self._views is not None:
            self._views.set_topics(node, map(int, self._world.present(node).interest))

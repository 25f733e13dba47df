"""A SpiderCast node: two maintenance tasks, a membership, dissemination, behind one interface.

No clock, no socket, no thread, no randomness of its own: every call brings `now` (seconds on any steady
clock), effects are taken with `take_effects`, and `next_timer` says when `handle_timer` wants to be called.
A fault of a remote node never raises out of `receive`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from random import Random
from typing import Any

from topicloom.errors import UsageError
from topicloom.spidercast.protocol import messages as msg
from topicloom.spidercast.protocol.dissemination import Dissemination
from topicloom.spidercast.protocol.goals import Coverage, NodeGoals
from topicloom.spidercast.protocol.maintenance import MaintenanceTask
from topicloom.spidercast.protocol.membership import Membership
from topicloom.spidercast.protocol.messages import (
    EventId,
    EventMessage,
    Message,
    NodeId,
    TaskId,
    Topic,
    Topics,
)
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.protocol.settings import ProtocolSettings
from topicloom.wire.core import BaseCore, Close, LinkDown, LinkUp, Send

MAX_KR = 4  # adaptive K_r [Chockler2007b, 3.3.1] is raised while it is at most 3


class Node(BaseCore):
    """One participant; see the file's head for how it is driven."""

    __slots__ = ("_links", "_tasks", "context", "dissemination", "goals", "membership", "running")

    def __init__(
        self,
        name: NodeId,
        interest: Iterable[Topic],
        *,
        membership: Callable[[NodeContext], Membership],
        rng: Random,
        settings: ProtocolSettings | None = None,
        goals: NodeGoals | None = None,
        version: int = 1,
    ) -> None:
        """`version` of the interest must be higher after each restart of the same node."""
        self.goals = goals or NodeGoals()
        wanted: Topics = frozenset(interest)
        self.context = NodeContext(name, wanted, version, settings or ProtocolSettings(), rng)
        super().__init__(self.context.effects)
        self.membership = membership(self.context)
        self.dissemination = Dissemination(self.context)
        self._tasks: tuple[MaintenanceTask, ...] = tuple(
            MaintenanceTask(task, self.context, self.membership, goal, choice, self)
            for task, (goal, choice) in zip(TaskId, self.goals.of_tasks(wanted), strict=True)
        )
        self._links: dict[NodeId, int] = {}  # neighbor -> how many of the tasks want it
        self.running = False

    # -- what a driver calls ----------------------------------------------------------------------------

    def start(self, now: float) -> None:
        """Begin to look for neighbors."""
        self.running = True
        for topic in self.context.interest:
            self.dissemination.subscribed(topic, now)
        self.membership.start(now)
        for task in self._tasks:
            task.start(now)
        self._rearm()

    def receive(self, peer: NodeId, message: Message, now: float) -> None:
        """Handle a message from `peer`. Nothing that a peer says raises."""
        if not self.running:
            if type(message) is msg.Heartbeat:
                self.context.send(peer, msg.Leave(message.task, gone=True))
            return
        if type(message) is msg.Heartbeat:  # by far the most frequent one
            task = self._tasks[message.task]
            known = task.neighbors.get(peer)
            if known is not None and known.heartbeat is message:  # and nearly always the same as before
                known.heard = now
                return
            if task.on_heartbeat(peer, message, now):
                self.context.send(peer, msg.AskInterest())
            if task.wake < self._due:
                self._due = task.wake
            return
        if peer == self.context.name:
            self._effects.append(Close(peer, "it has our own name"))
            return
        handler = _HANDLERS.get(type(message))
        if handler is None:
            self._close(peer, f"unknown message {type(message).__name__}", now)
            return
        handler(self, peer, message, now)

    def subscribe(self, topics: Iterable[Topic], now: float) -> None:
        """Want more topics."""
        added = frozenset(topics) - self.context.interest
        if added:
            self._change_interest(self.context.interest | added, now)
            for topic in added:
                self.dissemination.subscribed(topic, now)

    def unsubscribe(self, topics: Iterable[Topic], now: float) -> None:
        """Want fewer topics; topics that are not wanted anyway are ignored."""
        removed = self.context.interest & frozenset(topics)
        if removed:
            self._change_interest(self.context.interest - removed, now)
            for topic in removed:
                self.dissemination.unsubscribed(topic, now)

    def publish(self, topic: Topic, payload: bytes, now: float) -> EventId:
        """Publish on one of the node's own topics."""
        if not self.running:
            raise UsageError(f"node {self.context.name}: it has left or not started; it cannot publish")
        if not isinstance(payload, bytes):
            raise UsageError(f"node {self.context.name}: a payload is bytes, not {type(payload).__name__}")
        if topic not in self.context.interest:
            raise UsageError(f"node {self.context.name}: publish on topic {topic} needs a subscription to it")
        event = self.dissemination.publish(topic, payload, now)
        self._due = min(self._due, self.dissemination.next_timer())
        return event

    def leave(self, now: float) -> None:
        """Tell the neighbors, and stop."""
        for task in self._tasks:
            task.leave(now)
        self.running = False
        self._due = inf

    def handle_timer(self, now: float) -> None:
        """Do what is due; calling it too early does no harm."""
        if not self.running:
            return
        greedy, random = self._tasks
        # The round of announcements goes by the first task that speaks: greedy may be asleep.
        spoke = (greedy.beat if greedy.beat < inf else random.beat) <= now
        if greedy.wake <= now or greedy.beat <= now or greedy.alarm <= now:
            greedy.handle_timer(now)
            if self.goals.adaptive:
                self._adapt(now)
        if random.wake <= now or random.beat <= now or random.alarm <= now:
            random.handle_timer(now)
        if spoke:
            self.dissemination.announce_again(now)
        members, events = self.membership.next_timer(), self.dissemination.next_timer()
        if members <= now:
            self.membership.handle_timer(now)
            members = self.membership.next_timer()
        if events <= now:
            self.dissemination.handle_timer(now)
            events = self.dissemination.next_timer()
        self._set_due(members, events)

    def dismantle(self) -> None:
        """Let go of the tasks, which refer to the node: then no garbage collector is needed."""
        self._tasks = ()

    # -- what others may look at ------------------------------------------------------------------------

    @property
    def name(self) -> NodeId:
        return self.context.name

    @property
    def interest(self) -> Topics:
        return self.context.interest

    @property
    def neighbors(self) -> tuple[NodeId, ...]:
        """The other ends of all live links, oldest first."""
        return tuple(self._links)

    def has_link(self, peer: NodeId) -> bool:
        return peer in self._links

    def task(self, id: TaskId) -> MaintenanceTask:
        return self._tasks[id]

    # -- what the tasks tell: Links ---------------------------------------------------------------------

    def linked(self, peer: NodeId, shared: Topics, now: float) -> None:
        count = self._links.get(peer, 0)
        self._links[peer] = count + 1
        if not count:
            self._effects.append(LinkUp(peer))
            self.dissemination.link_up(peer, shared, now)

    def unlinked(self, peer: NodeId, reason: str, now: float) -> None:
        count = self._links[peer] - 1
        if count:
            self._links[peer] = count
            return
        del self._links[peer]
        self._effects.append(LinkDown(peer, reason))
        self.dissemination.link_down(peer, now)

    # -- inside -----------------------------------------------------------------------------------------

    def _close(self, peer: NodeId, reason: str, now: float) -> None:
        """Drop `peer` and have its connection closed."""
        for task in self._tasks:
            task.drop(peer, reason, now)
        self._effects.append(Close(peer, reason))
        self._rearm()

    def _rearm(self) -> None:
        if self.running:  # nothing is due before `start` and after `leave`
            self._set_due(self.membership.next_timer(), self.dissemination.next_timer())

    def _set_due(self, members: float, events: float) -> None:
        greedy, random = self._tasks
        self._due = min(
            greedy.wake, greedy.beat, greedy.alarm, random.wake, random.beat, random.alarm, members, events
        )

    def _adapt(self, now: float) -> None:
        """Raise K_r (3.3.1): few links mean interests too much alike, so random ones must help."""
        random = self._tasks[TaskId.RANDOM].goal
        if not isinstance(random, Coverage) or random.k >= MAX_KR:
            return
        if not all(task.content for task in self._tasks):
            return
        degree = len(self._links)
        few = degree <= self.goals.greedy if random.k == 0 else degree < len(self.context.interest)
        if few and degree:
            random.raise_k()
            self._tasks[TaskId.RANDOM].interest_changed(now)

    def _change_interest(self, interest: Topics, now: float) -> None:
        self.context.interest = interest
        self.context.version += 1
        self.membership.interest_changed(now)
        for task in self._tasks:
            task.interest_changed(now)
        self._shared_changed(self._links, now)
        if self._links:
            told = msg.TellInterest(self.context.version, interest)
            self._effects.append(Send(tuple(self._links), told))
        self._rearm()

    def _shared_changed(self, peers: Iterable[NodeId], now: float) -> None:
        for peer in peers:
            for task in self._tasks:
                neighbor = task.neighbors.get(peer)
                if neighbor is not None:
                    self.dissemination.shared_changed(peer, neighbor.shared, now)
                    break

    def _on_task(self, peer: NodeId, message: Any, now: float) -> None:
        task = self._tasks[message.task]
        _TASK_HANDLERS[type(message)](task, peer, message, now)
        self._due = min(self._due, task.wake, task.beat, self.dissemination.next_timer())

    def _on_connect(self, peer: NodeId, message: msg.Connect | msg.ConnectOk, now: float) -> None:
        before = self._known_interest(peer)
        self._on_task(peer, message, now)
        if before is not None and before != message.interest and peer in self._links:
            self._learn(peer, message.version, message.interest, now)

    def _known_interest(self, peer: NodeId) -> Topics | None:
        for task in self._tasks:
            if peer in task.neighbors:
                return task.neighbors[peer].interest
        return None

    def _on_ask_interest(self, peer: NodeId, message: msg.AskInterest, now: float) -> None:
        self.context.send(peer, msg.TellInterest(self.context.version, self.context.interest))

    def _on_tell_interest(self, peer: NodeId, message: msg.TellInterest, now: float) -> None:
        self.membership.heard(peer, message.version, message.interest, now)
        self._learn(peer, message.version, message.interest, now)

    def _learn(self, peer: NodeId, version: int, interest: Topics, now: float) -> None:
        if peer not in self._links:
            return
        for task in self._tasks:
            task.learn(peer, version, interest, now)
        self._shared_changed((peer,), now)
        self._rearm()

    def _on_membership(self, peer: NodeId, message: msg.Shuffle | msg.ShuffleReply, now: float) -> None:
        self.membership.receive(peer, message, now)
        self._due = min(self._due, self.membership.next_timer())

    def _on_dissemination(self, peer: NodeId, message: EventMessage, now: float) -> None:
        self.dissemination.receive(peer, message, now)
        self._due = min(self._due, self.dissemination.next_timer())


_TASK_HANDLERS: dict[type, Callable[..., None]] = {
    msg.Connect: MaintenanceTask.on_connect,
    msg.ConnectOk: MaintenanceTask.on_connect_ok,
    msg.Redirect: MaintenanceTask.on_redirect,
    msg.Disconnect: MaintenanceTask.on_disconnect,
    msg.DisconnectOk: MaintenanceTask.on_disconnect_ok,
    msg.Leave: MaintenanceTask.on_leave,
}
_HANDLERS: dict[type, Callable[..., None]] = {
    **dict.fromkeys(_TASK_HANDLERS, Node._on_task),
    **dict.fromkeys((msg.Connect, msg.ConnectOk), Node._on_connect),
    **dict.fromkeys((msg.Shuffle, msg.ShuffleReply), Node._on_membership),
    **dict.fromkeys((msg.Event, msg.Have, msg.Want, msg.Prune), Node._on_dissemination),
    msg.AskInterest: Node._on_ask_interest,
    msg.TellInterest: Node._on_tell_interest,
}

"""The parts of a node joined: what happens to all of them when a link comes or goes, and on each message."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from typing import Any

from topicloom.spidercast.protocol import messages as msg
from topicloom.spidercast.protocol.dissemination import Dissemination
from topicloom.spidercast.protocol.goals import NodeGoals
from topicloom.spidercast.protocol.maintenance import MaintenanceTask
from topicloom.spidercast.protocol.membership import Membership
from topicloom.spidercast.protocol.messages import EventMessage, NodeId, TaskId, Topics
from topicloom.spidercast.protocol.node_state import NodeContext
from topicloom.spidercast.protocol.probes import Probes
from topicloom.spidercast.protocol.roots import NO_ROOTS, TopicRoots
from topicloom.wire.core import BaseCore, Close, LinkDown, LinkUp


class NodeParts(BaseCore):
    """What `Node` is made of. Without `goals.root` there are neither roots nor probes."""

    __slots__ = (
        "_context", "_dissemination", "_links", "_membership", "_probes", "_roots", "_tasks", "goals",
        "running",
    )  # fmt: skip

    def __init__(
        self, context: NodeContext, goals: NodeGoals, membership: Callable[[NodeContext], Membership]
    ) -> None:
        super().__init__(context.effects)
        self._context, self.goals = context, goals
        self._roots = context.roots = TopicRoots(context) if goals.root and goals.by_coverage else None
        self._membership = membership(context)
        self._dissemination = Dissemination(context)
        self._tasks: tuple[MaintenanceTask, ...] = tuple(
            MaintenanceTask(task, context, self._membership, goal, choice, self, self._roots)
            for task, (goal, choice) in zip(TaskId, goals.of_tasks(context.interest), strict=True)
        )
        self._probes: Probes | None = None
        if self._roots is not None:
            self._probes = Probes(context, self._roots, self._membership)
        self._links: dict[NodeId, int] = {}  # neighbor -> how many of the tasks want it
        self.running = False

    @property
    def neighbors(self) -> tuple[NodeId, ...]:
        """The other ends of all live links, oldest first."""
        return tuple(self._links)

    # -- what the tasks tell: LinkObserver --------------------------------------------------------------

    def linked(self, peer: NodeId, shared: Topics, message: msg.Introduction, now: float) -> None:
        count = self._links.get(peer, 0)
        self._links[peer] = count + 1
        if count:
            return
        self._effects.append(LinkUp(peer))
        self._dissemination.link_up(peer, shared, now)
        if self._roots is not None and self._probes is not None:
            self._probes.linked(peer, message.roots, now)
            self._roots.link_up(peer, shared, message.number, message.roots, now)
            self._hurry()

    def unlinked(self, peer: NodeId, reason: str, now: float) -> None:
        count = self._links[peer] - 1
        if count:
            self._links[peer] = count
            return
        del self._links[peer]
        self._effects.append(LinkDown(peer, reason))
        self._dissemination.link_down(peer, now)
        if self._roots is not None:
            self._roots.link_down(peer, now)
            self._hurry()

    def _hurry(self) -> None:
        """Send the next heartbeats early if a root changed that neighbors must hear of."""
        urgent = inf if self._roots is None else self._roots.urgent
        for task in self._tasks:
            if task.neighbors and task.beat > urgent:
                task.beat = urgent

    def _tell_at_once(self, now: float) -> None:
        """Send the heartbeats that are due since a neighbor was given up in this very moment."""
        self._hurry()
        while any(task.beat <= now for task in self._tasks):
            for task in self._tasks:
                if task.beat <= now:
                    task.handle_timer(now)
            self._hurry()

    # -- timers -----------------------------------------------------------------------------------------

    def _close(self, peer: NodeId, reason: str, now: float) -> None:
        """Drop `peer` and have its connection closed."""
        for task in self._tasks:
            task.drop(peer, reason, now)
        self._effects.append(Close(peer, reason))
        self._rearm()

    def _give_up(self, peer: NodeId, reason: str, now: float) -> None:
        if self.running:
            for task in self._tasks:
                task.drop(peer, reason, now)
            self._rearm()

    def _excuse_stall(self, now: float) -> None:
        """Take the time for which this process was paused off the silence of its neighbors: they may have
        spoken, and nobody listened."""
        stall = now - self._due
        if stall > self._context.settings.heartbeat:
            for task in self._tasks:
                task.excuse(self._due, stall)

    def _rearm(self) -> None:
        if self.running:  # nothing is due before `start` and after `leave`
            self._set_due(self._membership.next_timer(), self._dissemination.next_timer())

    def _set_due(self, members: float, events: float) -> None:
        greedy, random = self._tasks
        due = min(
            greedy.wake, greedy.beat, greedy.alarm, random.wake, random.beat, random.alarm, members, events
        )
        if self._roots is not None and self._probes is not None:
            due = min(due, self._roots.due, self._probes.due)
        self._due = due

    # -- messages ---------------------------------------------------------------------------------------

    def _on_heartbeat(self, peer: NodeId, message: msg.Heartbeat, now: float) -> None:
        """Handle one that is not the same as before."""
        task = self._tasks[message.task]
        ask = task.on_heartbeat(peer, message, now)
        if self._roots is not None and peer in task.neighbors:
            if self._roots.tell(peer, message.number, message.roots, now):
                ask = True
                task.neighbors[peer].heartbeat = None  # as often as it is said: an answer may be lost
            self._hurry()
            self._due = min(self._due, task.beat, self._roots.due)
        if ask:
            self._context.send(peer, msg.AskInterest())
        if task.wake < self._due:
            self._due = task.wake

    def _ask_again(self, peer: NodeId) -> None:
        """See to it that at its next heartbeat a neighbor is asked for all its roots."""
        if self._roots is not None:
            self._roots.miss(peer)
        for task in self._tasks:
            if peer in task.neighbors:
                task.neighbors[peer].heartbeat = None

    def _on_task(self, peer: NodeId, message: Any, now: float) -> None:
        task = self._tasks[message.task]
        TASK_HANDLERS[type(message)](task, peer, message, now)
        if self._roots is None:
            self._due = min(self._due, task.wake, task.beat, self._dissemination.next_timer())
        else:
            self._rearm()  # roots may have changed, and with them any timer

    def _on_connect(self, peer: NodeId, message: msg.Introduction, now: float) -> None:
        self._context.note_address(peer, message.address, first_hand=True)
        known = peer in self._links
        before = self._known_interest(peer)
        self._on_task(peer, message, now)
        if known and peer in self._links and (before != message.interest or self._roots is not None):
            self._learn(peer, message, now)

    def _known_interest(self, peer: NodeId) -> Topics | None:
        for task in self._tasks:
            if peer in task.neighbors:
                return task.neighbors[peer].interest
        return None

    def _on_ask_interest(self, peer: NodeId, message: msg.AskInterest, now: float) -> None:
        self._context.send(peer, self._own_interest())

    def _own_interest(self) -> msg.TellInterest:
        context, roots = self._context, self._roots
        number, table = (0, NO_ROOTS) if roots is None else (roots.number, roots.all())
        return msg.TellInterest(context.version, context.interest, context.life, number, table)

    def _on_tell_interest(self, peer: NodeId, message: msg.TellInterest, now: float) -> None:
        self._membership.heard(peer, message.life, message.version, message.interest, now)
        self._learn(peer, message, now)

    def _learn(self, peer: NodeId, message: msg.Introduction | msg.TellInterest, now: float) -> None:
        """Take what a neighbor says of its interest and its roots."""
        if peer not in self._links:
            return
        for task in self._tasks:
            task.learn(peer, message.life, message.version, message.interest, now)
        self._shared_changed((peer,), now)
        if self._roots is not None:
            shared = self._context.interest & message.interest
            self._roots.tell_all(peer, shared, message.number, message.roots, now)
            self._hurry()
        self._rearm()

    def _shared_changed(self, peers: Iterable[NodeId], now: float) -> None:
        for peer in peers:
            for task in self._tasks:
                neighbor = task.neighbors.get(peer)
                if neighbor is not None:
                    self._dissemination.shared_changed(peer, neighbor.shared, now)
                    break

    def _on_probe(self, peer: NodeId, message: msg.Probe, now: float) -> None:
        if self._roots is None or self._probes is None or peer in self._links:
            return
        greedy = self._tasks[TaskId.GREEDY]
        if self._roots.differ(message.roots, now) and greedy.invite(peer, now):
            self._probes.raise_alarm(now)
        self._rearm()

    def _on_membership(self, peer: NodeId, message: msg.Shuffle | msg.ShuffleReply, now: float) -> None:
        self._membership.receive(peer, message, now)
        self._due = min(self._due, self._membership.next_timer())
        if self._context.suspects and self._probes is not None:
            self._probes.hurry(now)
            self._due = min(self._due, self._probes.due)

    def _on_dissemination(self, peer: NodeId, message: EventMessage, now: float) -> None:
        self._dissemination.receive(peer, message, now)
        self._due = min(self._due, self._dissemination.next_timer())


TASK_HANDLERS: dict[type, Callable[..., None]] = {
    msg.Connect: MaintenanceTask.on_connect,
    msg.ConnectOk: MaintenanceTask.on_connect_ok,
    msg.Redirect: MaintenanceTask.on_redirect,
    msg.Disconnect: MaintenanceTask.on_disconnect,
    msg.DisconnectOk: MaintenanceTask.on_disconnect_ok,
    msg.Leave: MaintenanceTask.on_leave,
}
HANDLERS: dict[type, Callable[..., None]] = {
    **dict.fromkeys(TASK_HANDLERS, NodeParts._on_task),
    **dict.fromkeys((msg.Connect, msg.ConnectOk), NodeParts._on_connect),
    **dict.fromkeys((msg.Shuffle, msg.ShuffleReply), NodeParts._on_membership),
    **dict.fromkeys((msg.Event, msg.Have, msg.Want, msg.Graft, msg.Prune), NodeParts._on_dissemination),
    msg.AskInterest: NodeParts._on_ask_interest,
    msg.TellInterest: NodeParts._on_tell_interest,
    msg.Probe: NodeParts._on_probe,
}

"""What a node makes of each message: one method each, found by the message's type in `HANDLERS`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from typing import Any

from topicloom.spidercast.protocol import messages as msg
from topicloom.spidercast.protocol.maintenance import MaintenanceTask
from topicloom.spidercast.protocol.messages import EventMessage, NodeId, TaskId, Topics
from topicloom.spidercast.protocol.node_parts import NodeParts
from topicloom.spidercast.protocol.node_state import most_unread
from topicloom.spidercast.protocol.roots import NO_ROOTS, TopicRoots
from topicloom.wire.messages import Unknown


class NodeMessages(NodeParts):
    """The parts of a node, and its answers."""

    __slots__ = ()

    def _on_heartbeat(self, peer: NodeId, message: msg.Heartbeat, now: float) -> None:
        """Handle one that is not the same as before; those that were put off, if many, first."""
        unread = self._context.unread
        if self._roots is not None and unread and len(unread) >= most_unread(message):
            self._read_heartbeats(self._roots, now)
        task = self._tasks[message.task]
        ask = task.on_heartbeat(peer, message, now)
        if self._roots is not None:
            if peer in task.neighbors and self._roots.tell(peer, message.number, message.roots, now):
                ask = True
                task.neighbors[peer].heartbeat = None  # as often as it is said: an answer may be lost
            if self._roots.urgent < inf:
                self._hurry()
                self._due = min(self._due, task.beat)
            if self._roots.due < self._due:
                self._due = self._roots.due
        if ask:
            self._context.send(peer, msg.AskInterest())
        if task.wake < self._due:
            self._due = task.wake

    def _read_heartbeats(self, roots: TopicRoots, now: float) -> None:
        """Read the heartbeats that were put off: those of one neighbor in their order."""
        unread = self._context.unread or []
        asked: dict[NodeId, None] = {}
        tasks, told = self._tasks, roots.told
        for peer, message in unread:
            task = tasks[message.task]
            neighbor = task.neighbors.get(peer)
            # What it said before a restart tells nothing of the roots that it names now.
            if neighbor is None or message.life < neighbor.life:
                continue
            if message is neighbor.heartbeat and task.read(neighbor, message):  # else it said more since
                asked[peer] = None
            if message.number > told[peer] and roots.tell(peer, message.number, message.roots, now):
                asked[peer] = neighbor.heartbeat = None
        for peer in asked:
            self._context.send(peer, msg.AskInterest())
        roots.look_if_over(now)
        unread.clear()
        if not roots.begins:
            self._context.unread = None
            for task in self._tasks:
                for neighbor in task.neighbors.values():
                    neighbor.unread = None

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
        due, events = self._due, self._dissemination.next_timer()
        if task.wake < due:
            due = task.wake
        if task.beat < due:
            due = task.beat
        if events < due:
            due = events
        if self._roots is not None and self._probes is not None:
            due = min(due, self._roots.due, self._probes.due)
        self._due = due

    def _on_connect(self, peer: NodeId, message: msg.Introduction, now: float) -> None:
        self._context.addresses.note(peer, message.address, first_hand=True)
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
        # Twice: news of roots come with an early heartbeat, and an answer may be lost.
        if self._context.answers.may_answer(msg.AskInterest, peer, now, known=peer in self._links, most=2):
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
        if not self._context.answers.may_answer(msg.Probe, peer, now):
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

    def _on_unknown(self, peer: NodeId, message: Unknown, now: float) -> None:
        if not message.newer:
            self._close(peer, f"unknown message {message.kind}", now)

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
    **dict.fromkeys(TASK_HANDLERS, NodeMessages._on_task),
    **dict.fromkeys((msg.Connect, msg.ConnectOk), NodeMessages._on_connect),
    **dict.fromkeys((msg.Shuffle, msg.ShuffleReply), NodeMessages._on_membership),
    **dict.fromkeys((msg.Event, msg.Have, msg.Want, msg.Graft, msg.Prune), NodeMessages._on_dissemination),
    msg.AskInterest: NodeMessages._on_ask_interest,
    msg.TellInterest: NodeMessages._on_tell_interest,
    msg.Probe: NodeMessages._on_probe,
    Unknown: NodeMessages._on_unknown,
}

"""The neighbors of one maintenance task, and the books it keeps of them: who is here, doubted, needed.

Nothing here decides to look for a neighbor or to answer one: `link_messages.py` and `maintenance.py` do.
"""

from __future__ import annotations

from math import inf
from typing import Protocol

from topicloom.spidercast.protocol import messages as msg
from topicloom.spidercast.protocol.goals import Goal
from topicloom.spidercast.protocol.link_rules import LinkState
from topicloom.spidercast.protocol.membership import Membership, NeighborChoice
from topicloom.spidercast.protocol.messages import NodeId, SharedTopics, TaskId, Topics
from topicloom.spidercast.protocol.node_state import Neighbor, NodeContext, Requests
from topicloom.spidercast.protocol.roots import NO_ROOTS, TopicRoots
from topicloom.wire.core import Send


class LinkObserver(Protocol):
    """Who must know of a task's neighbors: the node, which joins the links of both tasks."""

    @property
    def neighbors(self) -> tuple[NodeId, ...]:
        """The neighbors of both tasks."""

    def linked(self, peer: NodeId, shared: SharedTopics, message: msg.Introduction, now: float) -> None:
        """Note that `peer` became a neighbor of the task."""

    def unlinked(self, peer: NodeId, reason: str, now: float) -> None:
        """Note that it is a neighbor of the task no longer."""


class TaskNeighbors:
    """The neighbors of one task; its timers: `wake` (maintenance), `beat` (heartbeats), `alarm` (silence)."""

    __slots__ = (
        "_context", "_heartbeat", "_membership", "_moves", "_observer", "_out_of_reach", "_parted",
        "_requests", "_roots", "_some_would_part", "_turn",
        "alarm", "beat", "choice", "goal", "id", "neighbors", "target", "wake",
    )  # fmt: skip

    def __init__(
        self,
        id: TaskId,
        context: NodeContext,
        membership: Membership,
        goal: Goal,
        choice: NeighborChoice,
        observer: LinkObserver,
        roots: TopicRoots | None = None,
    ) -> None:
        self.id, self.goal, self.choice = id, goal, choice
        self._context, self._membership, self._observer = context, membership, observer
        self.neighbors: dict[NodeId, Neighbor] = {}
        self.target = goal.limit
        self._requests = Requests()
        self._roots = roots
        self._out_of_reach = 0  # how much of what is lacking nobody known can give
        self._heartbeat: msg.Heartbeat | None = None
        self._turn = -inf  # when maintenance ran last
        self._moves = 0  # how far the roots had moved at the last heartbeat
        self._some_would_part = False  # a neighbor may have asked in vain to part
        self._parted = -inf  # when somebody was last asked to part
        self.wake = self.beat = self.alarm = inf

    def state_of(self, peer: NodeId, now: float) -> LinkState:
        """Return what `peer` is to this task, in the words of `link_rules.py`."""
        neighbor = self.neighbors.get(peer)
        if neighbor is None:
            return LinkState.ASKED if self._requests.is_asked(peer, now) else LinkState.STRANGER
        if neighbor.doubted:
            return LinkState.DOUBTED
        return LinkState.PARTING if self._asked_until(neighbor) > now else LinkState.LINKED

    @property
    def content(self) -> bool:
        """Whether nothing is lacking that any known node could give."""
        return self.goal.lacking <= self._out_of_reach

    # -- needed or not ----------------------------------------------------------------------------------

    def _is_needed(self, peer: NodeId, neighbor: Neighbor) -> bool:
        """Tell whether its loss would cost a topic its coverage, or its only path to the root."""
        if self.goal.needs(neighbor.shared):
            return True
        return self._roots is not None and self._roots.needs(peer)

    def needs(self, peer: NodeId) -> bool:
        """Tell whether `peer` is a neighbor that this task would not let go."""
        return peer in self.neighbors and self._is_needed(peer, self.neighbors[peer])

    @property
    def last_word(self) -> msg.Heartbeat | None:
        """The last heartbeat that was sent, if it still says how the task stands."""
        last, context = self._heartbeat, self._context
        if last is None or (last.degree, last.target) != (len(self.neighbors), self.target):
            return None
        return last if last.version == context.version else None

    def _may_go(self, peer: NodeId, neighbor: Neighbor, now: float) -> bool:
        """Tell whether it is one to ask to part."""
        return (
            neighbor.degree >= neighbor.target
            and not self.goal.needs(neighbor.shared)
            and self._asked_until(neighbor) <= now
            and not (self._roots is not None and self._roots.needs(peer))
        )

    def _has_room(self) -> bool:
        return len(self.neighbors) < self.goal.limit + self._context.settings.margin

    def _is_stranger(self, peer: NodeId, now: float) -> bool:
        known = peer in self.neighbors or peer == self._context.name
        return not known and not self._requests.is_asked(peer, now)

    def _asked_until(self, neighbor: Neighbor) -> float:
        """Return until when it gets no second DISCONNECT."""
        return neighbor.asked + self._context.settings.disconnect_quarantine

    def _wake_soon(self, now: float) -> None:
        """Ask for a turn of maintenance soon, but not sooner than `connect_timeout` allows."""
        self.wake = min(self.wake, self._soon(now))

    def _soon(self, now: float) -> float:
        return max(now, self._turn + self._context.settings.connect_timeout)

    def _introduction(self) -> tuple[object, ...]:
        """Return the fields of CONNECT and CONNECT-OK."""
        context, roots, settings = self._context, self._roots, self._context.settings
        number, all_roots = (0, NO_ROOTS) if roots is None else (roots.number, roots.all())
        return (
            self.id, len(self.neighbors), self.target, context.version, context.interest, context.life,
            number, all_roots, settings.heartbeat, settings.detector, context.address,
        )  # fmt: skip

    # -- neighbors --------------------------------------------------------------------------------------

    def _add(self, peer: NodeId, message: msg.Introduction, now: float) -> None:
        shared = tuple(self._context.interest & message.interest)
        self.neighbors[peer] = Neighbor(message, shared, now, self._context.unread)
        self.goal.add(shared)
        settings = self._context.settings
        if self.target < self.goal.limit and len(self.neighbors) < self.target + settings.margin:
            self.target += 1
        self._observer.linked(peer, shared, message, now)
        self.beat = min(self.beat, now + settings.heartbeat)
        if not self.goal.asleep:
            self.wake = min(self.wake, now + settings.connect_timeout)

    def _update(self, peer: NodeId, message: msg.Introduction, now: float) -> None:
        neighbor = self.neighbors[peer]
        self._mark_alive(neighbor, now)
        if (message.life, message.version) >= (neighbor.life, neighbor.version):
            neighbor.heartbeat = neighbor.unread = None  # what it says from now on counts at once
            neighbor.degree, neighbor.target = message.degree, message.target
            self.learn(peer, message.life, message.version, message.interest, now)

    def _mark_alive(self, neighbor: Neighbor, now: float) -> None:
        """Note that it was heard: it counts for coverage again, if it did not."""
        neighbor.heard = now
        if neighbor.doubted:
            neighbor.doubted = False
            neighbor.unread = self._context.unread
            self.goal.add(neighbor.shared)

    def learn(self, peer: NodeId, life: int, version: int, interest: Topics, now: float) -> None:
        """Take a neighbor's interest, as it says itself; a new life of it counts at once."""
        neighbor = self.neighbors.get(peer)
        if neighbor is None or (life, version) <= (neighbor.life, neighbor.version):
            return
        if not neighbor.doubted:
            self.goal.drop(neighbor.shared)
        neighbor.life, neighbor.version, neighbor.interest = life, version, interest
        neighbor.shared = tuple(self._context.interest & interest)
        if not neighbor.doubted:
            self.goal.add(neighbor.shared)
        self._wake_soon(now)

    def _remove(self, peer: NodeId, reason: str, now: float) -> None:
        neighbor = self.neighbors.pop(peer)
        neighbor.heartbeat = neighbor.unread = None  # whoever noted its heartbeats here must ask again
        if not neighbor.doubted:
            self.goal.drop(neighbor.shared)
        self._observer.unlinked(peer, reason, now)
        if not self.content:
            self._wake_soon(now)

    # -- the node's own changes -------------------------------------------------------------------------

    def interest_changed(self, now: float) -> None:
        """Judge all neighbors anew, by the node's new interest."""
        self.goal.restart(self._context.interest)
        for neighbor in self.neighbors.values():
            neighbor.shared = tuple(self._context.interest & neighbor.interest)
            if not neighbor.doubted:
                self.goal.add(neighbor.shared)
        self._out_of_reach = 0
        self._wake_soon(now)

    def drop(self, peer: NodeId, reason: str, now: float) -> None:
        """Remove `peer`, if it is a neighbor."""
        if peer in self.neighbors:
            self._remove(peer, reason, now)

    def refused(self, peer: NodeId, now: float) -> None:
        """Do not ask `peer` again for as long as it would take to notice that it is gone."""
        settings = self._context.settings
        self._requests.pending.pop(peer, None)
        self._requests.pending[peer] = now + max(settings.connect_quarantine, settings.detector)
        if self.goal.lacking:
            self._wake_soon(now)

    def excuse(self, since: float, stall: float) -> None:
        """Count a stall of this node, from `since` on, as no silence of its neighbors."""
        for neighbor in self.neighbors.values():
            if neighbor.heard <= since:
                neighbor.heard += stall

    def leave(self, now: float) -> None:
        """Tell all neighbors that the node leaves."""
        if self.neighbors:
            self._context.effects.append(Send(tuple(self.neighbors), msg.Leave(self.id, gone=True)))
        for peer in list(self.neighbors):
            self._remove(peer, "we left", now)
        self.wake = self.beat = self.alarm = inf

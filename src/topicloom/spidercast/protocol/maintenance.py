"""One maintenance task of a node [Chockler2007b, 2.3]: it finds neighbors, keeps them, lets them go.

Figures 2 to 5, with the readings that make them work:
- coverage counts neighbors of this task; a neighbor may be let go if its degree has reached its target;
- a DISCONNECT that was not answered is not repeated to the same neighbor within a quarantine;
- while a topic is uncovered, CONNECT goes on up to L^max + Margin;
- topics that no known node can cover do not keep a task from letting needless neighbors go;
- a neighbor that is needed never goes, not even above L^max (where there is always one that is not needed):
  it would only be sought again, and nodes with useless links that nobody may cut would do so for ever.
One addition: a neighbor whose heartbeat is late is doubted. It stops counting for coverage well before it is
given up, so its replacement is found in time (see docs/spidercast.md).

A task does nothing between changes: `wake` is the next time when something could be done, not a fixed beat.
"""

from __future__ import annotations

from math import inf
from typing import Protocol

from topicloom.spidercast.protocol import messages as msg
from topicloom.spidercast.protocol.goals import Goal
from topicloom.spidercast.protocol.link_rules import LinkState
from topicloom.spidercast.protocol.membership import Membership, NeighborChoice
from topicloom.spidercast.protocol.messages import NodeId, TaskId, Topics
from topicloom.spidercast.protocol.node_state import Neighbor, NodeContext, Requests
from topicloom.wire.core import Send


class LinkObserver(Protocol):
    """Who must know of a task's neighbors: the node, which joins the links of both tasks."""

    @property
    def neighbors(self) -> tuple[NodeId, ...]:
        """The neighbors of both tasks."""

    def linked(self, peer: NodeId, shared: Topics, now: float) -> None:
        """Note that `peer` became a neighbor of the task."""

    def unlinked(self, peer: NodeId, reason: str, now: float) -> None:
        """Note that it is a neighbor of the task no longer."""


class MaintenanceTask:
    """The neighbors of one task; its timers: `wake` (maintenance), `beat` (heartbeats), `alarm` (silence)."""

    __slots__ = (
        "_context", "_heartbeat", "_membership", "_observer", "_out_of_reach", "_requests", "_turn",
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
    ) -> None:
        self.id, self.goal, self.choice = id, goal, choice
        self._context, self._membership, self._observer = context, membership, observer
        self.neighbors: dict[NodeId, Neighbor] = {}
        self.target = goal.limit
        self._requests = Requests()
        self._out_of_reach = 0  # how much of what is lacking nobody known can give
        self._heartbeat: msg.Heartbeat | None = None
        self._turn = -inf  # when maintenance ran last
        self.wake = self.beat = self.alarm = inf

    def start(self, now: float) -> None:
        """Begin at a random point of the period: nodes that start together do not all speak at once."""
        settings, rng = self._context.settings, self._context.rng
        if not self.goal.asleep:
            # Random links lead where greedy ones do not, so greedy ones come first.
            later = settings.heartbeat if self.id is TaskId.RANDOM else 0.0
            self.wake = now + later + rng.random() * settings.connect_timeout
            self.beat = now + rng.random() * settings.heartbeat

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

    # -- timers -----------------------------------------------------------------------------------------

    def handle_timer(self, now: float) -> None:
        if self.alarm <= now:
            self._check_silence(now)
        if self.beat <= now:
            self._send_heartbeat(now)
        if self.wake <= now:
            self._maintain(now)

    def _send_heartbeat(self, now: float) -> None:
        """Send a heartbeat to all neighbors, and look who has been silent."""
        period = self._context.settings.heartbeat
        self.beat += period * max(1, int((now - self.beat) / period))
        if self.beat <= now:
            self.beat += period
        if self.neighbors:
            self._context.effects.append(Send(tuple(self.neighbors), self._standing()))
            self._check_silence(now)

    def _standing(self) -> msg.Heartbeat:
        """Return the heartbeat to send now: the last object as long as nothing in it changed."""
        new = msg.Heartbeat(self.id, len(self.neighbors), self.target, self._context.version)
        if self._heartbeat is None or new != self._heartbeat:
            self._heartbeat = new
        return self._heartbeat

    def _check_silence(self, now: float) -> None:
        """Doubt neighbors that were silent for a while, give up those silent for long."""
        settings = self._context.settings
        # A neighbor heard later than this can be doubted after the next round at the earliest.
        patience = min(settings.doubt * settings.heartbeat, settings.detector)
        late = now - max(patience - settings.heartbeat, 0.0)
        self.alarm = inf
        lost = []
        for peer, neighbor in self.neighbors.items():
            if neighbor.heard > late:
                continue
            if neighbor.heard + settings.detector <= now:
                lost.append(peer)
                continue
            doubt = neighbor.heard + settings.doubt * settings.heartbeat
            if not neighbor.doubted and doubt <= now:
                neighbor.doubted = True
                neighbor.heartbeat = None  # the same one again would be news: it lives
                self.goal.drop(neighbor.shared)
                self._wake_soon(now)
            end = neighbor.heard + settings.detector
            self.alarm = min(self.alarm, end if neighbor.doubted else min(doubt, end))
        for peer in lost:
            self._membership.gone(peer, now)
            self._remove(peer, "silent", now)

    # -- maintenance: Figure 2 --------------------------------------------------------------------------

    def _maintain(self, now: float) -> None:
        """Run one turn of MAINTAINNEIGHBORS; `wake` says when the next one could do something."""
        self.wake = inf
        self._turn = now
        if self.goal.asleep:
            return
        self._requests.forget(now)
        lacking, settings = self.goal.lacking, self._context.settings
        if not lacking:
            self._out_of_reach = 0
            self._release_neighbor(now)
            return
        if self._has_room() and self._connect_to_one(now):
            self._out_of_reach = 0
            self.target = self.goal.limit
            self.wake = now + settings.connect_timeout
        else:
            if not self._requests.pending:
                self._out_of_reach = lacking
            self.wake = now + settings.heartbeat  # others may come
        if self.content or len(self.neighbors) > self.goal.limit:
            self._release_neighbor(now)

    def _wake_soon(self, now: float) -> None:
        """Ask for a turn of maintenance soon, but not sooner than `connect_timeout` allows."""
        self.wake = min(self.wake, max(now, self._turn + self._context.settings.connect_timeout))

    def _has_room(self) -> bool:
        return len(self.neighbors) < self.goal.limit + self._context.settings.margin

    def _connect_to_one(self, now: float) -> bool:
        """Send CONNECT to one more node; return False if no known node is of use."""
        peer = self._next_redirect(now)
        if peer is None:
            # A random link to a greedy neighbor would add nothing: it must lead elsewhere to be of help.
            linked = self._observer.neighbors if self.id is TaskId.RANDOM else self.neighbors
            banned = {*linked, *self._requests.pending, self._context.name}
            peer = self._membership.choose(self.choice, self.goal.wanted, banned, self._context.rng)
        if peer is None:
            return False
        self._requests.pending[peer] = now + self._context.settings.connect_quarantine
        self._context.send(peer, msg.Connect(*self._introduction()))
        return True

    def _introduction(self) -> tuple[TaskId, int, int, int, Topics]:
        context = self._context
        return self.id, len(self.neighbors), self.target, context.version, context.interest

    def _next_redirect(self, now: float) -> NodeId | None:
        while (peer := self._requests.take_redirect(self.goal)) is not None:
            if self._is_stranger(peer, now):
                return peer
        return None

    def _is_stranger(self, peer: NodeId, now: float) -> bool:
        known = peer in self.neighbors or peer == self._context.name
        return not known and not self._requests.is_asked(peer, now)

    def _release_neighbor(self, now: float) -> None:
        """Send DISCONNECT to one neighbor that has enough others and is not needed.

        Neighbors that were asked a moment ago and not heard since may be about to go: they count as gone.
        """
        settings = self._context.settings
        self.target = min(self.goal.limit, len(self.neighbors))
        going = [
            neighbor
            for neighbor in self.neighbors.values()
            if neighbor.asked + settings.heartbeat > now and neighbor.heard < neighbor.asked
        ]
        for neighbor in going:
            if not neighbor.doubted:
                self.goal.drop(neighbor.shared)
        peers, soonest = self._releasable(now)
        for neighbor in going:
            if not neighbor.doubted:
                self.goal.add(neighbor.shared)
            soonest = min(soonest, neighbor.asked + settings.heartbeat)
        if peers:
            peer = peers[0] if len(peers) == 1 else peers[self._context.rng.randrange(len(peers))]
            self.neighbors[peer].asked = now
            self._context.send(peer, msg.Disconnect(self.id))
            self.wake = min(self.wake, now + settings.connect_timeout)
        else:
            self.wake = min(self.wake, soonest)

    def _releasable(self, now: float) -> tuple[list[NodeId], float]:
        """Return the neighbors that may be asked to part, and when one more may be."""
        peers: list[NodeId] = []
        soonest = inf
        for peer, neighbor in self.neighbors.items():
            if neighbor.degree < neighbor.target or neighbor.doubted or self.goal.loss(neighbor.shared):
                continue
            until = self._asked_until(neighbor)
            if until > now:
                soonest = min(soonest, until)
            else:
                peers.append(peer)
        return peers, soonest

    def _asked_until(self, neighbor: Neighbor) -> float:
        """Return until when it gets no second DISCONNECT."""
        return neighbor.asked + self._context.settings.disconnect_quarantine

    # -- messages: Figure 4 -----------------------------------------------------------------------------

    def on_connect(self, peer: NodeId, message: msg.Connect, now: float) -> None:
        self._membership.heard(peer, message.version, message.interest, now)
        if peer in self.neighbors:
            self._update(peer, message, now)
        elif self._has_room():
            self._add(peer, message, now)
        else:
            self._redirect(peer, message)
            return
        self._context.send(peer, msg.ConnectOk(*self._introduction()))

    def _redirect(self, peer: NodeId, message: msg.Connect) -> None:
        """Name the neighbor with room that shares most with the requester, or nobody."""
        margin = self._context.settings.margin
        best: list[NodeId] = []
        most = 0
        for other, neighbor in self.neighbors.items():
            if neighbor.degree >= neighbor.target + margin or neighbor.doubted:
                continue
            shared = len(neighbor.interest & message.interest)
            if shared > most:
                best, most = [other], shared
            elif shared == most:
                best.append(other)
        named = best[self._context.rng.randrange(len(best))] if best else None
        interest: Topics = frozenset() if named is None else self.neighbors[named].interest
        self._context.send(peer, msg.Redirect(self.id, named, interest))

    def on_redirect(self, peer: NodeId, message: msg.Redirect, now: float) -> None:
        named = message.node
        if named is not None and self._requests.is_asked(peer, now) and self._is_stranger(named, now):
            self._requests.redirected(named, message.interest)
            if self.goal.lacking:
                self._wake_soon(now)

    def on_connect_ok(self, peer: NodeId, message: msg.ConnectOk, now: float) -> None:
        self._membership.heard(peer, message.version, message.interest, now)
        if peer in self.neighbors:
            self._update(peer, message, now)
        elif self._requests.is_asked(peer, now) and self._has_room():
            self._add(peer, message, now)
        else:
            self._context.send(peer, msg.Leave(self.id))

    def on_leave(self, peer: NodeId, message: msg.Leave, now: float) -> None:
        if message.gone:
            self._membership.gone(peer, now)
        self.drop(peer, "left", now)

    def on_disconnect(self, peer: NodeId, message: msg.Disconnect, now: float) -> None:
        neighbor = self.neighbors.get(peer)
        if neighbor is None:
            self._context.send(peer, msg.Leave(self.id))
            return
        self._mark_alive(neighbor, now)
        if not self.goal.loss(neighbor.shared):
            self._remove(peer, "not needed", now)
            self._context.send(peer, msg.DisconnectOk(self.id))
            if self.content:
                self.target = len(self.neighbors)

    def on_disconnect_ok(self, peer: NodeId, message: msg.DisconnectOk, now: float) -> None:
        neighbor = self.neighbors.get(peer)
        if neighbor is not None and neighbor.asked > -inf:  # not asked: a late echo of an earlier link
            self._remove(peer, "not needed", now)

    def on_heartbeat(self, peer: NodeId, message: msg.Heartbeat, now: float) -> bool:
        """Note that `peer` lives, and its state; return True if its interest is newer than the known one."""
        neighbor = self.neighbors.get(peer)
        if neighbor is None:
            if not self._requests.is_asked(peer, now) and peer != self._context.name:
                self._context.send(peer, msg.Leave(self.id))
            return False
        neighbor.heard = now
        neighbor.degree, neighbor.target = message.degree, message.target
        self._mark_alive(neighbor, now)
        if (
            neighbor.degree >= neighbor.target
            and self._asked_until(neighbor) <= now
            and not self.goal.loss(neighbor.shared)
        ):
            self._wake_soon(now)  # it may be one to let go
        if message.version > neighbor.version:
            return True  # as often as it is said: question or answer may be lost
        neighbor.heartbeat = message
        return False

    # -- neighbors --------------------------------------------------------------------------------------

    def _add(self, peer: NodeId, message: msg.Connect | msg.ConnectOk, now: float) -> None:
        shared = self._context.interest & message.interest
        self.neighbors[peer] = Neighbor(
            message.degree, message.target, message.version, message.interest, shared, now
        )
        self.goal.add(shared)
        settings = self._context.settings
        if self.target < self.goal.limit and len(self.neighbors) < self.target + settings.margin:
            self.target += 1
        self._observer.linked(peer, shared, now)
        self.beat = min(self.beat, now + settings.heartbeat)
        if not self.goal.asleep:
            self.wake = min(self.wake, now + settings.connect_timeout)

    def _update(self, peer: NodeId, message: msg.Connect | msg.ConnectOk, now: float) -> None:
        neighbor = self.neighbors[peer]
        self._mark_alive(neighbor, now)
        if message.version >= neighbor.version:
            neighbor.heartbeat = None
            neighbor.degree, neighbor.target = message.degree, message.target
            self.learn(peer, message.version, message.interest, now)

    def _mark_alive(self, neighbor: Neighbor, now: float) -> None:
        """Note that it was heard: it counts for coverage again, if it did not."""
        neighbor.heard = now
        if neighbor.doubted:
            neighbor.doubted = False
            self.goal.add(neighbor.shared)

    def learn(self, peer: NodeId, version: int, interest: Topics, now: float) -> None:
        """Take a neighbor's interest, as it says itself."""
        neighbor = self.neighbors.get(peer)
        if neighbor is None or version <= neighbor.version:
            return
        if not neighbor.doubted:
            self.goal.drop(neighbor.shared)
        neighbor.version, neighbor.interest = version, interest
        neighbor.shared = self._context.interest & interest
        if not neighbor.doubted:
            self.goal.add(neighbor.shared)
        self._wake_soon(now)

    def _remove(self, peer: NodeId, reason: str, now: float) -> None:
        neighbor = self.neighbors.pop(peer)
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
            neighbor.shared = self._context.interest & neighbor.interest
            if not neighbor.doubted:
                self.goal.add(neighbor.shared)
        self._out_of_reach = 0
        self._wake_soon(now)

    def drop(self, peer: NodeId, reason: str, now: float) -> None:
        """Remove `peer`, if it is a neighbor."""
        if peer in self.neighbors:
            self._remove(peer, reason, now)

    def leave(self, now: float) -> None:
        """Tell all neighbors that the node leaves."""
        if self.neighbors:
            self._context.effects.append(Send(tuple(self.neighbors), msg.Leave(self.id, gone=True)))
        for peer in list(self.neighbors):
            self._remove(peer, "we left", now)
        self.wake = self.beat = self.alarm = inf

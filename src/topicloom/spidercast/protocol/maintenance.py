"""One maintenance task of a node [Chockler2007b, 2.3]: it finds neighbors, keeps them, lets them go.

Figures 2 to 5, with the readings that make them work:
- coverage counts neighbors of this task; a neighbor may be let go if its degree has reached its target;
- a DISCONNECT that was not answered is not repeated to the same neighbor within a quarantine;
- while a topic is uncovered, CONNECT goes on up to L^max + Margin;
- topics that no known node can cover do not keep a task from letting needless neighbors go;
- a neighbor that is needed never goes, not even above L^max (where there is always one that is not needed):
  it would only be sought again, and nodes with useless links that nobody may cut would do so for ever.
One addition: a neighbor whose heartbeat is late is doubted. It counts no longer, well before it is given up.

A task does nothing between changes: `wake` is the next time when something could be done, not a fixed beat.
"""

from __future__ import annotations

from math import inf
from operator import attrgetter
from random import Random
from typing import Any

from topicloom.spidercast.protocol import messages as msg
from topicloom.spidercast.protocol.link_messages import LinkMessages
from topicloom.spidercast.protocol.messages import NodeId, TaskId
from topicloom.spidercast.protocol.roots import NO_ROOTS
from topicloom.wire.core import Send

_heard = attrgetter("heard")
PATIENCE = 2  # heartbeats for which a neighbor that would part too must have been needless


class MaintenanceTask(LinkMessages):
    """A task as a whole: its turns of maintenance, its heartbeats, its look at who is silent."""

    __slots__ = ()

    def start(self, now: float) -> None:
        """Begin at a random point of the period: nodes that start together do not all speak at once."""
        settings, rng = self._context.settings, self._context.rng
        if not self.goal.asleep:
            # Random links lead where greedy ones do not, so greedy ones come first.
            later = settings.heartbeat if self.id is TaskId.RANDOM else 0.0
            later += self._membership.warm_up()
            self.wake = now + later + rng.random() * settings.connect_timeout
            self.beat = now + rng.random() * settings.heartbeat

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
            self._context.effects.append(Send(tuple(self.neighbors), self._standing(now)))
            self._check_silence(now)
            if self._roots is not None:
                self._look_for_needless(self._roots.moves, now)

    def _look_for_needless(self, moves: int, now: float) -> None:
        """Wake up if the roots have moved and a neighbor is not needed any more; or if one that asked to part
        has not been needed for some heartbeats: it would ask again, but only after its quarantine."""
        soon = self._soon(now)
        moved, self._moves = moves != self._moves and self.wake > soon, moves
        if not moved and not self._some_would_part:
            return
        self._some_would_part = False
        for peer, neighbor in self.neighbors.items():
            if not neighbor.would_part:
                if moved and self.wake > soon and self._may_go(peer, neighbor, now):
                    self.wake = soon
                continue
            self._some_would_part = True
            if neighbor.degree < neighbor.target or self._is_needed(peer, neighbor):
                neighbor.would_part = 1
                continue
            neighbor.would_part += 1
            if neighbor.would_part > PATIENCE:
                neighbor.asked = -inf  # it would agree now, whatever it said before
                self._wake_soon(now)

    def _standing(self, time: float) -> msg.Heartbeat:
        """Return the heartbeat to send: the last object while nothing in it changed (`number`: the roots)."""
        context = self._context
        number, roots = (0, NO_ROOTS) if self._roots is None else self._roots.announce(time)
        last, now = self._heartbeat, (len(self.neighbors), self.target, context.version)
        if last is None or (last.degree, last.target, last.version) != now or last.number != number:
            self._heartbeat = last = msg.Heartbeat(self.id, *now, context.life, number, roots)
        return last

    def _check_silence(self, now: float) -> None:
        """Doubt neighbors that were silent for a while, give up those silent for long."""
        settings = self._context.settings
        # A neighbor heard later than this can be doubted after the next round at the earliest.
        patience = min(settings.doubt * settings.heartbeat, settings.detector)
        late = now - max(patience - settings.heartbeat, 0.0)
        self.alarm = inf
        if not self.neighbors or min(map(_heard, self.neighbors.values())) > late:
            return
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
                neighbor.heartbeat = neighbor.unread = None  # the same one again would be news: it lives
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

    def _connect_to_one(self, now: float) -> bool:
        """Send CONNECT to one more node; return False if no known node is of use."""
        peer = self._next_redirect(now)
        if peer is None:
            peer = self._choose(self._context.rng)
        if peer is None:
            return False
        self._ask(peer, now)
        return True

    def _choose(self, rng: Random) -> NodeId | None:
        # A random link to a greedy neighbor would add nothing: it must lead elsewhere to be of help.
        linked = self._observer.neighbors if self.id is TaskId.RANDOM else self.neighbors
        banned = {*linked, *self._requests.pending, self._context.name}
        return self._membership.choose(self.choice, self.goal.wanted, banned, rng)

    def could_ask(self, rng: Random) -> bool:
        """Tell whether there is somebody to send CONNECT to, now or when a quarantine is over."""
        if self._requests.is_open:
            return True
        return self._has_room() and self._choose(rng) is not None

    def dispensable(self) -> list[NodeId]:
        """Return the neighbors that this task would ask to part, now or later, if nothing changes."""
        return [
            peer
            for peer, neighbor in self.neighbors.items()
            if neighbor.degree >= neighbor.target and not self._is_needed(peer, neighbor)
        ]

    def _ask(self, peer: NodeId, now: float) -> None:
        self._requests.pending[peer] = now + self._context.settings.connect_quarantine
        introduction: Any = self._introduction()
        self._context.send(peer, msg.Connect(*introduction))

    def invite(self, peer: NodeId, now: float) -> bool:
        """Ask `peer`, which is in another component of a topic; return False if it cannot be asked now."""
        self._requests.forget(now)
        if not self._has_room() or not self._is_stranger(peer, now):
            return False
        self._ask(peer, now)
        self.wake = min(self.wake, now + self._context.settings.connect_timeout)
        return True

    def _next_redirect(self, now: float) -> NodeId | None:
        while (peer := self._requests.take_redirect(self.goal)) is not None:
            if self._is_stranger(peer, now):
                return peer
        return None

    def _release_neighbor(self, now: float) -> None:
        """Send DISCONNECT to one neighbor that has enough others and is not needed.

        Neighbors that were asked a moment ago and not heard since may be about to go: they count as gone.
        """
        settings = self._context.settings
        self.target = min(self.goal.limit, len(self.neighbors))
        going = []
        if self._parted + settings.heartbeat > now:
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
            self.neighbors[peer].asked = self._parted = now
            self.neighbors[peer].would_part = 0
            self._context.send(peer, msg.Disconnect(self.id))
            self.wake = min(self.wake, now + settings.connect_timeout)
        else:
            self.wake = min(self.wake, soonest)

    def _releasable(self, now: float) -> tuple[list[NodeId], float]:
        """Return the neighbors that may be asked to part, and when one more may be."""
        peers: list[NodeId] = []
        soonest = inf
        needs, roots = self.goal.needs, self._roots
        for peer, neighbor in self.neighbors.items():
            if neighbor.degree < neighbor.target or neighbor.doubted or needs(neighbor.shared):
                continue
            if roots is not None and roots.needs(peer):
                continue
            until = self._asked_until(neighbor)
            if until > now:
                soonest = min(soonest, until)
            else:
                peers.append(peer)
        return peers, soonest

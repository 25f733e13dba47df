"""What a maintenance task answers: Figure 4 of [Chockler2007b], row by row of `link_rules.py`."""

from __future__ import annotations

from math import inf
from typing import Any

from topicloom.spidercast.protocol import messages as msg
from topicloom.spidercast.protocol.messages import NodeId, Topics
from topicloom.spidercast.protocol.neighbors import TaskNeighbors
from topicloom.spidercast.protocol.node_state import Neighbor
from topicloom.wire.core import Close


class LinkMessages(TaskNeighbors):
    """The answers of a task to one message each."""

    __slots__ = ()

    def on_connect(self, peer: NodeId, message: msg.Connect, now: float) -> None:
        if not self._is_met(peer, message, now):
            return
        known = peer in self.neighbors
        if known:
            self._update(peer, message, now)
        if not self._context.answers.may_answer((msg.Connect, self.id), peer, now, known=known):
            return
        if known:
            pass
        elif self._has_room() and not self._is_crowded(peer):
            self._add(peer, message, now)
        else:
            self._redirect(peer, message)
            return
        introduction: Any = self._introduction()
        self._context.send(peer, msg.ConnectOk(*introduction))

    def _is_crowded(self, peer: NodeId) -> bool:
        """Tell whether the host of `peer`, under whatever names, has half of the places already.

        The host is the other end of its connection, whatever address it claims. All whose host the driver
        does not tell, though it tells that of others, count as one.
        """
        addresses = self._context.addresses
        host = addresses.host_of(peer)
        if host is None:
            return False
        same = sum(addresses.host_of(other) == host for other in self.neighbors)
        return 2 * same >= max(4, self.goal.limit + self._context.settings.margin)

    def _is_met(self, peer: NodeId, message: msg.Introduction, now: float) -> bool:
        """Note what a peer says of itself, or turn it away if the two can be no neighbors."""
        unfit = self._unfit(message)
        if unfit:
            self._turn_away(peer, unfit, now)
        else:
            self._membership.heard(peer, message.life, message.version, message.interest, now)
        return not unfit

    def _unfit(self, message: msg.Introduction) -> str:
        """Return why the two can be no neighbors: one would give the other up between two heartbeats."""
        settings = self._context.settings
        if not 0 <= message.heartbeat < inf or not 0 <= message.detector < inf:
            return "its periods are no numbers of seconds"
        if message.heartbeat >= settings.detector:
            return f"its heartbeat of {message.heartbeat:g} s is no shorter than our detector"
        if 0 < message.detector <= settings.heartbeat:
            return f"its detector of {message.detector:g} s is no longer than our heartbeat"
        return ""

    def _turn_away(self, peer: NodeId, reason: str, now: float) -> None:
        self.refused(peer, now)
        self.drop(peer, reason, now)
        self._context.effects.append(Close(peer, reason))

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
        address = "" if named is None else self._context.addresses.of(named)
        self._context.send(peer, msg.Redirect(self.id, named, interest, address))

    def on_redirect(self, peer: NodeId, message: msg.Redirect, now: float) -> None:
        named = message.node
        if named is not None and self._requests.is_asked(peer, now) and self._is_stranger(named, now):
            self._requests.redirected(named, message.interest, peer)
            self._context.addresses.note(named, message.address)
            if self.goal.lacking:
                self._wake_soon(now)

    def on_connect_ok(self, peer: NodeId, message: msg.ConnectOk, now: float) -> None:
        if not self._is_met(peer, message, now):
            return
        if peer in self.neighbors:
            self._update(peer, message, now)
        elif self._requests.is_asked(peer, now) and self._has_room() and not self._is_crowded(peer):
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
        if not self._is_needed(peer, neighbor):
            self._context.send(peer, msg.DisconnectOk(self.id))  # before the link goes
            self._remove(peer, "not needed", now)
            if self.content:
                self.target = len(self.neighbors)
        else:
            neighbor.would_part = max(neighbor.would_part, 1)
            self._some_would_part = True

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
        neighbor.degree, neighbor.target = message.degree, message.target
        if neighbor.doubted:
            self._mark_alive(neighbor, now)
        neighbor.heard = now
        if message.degree >= message.target and self._may_go(peer, neighbor, now):
            self._wake_soon(now)
        neighbor.heartbeat = message
        return self._must_ask(neighbor, message)

    def read(self, neighbor: Neighbor, message: msg.Heartbeat) -> bool:
        """Note the state of a neighbor from its last heartbeat, which was put off; return as `on_heartbeat`.

        Whether it may go now is looked at with the next heartbeat of our own, which follows.
        """
        if neighbor.degree != message.degree or neighbor.target != message.target:
            neighbor.degree, neighbor.target = message.degree, message.target
            if message.degree >= message.target:
                self._moves = -1
        return self._must_ask(neighbor, message)

    def _must_ask(self, neighbor: Neighbor, message: msg.Heartbeat) -> bool:
        newer = (message.life, message.version) > (neighbor.life, neighbor.version)
        if newer:
            neighbor.heartbeat = None  # as often as it is said: question or answer may be lost
        return newer

"""The driver: one virtual clock, nodes, and the messages between them.

Feed a node, carry out its effects, re-arm its one timer: the loop that every driver of `Node` runs. The order
of all that happens is fixed by (time, order of arrival), so a seed gives the same run everywhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Any, TypeAlias

from topicloom.protocol.effects import Deliver, LinkDown, LinkUp, Send
from topicloom.protocol.messages import Message
from topicloom.protocol.node import Node
from topicloom.simulate.network import Network
from topicloom.simulate.tally import Tally

Mail: TypeAlias = tuple[float, int, tuple[Any, ...], int, Message]
Call: TypeAlias = Callable[[float], None]


class World:
    """All nodes by number (None: away), what is on its way, and what is due."""

    def __init__(self, n_nodes: int, network: Network) -> None:
        self.nodes: list[Node | None] = [None] * n_nodes
        self.tally = Tally()
        self.now = 0.0
        self._network = network
        self._armed = [inf] * n_nodes
        self._order = count()
        # With one delay for all, messages arrive in the order they were sent: no heap is needed for them.
        self._mail: Any = deque() if network.constant is not None else []
        self._timers: list[tuple[float, int, int, Call | None]] = []

    def enter(self, number: int, node: Node) -> None:
        """`node` starts now as node `number`."""
        self.nodes[number] = node
        node.start(self.now)
        self._settle(number, node)

    def leave(self, number: int) -> None:
        """The node takes its leave of its neighbors and is away."""
        node = self.present(number)
        node.leave(self.now)
        self._settle(number, node)
        self._remove(number)

    def crash(self, number: int) -> None:
        """The node is away without a word; its ends of its links end with it, the others when noticed."""
        self.tally.links_ended += len(self.present(number).neighbors)
        self._remove(number)

    def _remove(self, number: int) -> None:
        self.present(number).tasks = ()  # a node and its tasks know each other: nobody else breaks the ring
        self.nodes[number] = None

    def tell(self, number: int, what: Callable[[Node], object]) -> None:
        """Let the application of a node call it: subscribe, publish, ..."""
        node = self.present(number)
        what(node)
        self._settle(number, node)

    def publish(self, number: int, topic: int, expected: set[int]) -> None:
        """Let a node publish an event that `expected` must get."""
        node = self.present(number)
        event = node.publish(topic, b"", self.now)
        self.tally.publish(event, expected, self.now)
        self._settle(number, node)

    def linked(self, number: int, peer: int) -> bool:
        """Does node `number` have a link to `peer`?"""
        node = self.nodes[number]
        return node is not None and node.has_link(peer)

    def call_at(self, time: float, call: Call) -> None:
        """Something of the simulator's own to be done at `time`."""
        heappush(self._timers, (time, next(self._order), -1, call))

    def present(self, number: int) -> Node:
        """The node `number`, which must be here."""
        node = self.nodes[number]
        assert node is not None, f"node {number} is away"
        return node

    def run(self, until: float) -> None:
        """All that happens up to and including `until`."""
        timers, mail, nodes, armed = self._timers, self._mail, self.nodes, self._armed
        next_mail: Callable[[], Mail] = mail.popleft if isinstance(mail, deque) else (lambda: heappop(mail))
        occurrences = 0
        while True:
            timer_at = timers[0][0] if timers else inf
            if mail and mail[0][0] <= timer_at:
                if mail[0][0] > until:
                    break
                now, _, receivers, sender, message = next_mail()
                self.now = now
                occurrences += 1
                for number in receivers:
                    node = nodes[number]
                    if node is None:
                        continue
                    node.receive(sender, message, now)
                    if node.effects or node.due < armed[number]:
                        self._settle(number, node)
                continue
            if timer_at > until:
                break
            now, _, number, call = heappop(timers)
            self.now = now
            if call is not None:
                occurrences += 1
                call(now)
                continue
            node = nodes[number]
            if armed[number] != now:
                continue  # re-armed for an earlier time since
            armed[number] = inf
            if node is not None:
                occurrences += 1
                node.handle_timer(now)
                self._settle(number, node)
        self.now = until
        self.tally.occurrences += occurrences

    def _settle(self, number: int, node: Node) -> None:
        """Carry out what the node asks for and re-arm its timer."""
        effects = node.effects
        if effects:
            for effect in effects:
                kind = type(effect)
                if kind is Send:
                    self._send(number, effect)  # type: ignore[arg-type]
                elif kind is Deliver:
                    self.tally.deliver(number, effect.id, effect.hops, self.now)  # type: ignore[union-attr]
                elif kind is LinkUp:
                    self.tally.links_made += 1
                elif kind is LinkDown:
                    self.tally.links_ended += 1
            effects.clear()
        if node.due < self._armed[number]:
            self._armed[number] = node.due
            heappush(self._timers, (node.due, next(self._order), number, None))

    def _send(self, sender: int, effect: Send) -> None:
        message, receivers = effect.message, effect.to
        self.tally.sent(message, len(receivers))
        constant = self._network.constant
        if constant is not None:
            self._mail.append((self.now + constant, next(self._order), receivers, sender, message))
            return
        for receiver in receivers:
            delay = self._network.delay(sender, receiver)  # type: ignore[arg-type]
            if delay is None:
                self.tally.lost += 1
            else:
                heappush(self._mail, (self.now + delay, next(self._order), (receiver,), sender, message))

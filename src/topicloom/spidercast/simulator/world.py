"""The driver of SpiderCast nodes: what is done and counted when one asks for it."""

from __future__ import annotations

from collections.abc import Sequence

from topicloom.simulation.links import Links
from topicloom.simulation.loop import Loop
from topicloom.spidercast.protocol.node import Node
from topicloom.spidercast.simulator.tally import Tally
from topicloom.wire.core import Deliver, Effect, LinkDown, LinkUp, Send


class World(Loop[Node]):
    """Nodes by number, and what they have done so far."""

    def __init__(self, links: Links) -> None:
        super().__init__(links, self._carry_out_of)
        self.tally = Tally()

    def leave(self, number: int) -> None:
        """The node takes its leave of its neighbors and is away."""
        self.tell(number, lambda node: node.leave(self.now))
        self.remove(number).dismantle()

    def crash(self, number: int) -> None:
        """The node is away without a word; its ends of its links end with it, the others when noticed."""
        node = self.remove(number)
        self.tally.links_ended += len(node.neighbors)
        node.dismantle()

    def publish(self, number: int, topic: int, expected: set[int]) -> None:
        """Let a node publish an event that `expected` must get."""
        node = self.present(number)
        self.tally.publish(node.publish(topic, b"", self.now), expected, self.now)
        self.settle(number)

    def _carry_out_of(self, number: int, effects: Sequence[Effect], cause: object) -> None:
        tally = self.tally
        for effect in effects:
            if type(effect) is Send:
                tally.messages[type(effect.message)] += len(effect.to)
                tally.lost += self.send(number, effect.to, effect.message)
            elif type(effect) is Deliver:
                tally.deliver(number, effect.event.id, effect.hops, self.now)
            elif type(effect) is LinkUp:
                tally.links_made += 1
            elif type(effect) is LinkDown:
                tally.links_ended += 1

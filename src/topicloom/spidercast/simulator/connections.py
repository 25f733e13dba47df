"""What happens to the connections between nodes, and what a driver would tell the nodes of it.

`lost`: a connection broke; `refused`: none could be opened; `congested`: what is sent piles up. Without
`reset` a node that crashed is silent, as if its machine had lost power: only detectors notice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from topicloom.simulation.links import Delay
from topicloom.spidercast.protocol.messages import NodeId
from topicloom.spidercast.protocol.node import Node

if TYPE_CHECKING:
    from topicloom.spidercast.simulator.world import World

WORDS = ("closed", "lost", "refused", "congested")
PILED_UP, DRAINED = 1.0, 0.25  # seconds of what waits to be sent: congested from the one, down to the other


class Connections:
    """Tells the nodes of a world of their connections, and counts what it told."""

    def __init__(self, world: World, delay: Delay, *, reset: bool) -> None:
        self._world, self._delay, self._reset = world, delay, reset
        self._piled: set[tuple[NodeId, NodeId]] = set()
        self._unheard: dict[NodeId, list[tuple[Node, Callable[[Node], None]]]] = {}  # by paused nodes
        self.told: Counter[str] = Counter()
        self.pending = 0  # what is on its way to be told

    def sent(self, number: NodeId, receivers: Iterable[NodeId]) -> None:
        """See whether what a node sent can leave, and whether there is somebody to get it."""
        world = self._world
        for to in receivers:
            if self._reset and world.find(to) is None and not world.is_cut(number, to):
                # It may be here when the message arrives: at the start nodes begin one after the other.
                self._after(self._delay(number, to), self._arrived_at_nobody, number, to)
            if world.shape is not None:
                self._watch_backlog(number, to)

    def crashed(self, number: NodeId, neighbors: Iterable[NodeId]) -> None:
        """Break the connections of a node that crashed."""
        self.left(number)
        if self._reset:
            for peer in neighbors:
                self._break(number, peer)

    def left(self, number: NodeId) -> None:
        """Forget the connections of a node that went away."""
        self._piled = {pair for pair in self._piled if number not in pair}
        if self._world.shape is not None:
            self._world.shape.close_all(number)

    def released(self, number: NodeId, peer: NodeId) -> None:
        """Close a connection that one of the two needs no more: to speak again they open another one."""
        if self._world.shape is not None:
            self._world.shape.close(number, peer)

    def close(self, number: NodeId, peer: NodeId) -> None:
        """Close the connection of a node to `peer`, which hears of it as of any that broke."""
        self.told["closed"] += 1
        self.released(number, peer)
        self._break(number, peer)

    def thawed(self, number: NodeId) -> None:
        """Tell a node that was paused what it could not hear."""
        for node, what in self._unheard.pop(number, ()):
            self._tell(number, node, what)

    def _break(self, number: NodeId, peer: NodeId) -> None:
        """Let `peer` hear that its connection to `number` is no more."""
        node = self._world.find(peer)
        if node is None or self._world.is_cut(number, peer):
            return

        self._after(self._delay(number, peer), self._lost, peer, node, number)

    def _lost(self, number: NodeId, node: Node, peer: NodeId) -> None:
        self.told["lost"] += 1
        self._tell(number, node, lambda node: node.lost(peer, self._world.now))

    def _arrived_at_nobody(self, number: NodeId, to: NodeId) -> None:
        """Have a message to a node that is not here answered: nobody listens there."""
        node = self._world.find(number)
        if node is not None and self._world.find(to) is None:
            self._after(self._delay(to, number), self._refuse, number, node, to)

    def _refuse(self, number: NodeId, node: Node, to: NodeId) -> None:
        if node.has_link(to):
            self._lost(number, node, to)
            return
        self.told["refused"] += 1
        self._tell(number, node, lambda node: node.refused(to, self._world.now))

    # -- what piles up ----------------------------------------------------------------------------------

    def _watch_backlog(self, number: NodeId, to: NodeId) -> None:
        if (number, to) not in self._piled and self._backlog(number, to) > PILED_UP:
            self._piled.add((number, to))
            self.told["congested"] += 1
            node = self._world.present(number)
            self._after(0.0, self._congested, number, node, to, True)
            self._after(self._backlog(number, to) - DRAINED, self._look_again, number, node, to)

    def _look_again(self, number: NodeId, node: Node, to: NodeId) -> None:
        """Tell that a congestion is over, unless more was sent since."""
        left = self._backlog(number, to) - DRAINED
        if (number, to) not in self._piled or self._world.find(number) is not node:
            return
        if left > 1e-9:
            self._after(left, self._look_again, number, node, to)
        else:
            self._piled.discard((number, to))
            self._congested(number, node, to, False)

    def _congested(self, number: NodeId, node: Node, to: NodeId, on: bool) -> None:
        self._tell(number, node, lambda node: node.congested(to, on, self._world.now))

    def _backlog(self, number: NodeId, to: NodeId) -> float:
        shape = self._world.shape
        return 0.0 if shape is None else shape.backlog(number, to, self._world.now)

    # -- telling ----------------------------------------------------------------------------------------

    def _after(self, seconds: float | None, do: Callable[..., None], *what: object) -> None:
        """Do something later; never if the word of it is lost on its way."""
        if seconds is None:
            return

        def call(now: float) -> None:
            self.pending -= 1
            do(*what)

        self.pending += 1
        self._world.call_at(self._world.now + seconds, call)

    def _tell(self, number: NodeId, node: Node, what: Callable[[Node], None]) -> None:
        """Tell this life of a node; a paused one hears it when it goes on."""
        world = self._world
        if world.find(number) is not node:
            return
        if world.is_frozen(number):
            self._unheard.setdefault(number, []).append((node, what))
        else:
            world.tell(number, what)

"""When a run is over: nothing is under way that anybody waits for, and no node will act any more."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from topicloom.spidercast.protocol.insight import is_no_news
from topicloom.spidercast.protocol.messages import NodeId, Topic
from topicloom.spidercast.protocol.node import Node
from topicloom.spidercast.protocol.rest import is_at_rest
from topicloom.spidercast.simulator.world import World


class RestWatch:
    """Looks whether a world is at rest. Nearly always it is not, and then one node tells."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._left: list[NodeId] = []  # not looked at in this round: the last one was not at rest

    def look(self) -> bool:
        """Tell whether nothing will happen any more but heartbeats and probes that find nothing.

        Only where no message is lost and all take the same time: otherwise any heartbeat may be missed.
        """
        world, left = self._world, self._left
        if not world.is_steady or world.connections.pending:
            return False
        at_once = not left
        left = self._left = left or [number for number, _ in world.here()]
        if not self._are_at_rest(left) or not all(self._is_known(*mail) for mail in world.under_way()):
            return False
        if not at_once:  # those looked at earlier may have been woken since
            left += [number for number, _ in world.here()]
            if not self._are_at_rest(left):
                return False
        return _name_one_root_each(node for _, node in world.here())

    def _are_at_rest(self, left: list[NodeId]) -> bool:
        """Take nodes off the list as long as they are at rest."""
        find = self._world.find
        while left:
            node = find(left[-1])
            if node is not None and not is_at_rest(node, find):
                return False
            left.pop()
        return True

    def _is_known(self, receivers: Iterable[NodeId], sender: NodeId, message: object) -> bool:
        """Tell whether a message under way changes nothing at any of its receivers."""
        nodes = [self._world.find(receiver) for receiver in receivers]
        return all(node is not None and is_no_news(node, sender, message) for node in nodes)


def _name_one_root_each(nodes: Iterable[Node]) -> bool:
    """Tell whether all nodes of a topic name the same root: then no probe finds anything."""
    names: dict[Topic, tuple[object, ...]] = {}
    for node in nodes:
        for topic, root in node.roots.items():
            if names.setdefault(topic, root[:2]) != root[:2]:
                return False
    return True


class QuietWatch:
    """Watches for `patience` seconds with at most `allowed` link changes."""

    def __init__(self, world: World, patience: float, allowed: int) -> None:
        self._world, self._patience, self._allowed = world, patience, allowed
        self._past: deque[tuple[float, int]] = deque([(0.0, 0)])
        self.reached = self.calm = False

    def look(self) -> None:
        counters, now = self._world.counters, self._world.now
        changes = counters.links_made + counters.links_ended
        self.calm = changes == self._past[-1][1]  # none since the last look
        self._past.append((now, changes))
        while len(self._past) > 1 and self._past[1][0] <= now - self._patience:
            self._past.popleft()
        since, before = self._past[0]
        self.reached = now - since >= self._patience and changes - before <= self._allowed

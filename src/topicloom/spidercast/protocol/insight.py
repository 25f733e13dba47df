"""What a simulation sees and does inside a node, for speed and to know when a run is over.

Nothing else outside of the protocol reaches into a node: a driver of live nodes needs none of this.
"""

from __future__ import annotations

from topicloom.spidercast.protocol.messages import Disconnect, Heartbeat, NodeId, Probe
from topicloom.spidercast.protocol.node import Node
from topicloom.spidercast.protocol.node_state import Neighbor, most_unread


def ear_of(node: Node, peer: NodeId, message: Heartbeat) -> Neighbor | None:
    """Return where `receive` would note this heartbeat, if it did nothing else: it came before, or heartbeats
    are put off."""
    known = node._tasks[message.task].neighbors.get(peer) if node._running else None
    if known is None or known.heartbeat is message:
        return known
    return known if known.unread is not None and len(known.unread) < most_unread(message) else None


def is_no_news(node: Node, sender: NodeId, message: object) -> bool:
    """Tell whether a node expects just this: a heartbeat that it knows, roots that it names itself, or a
    request to part from a node that it needs."""
    if isinstance(message, Heartbeat):
        neighbor = node._tasks[message.task].neighbors.get(sender)
        return neighbor is not None and neighbor.heartbeat is message
    if isinstance(message, Probe):
        mine = node.roots
        return all(topic not in mine or mine[topic][:2] == root for topic, root in message.roots.items())
    return isinstance(message, Disconnect) and node._tasks[message.task].needs(sender)


def dismantle(node: Node) -> None:
    """Let go of the tasks, which refer to the node: then no garbage collector is needed."""
    node._tasks = ()

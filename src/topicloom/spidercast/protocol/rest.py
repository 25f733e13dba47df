"""Whether a node will do anything more, as long as nothing reaches it but the heartbeats that it knows.

A driver that sees all nodes (the simulator) asks this to find out that a run is over. The answer errs on the
side of "it will": a node that asks in vain again and again is never at rest.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from random import Random

from topicloom.spidercast.protocol.maintenance import MaintenanceTask
from topicloom.spidercast.protocol.messages import NodeId
from topicloom.spidercast.protocol.node import Node

Find = Callable[[NodeId], Node | None]


def is_at_rest(node: Node, find: Find) -> bool:
    """Tell whether neither the node nor its neighbors (by `find`) will act about their links.

    Probes do not count: they find nothing where all nodes of a topic name one root, which only somebody who
    sees all of them can tell.
    """
    if node._membership.next_timer() < inf or node._dissemination.next_timer() < inf:
        return False
    if node._context.unread:
        return False
    roots = node._roots
    if roots is not None and (roots.due < inf or roots.has_news):
        return False
    return not node._would_adapt and all(_task_rests(node, task, find) for task in node._tasks)


def _task_rests(node: Node, task: MaintenanceTask, find: Find) -> bool:
    others = [(neighbor, find(peer)) for peer, neighbor in task.neighbors.items()]
    for neighbor, other in others:
        # Both ends know how the other one stands: no heartbeat brings news.
        if other is None or neighbor.heartbeat is None:
            return False
        theirs = other._tasks[task.id]
        if neighbor.heartbeat is not theirs.last_word or node.name not in theirs.neighbors:
            return False
    if task.wake == inf or task.goal.asleep:
        return True
    if task.goal.lacking and task.could_ask(Random(0)):
        return False
    # It may ask others to part, now and then, and be refused as long as they need it.
    return all(_needs(find(peer), task, node) for peer in task.dispensable())


def _needs(other: Node | None, task: MaintenanceTask, node: Node) -> bool:
    return other is not None and other._tasks[task.id].needs(node.name)

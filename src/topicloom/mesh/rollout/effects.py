"""What a roll-out asks of the operator: whose files change, who must restart, which topics notice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.rollout.new_mesh import files_by_node, stems_of


def touched_nodes(
    before: Path, first: Mesh, after: Path, second: Mesh, *, reloads: bool
) -> tuple[list[str], list[str]]:
    """Return the nodes whose files differ, and those of them that need not restart.

    These come first: a link that is made anew must find its rights. Then those that accept; nodes that go
    come last. (splits.py changes this order where topics would be split.)
    """
    old, new = files_by_node(before, stems_of(first)), files_by_node(after, stems_of(second))
    order = [*second.start_order, *(node for node in first.start_order if node not in second.start_order)]
    changed = [node for node in order if old.get(node) != new.get(node)]
    configs = {node.name: node.configs for mesh in (first, second) for node in mesh.nodes}
    light = [
        node
        for node in changed
        if reloads
        and node in old
        and node in new
        and all(old[node].get(name) == new[node].get(name) for name in configs[node])
    ]
    return [*light, *(node for node in changed if node not in light)], light


def interrupted_topics(meshes: Sequence[Mesh], touched: set[str]) -> list[str]:
    """Return the topics of which a broker is touched: messages may be lost at it, or on their way by it."""
    return sorted(
        {
            topic.topic
            for mesh in meshes
            for topic in mesh.topics
            if len(topic.subscribers) > 1 and touched & set(topic.subscribers)
        }
    )

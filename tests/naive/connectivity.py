"""Topic-connectivity read off its definition: one breadth-first search per topic over plain sets."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

Pair = tuple[str, str]


def sound_edges(nodes: set[str], edges: Iterable[Pair]) -> tuple[set[Pair], int, int, int]:
    """The edges that count, and how many rows name unknown nodes, are loops, repeat a pair."""
    kept: set[Pair] = set()
    unknown = loops = duplicates = 0
    for u, v in edges:
        if u not in nodes or v not in nodes:
            unknown += 1
        elif u == v:
            loops += 1
        elif (min(u, v), max(u, v)) in kept:
            duplicates += 1
        else:
            kept.add((min(u, v), max(u, v)))
    return kept, unknown, loops, duplicates


def components(members: set[str], edges: Iterable[Pair]) -> list[set[str]]:
    """The connected components of the subgraph induced by `members`."""
    neighbors: dict[str, set[str]] = {node: set() for node in members}
    for u, v in edges:
        if u in members and v in members:
            neighbors[u].add(v)
            neighbors[v].add(u)
    found: list[set[str]] = []
    left = set(members)
    while left:
        seen = {min(left)}
        queue = deque(seen)
        while queue:
            for other in neighbors[queue.popleft()] - seen:
                seen.add(other)
                queue.append(other)
        found.append(seen)
        left -= seen
    return found


def verdict(pairs: Iterable[Pair], rows: Iterable[Pair]) -> dict[str, object]:
    """What `verify --json` must print, all witnesses listed."""
    topics: dict[str, set[str]] = {}
    for node, topic in pairs:
        topics.setdefault(topic, set()).add(node)
    nodes = set().union(*topics.values()) if topics else set()
    edges, unknown, loops, duplicates = sound_edges(nodes, rows)
    parts = {topic: components(members, edges) for topic, members in topics.items()}
    broken = [topic for topic in topics if len(parts[topic]) > 1]
    witnesses = []
    for topic in sorted(broken, key=lambda topic: (-len(parts[topic]), topic)):
        ordered = sorted(parts[topic], key=lambda part: (-len(part), min(part)))
        witnesses.append(
            {
                "topic": topic,
                "component_sizes": [len(part) for part in ordered],
                "nodes": [min(part) for part in ordered[:2]],
            }
        )
    return {
        "topic_connected": not broken,
        "topics": len(topics),
        "topics_partitioned": len(broken),
        "topic_components": sum(len(part) for part in parts.values()),
        "edges": len(edges),
        "unknown_nodes": unknown,
        "self_loops": loops,
        "duplicate_edges": duplicates,
        "witnesses": witnesses,
    }

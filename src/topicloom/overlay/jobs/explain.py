"""Why an edge, a node or a topic looks as it does in an overlay: what is carried, and what would split."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from topicloom.base.arrays import Longs
from topicloom.errors import InputError
from topicloom.overlay.graphs.sketch import sketch
from topicloom.overlay.jobs.frontier import hops_inside
from topicloom.overlay.measures.cuts import TopicGraph
from topicloom.overlay.model.explanation import (
    CutNode,
    Detour,
    ExplainedEdge,
    ExplainedNode,
    ExplainedTopic,
    Neighbor,
    SplitWithout,
)
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.python_tables import find_name
from topicloom.overlay.model.shared_topics import edge_topics, shared_topics


def explain_edge(interest: Interest, overlay: Overlay, u: str | int, v: str | int) -> ExplainedEdge:
    """Explain the edge between two nodes; two that are not linked are refused."""
    ends = sorted(find_name(interest.node_ids, name, "node") for name in (u, v))
    names = [interest.node_ids[one].as_py() for one in ends]
    low, high = ends
    if not ((overlay.u == low) & (overlay.v == high)).any():
        raise InputError(f"the overlay has no edge between {names[0]!r} and {names[1]!r}")
    _, topics = shared_topics(interest, np.array([low], np.int32), np.array([high], np.int32))
    splits, detours = [], []
    for topic in topics.tolist():
        graph = TopicGraph.of(interest, overlay, topic)
        edge = graph.place_of(low), graph.place_of(high)
        far = int(graph.hops(edge[0], edge=edge)[edge[1]])
        name = interest.topic_ids[topic].as_py()
        if far < 0:
            parts = [part for part in graph.components(edge=edge) if set(edge) & set(part.tolist())]
            splits.append(SplitWithout(name, *_sides(interest, graph, parts)))
        else:
            detours.append(Detour(name, far))
    shown = _largest(interest, [one.topic for one in splits] or [one.topic for one in detours])
    return ExplainedEdge(
        u=names[0],
        v=names[1],
        topics=_names(interest, topics.tolist()),
        splits=tuple(splits),
        detours=tuple(detours),
        drawn_topic=shown,
        drawing=draw_topic(interest, overlay, shown, edge=(low, high)),
    )


def explain_node(interest: Interest, overlay: Overlay, node: str | int) -> ExplainedNode:
    """Explain who a node is linked to, and what its death would split."""
    number = find_name(interest.node_ids, node, "node")
    mine = np.flatnonzero((overlay.u == number) | (overlay.v == number))
    u, v = overlay.u[mine], overlay.v[mine]
    others = np.where(u == number, v, u)
    carried = edge_topics(interest, u, v)
    neighbors = [
        Neighbor(interest.node_ids[int(other)].as_py(), tuple(topics))
        for other, topics in zip(others, carried, strict=True)
    ]
    splits = []
    for topic in interest.topics_of(number).tolist():
        graph = TopicGraph.of(interest, overlay, topic)
        before, place = len(graph.components()), graph.place_of(number)
        alone = not ((graph.u == place) | (graph.v == place)).any()
        after = graph.components(without=place)
        if len(after) > before - alone:
            name = interest.topic_ids[topic].as_py()
            splits.append(SplitWithout(name, *_sides(interest, graph, after)))
    topics = interest.topics_of(number).tolist()
    shown = _largest(interest, [one.topic for one in splits] or list(_names(interest, topics)))
    return ExplainedNode(
        node=interest.node_ids[number].as_py(),
        topics=_names(interest, topics),
        neighbors=tuple(sorted(neighbors, key=lambda one: (-len(one.topics), one.node))),
        splits=tuple(splits),
        drawn_topic=shown,
        drawing=draw_topic(interest, overlay, shown, marked=[number]),
    )


def explain_topic(
    interest: Interest, overlay: Overlay, topic: str | int, *, threads: int | None = None
) -> ExplainedTopic:
    """Explain how the subscribers of a topic are connected, and on whom that depends."""
    number = find_name(interest.topic_ids, topic, "topic")
    graph = TopicGraph.of(interest, overlay, number)
    name = interest.topic_ids[number].as_py()
    names = _member_names(interest, graph)
    nodes, bridges = graph.cuts()
    wanted = np.zeros(interest.n_topics, np.bool_)
    wanted[number] = True
    cut = [CutNode(names[one], sizes) for one, sizes in nodes.items()]
    return ExplainedTopic(
        topic=name,
        subscribers=len(graph.members),
        edges=len(graph.u),
        component_sizes=tuple(len(part) for part in graph.components()),
        **hops_inside(interest.only_topics(wanted), overlay, threads=threads),
        cut_nodes=tuple(sorted(cut, key=lambda one: (one.component_sizes[0], one.node))),
        bridges=tuple((names[u], names[v]) for u, v in bridges),
        drawn_topic=name,
        drawing=draw_topic(interest, overlay, name, marked=graph.members[list(nodes)].tolist()),
    )


def draw_topic(
    interest: Interest,
    overlay: Overlay,
    topic: str | None,
    *,
    marked: Sequence[int] = (),
    edge: tuple[int, int] | None = None,
) -> tuple[str, ...]:
    """Return the subgraph of a topic as lines of text; nodes and the edge by number."""
    if topic is None:
        return ()
    graph = TopicGraph.of(interest, overlay, find_name(interest.topic_ids, topic, "topic"))
    inside = None if edge is None else (graph.place_of(edge[0]), graph.place_of(edge[1]))
    places = [graph.place_of(node) for node in marked]
    return tuple(sketch(_member_names(interest, graph), graph.u, graph.v, marked=places, edge=inside))


def _sides(
    interest: Interest, graph: TopicGraph, parts: Sequence[Longs]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the sizes of components and the first node of each."""
    first = [interest.node_ids[int(graph.members[part[0]])].as_py() for part in parts]
    return tuple(len(part) for part in parts), tuple(first)


def _names(interest: Interest, topics: Sequence[int]) -> tuple[str, ...]:
    return tuple(interest.topic_ids.take(pa.array(topics, pa.int64())).to_pylist())


def _member_names(interest: Interest, graph: TopicGraph) -> list[str]:
    names: list[str] = interest.node_ids.take(pa.array(graph.members)).to_pylist()
    return names


def _largest(interest: Interest, topics: Sequence[str]) -> str | None:
    """Return the topic with the most subscribers, the first of equal ones."""
    sizes = interest.topic_sizes()
    numbers = {name: find_name(interest.topic_ids, name, "topic") for name in topics}
    return max(topics, key=lambda name: int(sizes[numbers[name]]), default=None)

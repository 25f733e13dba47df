"""Node-link JSON as networkx.node_link_data lays it out, also read by D3; every identifier fits as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.overlay.graphs.names import PLAIN
from topicloom.overlay.graphs.reading import Collector, listed, strings
from topicloom.overlay.graphs.writing import (
    FORMAT,
    NODE_KEYS,
    TOPICS,
    UNWANTED,
    check_pair,
    edge_chunks,
    node_chunks,
    unwanted_topics,
)
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def write_node_link(interest: Interest, overlay: Overlay, path: Path, *, progress: Progress = SILENT) -> None:
    """One JSON object, a node or an edge a line; edges under `edges`, as networkx has it since 3.6."""
    check_pair(interest, overlay)
    topics = interest.topic_ids.to_pylist()
    nodes = [json.dumps(name, ensure_ascii=False) for name in interest.node_ids.to_pylist()]
    unwanted = unwanted_topics(interest, topics)
    about = f'{{"format":"{FORMAT}","names":"{PLAIN}"' + (f',"{UNWANTED}":{unwanted}}}' if unwanted else "}")
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f'{{"directed":false,"multigraph":false,"graph":{about},\n"nodes":[')
        before = "\n"
        for chunk in node_chunks(interest, nodes, topics, progress):
            for node, own in chunk:
                data = "".join(f',"{key}":{text}' for key, text in own)
                file.write(f'{before}{{"id":{node}{data}}}')
                before = ",\n"
        file.write('\n],\n"edges":[')
        before = "\n"
        for u, v, shared in edge_chunks(interest, overlay, topics, progress):
            lines = [
                f'{{"source":{nodes[a]},"target":{nodes[b]},"{TOPICS}":{text}}}'
                for a, b, text in zip(u, v, shared, strict=True)
            ]
            file.write(before + ",\n".join(lines))
            before = ",\n"
        file.write("\n]}\n")


class _Node(msgspec.Struct):
    id: str | int
    topics: Any = None
    roles: Any = None
    rates: Any = None


class _Edge(msgspec.Struct, array_like=False):
    source: str | int
    target: str | int


class _Graph(msgspec.Struct):
    nodes: list[_Node]
    edges: list[_Edge] | None = None
    links: list[_Edge] | None = None
    graph: dict[str, Any] | list[Any] = {}


def read_node_link(path: Path) -> tuple[Interest, Overlay]:
    """The interest and overlay of a node-link file; edges under `edges` or, as once, under `links`."""
    where = str(path)
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_Graph)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not node-link JSON: {error}") from None
    edges = found.edges if found.edges is not None else found.links
    if edges is None:
        raise InputError(f"{path} is not node-link JSON: it has neither 'edges' nor 'links'")
    if found.nodes and all(node.topics is None for node in found.nodes):
        raise InputError(f"{path}: no node has the attribute {TOPICS!r}, an array of its topics")
    collector = Collector(where)
    for node in found.nodes:
        here = f"{where}: node {node.id!r}"
        values = (getattr(node, key) for key in NODE_KEYS)
        topics, *extras = (None if value is None else listed(value, here, TOPICS) for value in values)
        collector.add_node(str(node.id), strings(topics or [], here), *extras)
    for edge in edges:
        collector.add_edge(str(edge.source), str(edge.target))
    if isinstance(found.graph, dict) and UNWANTED in found.graph:
        collector.add_topics(strings(listed(found.graph[UNWANTED], where, UNWANTED), where))
    return collector.finish()

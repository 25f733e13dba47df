"""Node-link JSON as networkx.node_link_data lays it out, also read by D3; every identifier fits as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.overlay.graphs.names import PLAIN, Names
from topicloom.overlay.graphs.reading import GraphCollector
from topicloom.overlay.graphs.writing import (
    FORMAT,
    TOPICS,
    UNWANTED,
    Attributes,
    describe_graph,
    in_json,
    write_graph,
)
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def write_node_link(interest: Interest, overlay: Overlay, path: Path, *, progress: Progress = SILENT) -> None:
    """Write one JSON object, a node or an edge a line; edges under `edges`, as networkx has it since 3.6."""
    nodes = [in_json(name) for name in interest.node_ids.to_pylist()]
    names = Names(PLAIN, nodes, interest.topic_ids.to_pylist())
    unwanted = describe_graph(interest, names).get(UNWANTED)
    about = f'{{"format":"{FORMAT}","names":"{PLAIN}"' + (f',"{UNWANTED}":{unwanted}}}' if unwanted else "}")

    def node(name: str, own: Attributes) -> str:
        return f'{{"id":{name}' + "".join(f',"{key}":{text}' for key, text in own) + "}"

    write_graph(
        path,
        interest,
        overlay,
        names,
        head=f'{{"directed":false,"multigraph":false,"graph":{about},\n"nodes":[',
        node=node,
        middle='\n],\n"edges":[',
        edge=lambda u, v, topics, _: f'{{"source":{u},"target":{v},"{TOPICS}":{topics}}}',
        tail="\n]}\n",
        between=("\n", ",\n"),
        progress=progress,
    )


class _Node(msgspec.Struct):
    id: str | int
    topics: Any = None
    roles: Any = None
    rates: Any = None


class _Edge(msgspec.Struct):
    source: str | int
    target: str | int


class _Graph(msgspec.Struct):
    nodes: list[_Node]
    edges: list[_Edge] | None = None
    links: list[_Edge] | None = None
    graph: dict[str, Any] | list[Any] = {}


def read_node_link(path: Path) -> tuple[Interest, Overlay]:
    """Read the interest and overlay of a node-link file; edges under `edges` or, as once, under `links`."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_Graph)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not node-link JSON: {error}") from None
    edges = found.edges if found.edges is not None else found.links
    if edges is None:
        raise InputError(f"{path} is not node-link JSON: it has neither 'edges' nor 'links'")
    if found.nodes and all(node.topics is None for node in found.nodes):
        raise InputError(f"{path}: no node has the attribute {TOPICS!r}, an array of its topics")
    collector = GraphCollector(str(path))
    for node in found.nodes:
        collector.add_node(str(node.id), msgspec.structs.asdict(node), f"{path}: node {node.id!r}")
    for edge in edges:
        collector.add_edge(str(edge.source), str(edge.target))
    if isinstance(found.graph, dict) and UNWANTED in found.graph:
        collector.add_topics(found.graph[UNWANTED], str(path))
    return collector.finish()

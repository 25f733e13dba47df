"""GraphML: for networkx, igraph, Gephi, yEd and most others. The identifier of a node is its `id`.

It is also the attribute `name`, where igraph looks for it; in an `id` igraph reads `&` as `&#38;`.

XML 1.0 cannot hold most control characters: an interest with such a name is written with percent-encoded
names (see names.py), which the graph attribute `names` says.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.parsers import expat

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.overlay.graphs.names import EXPLAINED, names_in
from topicloom.overlay.graphs.reading import GraphCollector
from topicloom.overlay.graphs.writing import (
    NODE_KEYS,
    TOPICS,
    UNWANTED,
    Attributes,
    describe_graph,
    in_json,
    node_keys,
    write_graph,
)
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

# What is no Char of XML 1.0 (section 2.2), not even as a character reference.
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
NAME, COUNT = "name", "n_topics"
_IN_XML = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)
_IN_TEXT = {char: text for char, text in _IN_XML.items() if chr(char) in "&<>"}  # JSON escapes the others


def write_graphml(interest: Interest, overlay: Overlay, path: Path, *, progress: Progress = SILENT) -> None:
    """Write one GraphML file; attributes are JSON arrays as text, and the number of topics of each edge."""
    names = names_in(interest, FORBIDDEN)
    about = describe_graph(interest, names, _in_text)
    keys = {"graph": list(about), "node": [NAME, *node_keys(interest)], "edge": [TOPICS]}
    head = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        *(
            f'<key id="{owner}_{key}" for="{owner}" attr.name="{key}" attr.type="string"/>'
            for owner, own in keys.items()
            for key in own
        ),
        f'<key id="edge_{COUNT}" for="edge" attr.name="{COUNT}" attr.type="int"/>',
        f'<graph edgedefault="undirected">\n<desc>{EXPLAINED[names.how]}</desc>',
        *(f'<data key="graph_{key}">{value}</data>' for key, value in about.items()),
    ]

    def node(name: str, attributes: Attributes) -> str:
        data = "".join(f'<data key="node_{key}">{text}</data>' for key, text in attributes)
        return f'<node id="{name}"><data key="node_{NAME}">{name}</data>{data}</node>\n'

    def edge(u: str, v: str, topics: str, count: int) -> str:
        data = f'<data key="edge_{TOPICS}">{topics}</data><data key="edge_{COUNT}">{count}</data>'
        return f'<edge source="{u}" target="{v}">{data}</edge>\n'

    write_graph(
        path,
        interest,
        overlay,
        replace(names, nodes=[name.translate(_IN_XML) for name in names.nodes]),
        head="\n".join(head) + "\n",
        node=node,
        edge=edge,
        tail="</graph>\n</graphml>\n",
        quote=_in_text,
        progress=progress,
    )


def _in_text(name: str) -> str:
    return in_json(name).translate(_IN_TEXT)


def read_graphml(path: Path) -> tuple[Interest, Overlay]:
    """Read the interest and overlay of a GraphML file, ours or another's whose nodes have `topics`."""
    reader = _GraphmlReader(path)
    try:
        with path.open("rb") as file:
            reader.parser.ParseFile(file)
    except expat.ExpatError as error:
        raise InputError(f"{path} is not XML: {error}") from None
    if not reader.knows_topics:
        raise InputError(
            f"{path}: no node attribute is called {TOPICS!r}; it should hold a JSON array of topics"
        )
    return reader.collector.finish()


class _GraphmlReader:
    """Follows the elements; edges are kept as they come, their attributes are passed over."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self.collector = GraphCollector(self.where)
        self.keys: dict[str, tuple[str, str]] = {}
        self.tags: dict[str, str] = {}  # without their namespaces
        self.depth: list[str] = []
        self.node: str | None = None
        self.values: dict[str, Any] = {}
        self.key: str | None = None
        self.text: list[str] = []
        self.knows_topics = False
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.EntityDeclHandler = self.refuse_entity

    def start(self, element: str, attributes: dict[str, str]) -> None:
        tag = self.tags.get(element) or self.tags.setdefault(element, element.rpartition(" ")[2])
        if not self.depth and tag != "graphml":
            raise InputError(f"{self.where} is not GraphML: it begins with <{tag}>")
        owner = self.depth[-1] if self.depth else ""
        self.depth.append(tag)
        if tag == "edge":
            self.collector.add_edge(self.named(attributes, "source"), self.named(attributes, "target"))
        elif tag == "node":
            self.node, self.values = self.named(attributes, "id"), {}
        elif tag == "data" and owner in ("node", "graph"):
            self.key, self.text = self.named(attributes, "key"), []
            self.parser.CharacterDataHandler = self.text.append  # not for edges: there are so many
        elif tag == "key":
            name = attributes.get("attr.name", attributes.get("id", ""))
            self.keys[attributes.get("id", "")] = (attributes.get("for", "all"), name)
            self.knows_topics |= name == TOPICS and attributes.get("for", "all") in ("node", "all")
        elif tag == "hyperedge" or (tag == "graph" and self.depth.count("graph") > 1):
            raise InputError(
                f"{self.where} has a {'nested graph' if tag == 'graph' else tag}; only plain graphs"
            )
        elif tag == "default" and next(reversed(self.keys.values()), ("", ""))[1] in (*NODE_KEYS, "names"):
            raise InputError(
                f"{self.where} gives a <default> for an attribute we need; write it at each node"
            )

    def end(self, element: str) -> None:
        tag = self.depth.pop()
        if tag == "data" and self.key is not None:
            name = self.keys.get(self.key, ("", self.key))[1]
            self.values[name] = "".join(self.text)
            self.key = None
            self.parser.CharacterDataHandler = None
            if self.depth[-1] == "graph":
                self.about(name, self.values.pop(name))
        elif tag == "node" and self.node is not None:
            name = self.collector.decode(self.node)
            self.collector.add_node(self.node, self.values, f"{self.where}: node {name!r}")
            self.node = None

    def about(self, name: str, value: str) -> None:
        if name == "names":
            if self.collector.numbers:
                raise InputError(f"{self.where}: the graph's attribute {name!r} must stand before its nodes")
            self.collector.names_are(value, self.where)
        elif name == UNWANTED:
            self.collector.add_topics(value, self.where)

    def named(self, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            raise InputError(f"{self.where} line {self.parser.CurrentLineNumber}: no {name!r}")
        return attributes[name]

    def refuse_entity(self, name: str, *_: object) -> None:
        raise InputError(f"{self.where} declares the entity {name!r}; that is not read")

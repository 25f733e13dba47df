"""GraphML: for networkx, igraph, Gephi, yEd and most others. The identifier of a node is its `id`.

It is also the attribute `name`, where igraph looks for it; in an `id` igraph reads `&` as `&#38;`.

XML 1.0 cannot hold most control characters: an interest with such a name is written with percent-encoded
names (see names.py), which the graph attribute `names` says.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.parsers import expat

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.overlay.graphs.names import EXPLAINED, decoder, names_in
from topicloom.overlay.graphs.reading import Collector, listed, strings
from topicloom.overlay.graphs.writing import (
    FORMAT,
    NODE_KEYS,
    TOPICS,
    UNWANTED,
    check_pair,
    edge_chunks,
    in_json,
    node_chunks,
    node_keys,
    unwanted_topics,
)
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What is no Char of XML 1.0 (section 2.2), not even as a character reference."""
NAME = "name"
_IN_XML = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)
_IN_TEXT = {char: text for char, text in _IN_XML.items() if chr(char) in "&<>"}  # JSON escapes the others


def write_graphml(interest: Interest, overlay: Overlay, path: Path, *, progress: Progress = SILENT) -> None:
    """One GraphML file; attributes are JSON arrays as text."""
    check_pair(interest, overlay)
    names = names_in(interest, FORBIDDEN)
    nodes = [name.translate(_IN_XML) for name in names.nodes]
    unwanted = unwanted_topics(interest, names.topics, _in_text)
    about = {"format": FORMAT, "names": names.how} | ({UNWANTED: unwanted} if unwanted else {})
    keys = node_keys(interest)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        file.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for owner, own in (("graph", about), ("node", [NAME, *keys]), ("edge", [TOPICS])):
            for key in own:
                file.write(f'<key id="{owner}_{key}" for="{owner}" attr.name="{key}" attr.type="string"/>\n')
        file.write(f'<graph edgedefault="undirected">\n<desc>{EXPLAINED[names.how]}</desc>\n')
        for key, value in about.items():
            file.write(f'<data key="graph_{key}">{value}</data>\n')
        for chunk in node_chunks(interest, nodes, names.topics, progress, _in_text):
            for node, attributes in chunk:
                data = "".join(f'<data key="node_{key}">{text}</data>' for key, text in attributes)
                file.write(f'<node id="{node}"><data key="node_{NAME}">{node}</data>{data}</node>\n')
        for u, v, shared in edge_chunks(interest, overlay, names.topics, progress, _in_text):
            file.write(
                "".join(
                    f'<edge source="{nodes[a]}" target="{nodes[b]}">'
                    f'<data key="edge_{TOPICS}">{text}</data></edge>\n'
                    for a, b, text in zip(u, v, shared, strict=True)
                )
            )
        file.write("</graph>\n</graphml>\n")


def _in_text(name: str) -> str:
    return in_json(name).translate(_IN_TEXT)


def read_graphml(path: Path) -> tuple[Interest, Overlay]:
    """The interest and overlay of a GraphML file, ours or another's whose nodes have `topics`."""
    reader = _Reader(path)
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


class _Reader:
    """Follows the elements; edges are kept as they come, their attributes are passed over."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self.collector = Collector(self.where)
        self.decode: Callable[[str], str] = str
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
            one, other = self.named(attributes, "source"), self.named(attributes, "target")
            self.collector.add_edge(self.decode(one), self.decode(other))
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
            self.finish_node(self.decode(self.node))
            self.node = None

    def about(self, name: str, value: str) -> None:
        if name == "names":
            if self.collector.numbers:
                raise InputError(f"{self.where}: the graph's attribute {name!r} must stand before its nodes")
            self.decode = decoder(value, self.where)
        elif name == UNWANTED:
            self.collector.add_topics(self.topics(value, self.where))

    def finish_node(self, name: str) -> None:
        where = f"{self.where}: node {name!r}"
        extras = [
            listed(self.values[key], where, key) if key in self.values else None for key in NODE_KEYS[1:]
        ]
        self.collector.add_node(name, self.topics(self.values.get(TOPICS, "[]"), where), *extras)

    def topics(self, text: str, where: str) -> list[str]:
        return [self.decode(topic) for topic in strings(listed(text, where, TOPICS), where)]

    def named(self, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            raise InputError(f"{self.where} line {self.parser.CurrentLineNumber}: no {name!r}")
        return attributes[name]

    def refuse_entity(self, name: str, *_: object) -> None:
        raise InputError(f"{self.where} declares the entity {name!r}; that is not read")

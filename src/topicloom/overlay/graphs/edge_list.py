"""Edge list as networkx.read_edgelist reads it: `u v {"topics": [...]}` a line, `#` before what is no edge.

    # topicloom 1 edge list; names are plain
    # node a {"topics":["x","y"]}
    a b {"topics":["x"]}

The lines `# node` hold the interest and the nodes without edges: networkx passes over them, we read them.
A name with white space, `#`, quotes or backslashes, or an empty one, makes the file percent-encoded (see
names.py).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
    node_chunks,
    unwanted_topics,
)
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

_SPACES = "".join(char for char in map(chr, range(sys.maxunicode + 1)) if char.isspace())
FORBIDDEN = re.compile(f"[#\"'\\\\\x00-\x1f\x7f-\x9f{_SPACES}]")
"""What splits a line, begins a comment or needs an escape in the attributes."""
_HEAD = f"# {FORMAT} edge list; "


def write_edge_list(interest: Interest, overlay: Overlay, path: Path, *, progress: Progress = SILENT) -> None:
    """One text file: comments with the nodes, then the edges."""
    check_pair(interest, overlay)
    names = names_in(interest, FORBIDDEN)
    unwanted = unwanted_topics(interest, names.topics)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{_HEAD}{EXPLAINED[names.how]}\n# names {names.how}\n")
        if unwanted:
            file.write(f"# {UNWANTED} {unwanted}\n")
        for chunk in node_chunks(interest, names.nodes, names.topics, progress):
            for node, own in chunk:
                data = ",".join(f'"{key}":{text}' for key, text in own)
                file.write(f"# node {node} {{{data}}}\n")
        for u, v, shared in edge_chunks(interest, overlay, names.topics, progress):
            file.write(
                "".join(
                    f'{names.nodes[a]} {names.nodes[b]} {{"{TOPICS}":{text}}}\n'
                    for a, b, text in zip(u, v, shared, strict=True)
                )
            )


def read_edge_list(path: Path) -> tuple[Interest, Overlay]:
    """The interest and overlay of an edge list that `write_edge_list` wrote."""
    with path.open(encoding="utf-8", newline="\n") as file:
        try:
            return _read_lines(file, path)
        except UnicodeDecodeError as error:
            raise InputError(f"{path} is not UTF-8 text: {error}") from None


def _read_lines(file: Any, path: Path) -> tuple[Interest, Overlay]:
    if not file.readline().startswith(_HEAD):
        raise InputError(f"{path} does not begin with {_HEAD!r}: an edge list alone has no topics to read")
    collector = Collector(str(path))
    decode: Callable[[str], str] = str
    for row, line in enumerate(file, start=2):
        where = f"{path} line {row}"
        words = line.rstrip("\n").split(" ")
        if words[0] != "#":
            if len(words) < 2:
                raise InputError(f"{where}: an edge is two names")
            collector.add_edge(decode(words[0]), decode(words[1]))
        elif words[1] == "names" and len(words) == 3:
            decode = decoder(words[2], where)
        elif words[1] == UNWANTED and len(words) == 3:
            collector.add_topics([decode(topic) for topic in strings(listed(words[2], where, TOPICS), where)])
        elif words[1] == "node" and len(words) == 4:
            values = _values(words[3], where)
            topics, *extras = (
                listed(values[key], where, key) if key in values else None for key in NODE_KEYS
            )
            wanted = [decode(topic) for topic in strings(topics or [], where)]
            collector.add_node(decode(words[2]), wanted, *extras)
        else:
            raise InputError(f"{where} is none of ours: {line.strip()[:60]!r}")
    return collector.finish()


def _values(text: str, where: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise InputError(f"{where}: the attributes of a node are a JSON object")
    return values

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
from pathlib import Path
from typing import Any

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.overlay.graphs.names import EXPLAINED, names_in
from topicloom.overlay.graphs.reading import GraphCollector
from topicloom.overlay.graphs.writing import (
    FORMAT,
    TOPICS,
    UNWANTED,
    Attributes,
    describe_graph,
    write_graph,
)
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

_SPACES = "".join(char for char in map(chr, range(sys.maxunicode + 1)) if char.isspace())
# What splits a line, begins a comment or needs an escape in the attributes.
FORBIDDEN = re.compile(f"[#\"'\\\\\x00-\x1f\x7f-\x9f{_SPACES}]")
_HEAD = f"# {FORMAT} edge list; "


def write_edge_list(interest: Interest, overlay: Overlay, path: Path, *, progress: Progress = SILENT) -> None:
    """Write one text file: comments with the nodes, then the edges."""
    names = names_in(interest, FORBIDDEN)
    about = describe_graph(interest, names)
    del about["format"]  # it stands in the first line

    def node(name: str, own: Attributes) -> str:
        data = ",".join(f'"{key}":{text}' for key, text in own)
        return f"# node {name} {{{data}}}\n"

    write_graph(
        path,
        interest,
        overlay,
        names,
        head=f"{_HEAD}{EXPLAINED[names.how]}\n" + "".join(f"# {key} {text}\n" for key, text in about.items()),
        node=node,
        edge=lambda u, v, topics, _: f'{u} {v} {{"{TOPICS}":{topics}}}\n',
        progress=progress,
    )


def read_edge_list(path: Path) -> tuple[Interest, Overlay]:
    """Read the interest and overlay of an edge list that `write_edge_list` wrote."""
    collector = GraphCollector(str(path))
    with path.open(encoding="utf-8", newline="\n") as file:
        if not file.readline().startswith(_HEAD):
            raise InputError(
                f"{path} does not begin with {_HEAD!r}: an edge list alone has no topics to read"
            )
        for row, line in enumerate(file, start=2):
            _read_line(line, f"{path} line {row}", collector)
    return collector.finish()


def _read_line(line: str, where: str, collector: GraphCollector) -> None:
    words = line.rstrip("\n").split(" ")
    if words[0] != "#":
        if len(words) < 2:
            raise InputError(f"{where}: an edge is two names")
        collector.add_edge(words[0], words[1])
    elif words[1] == "names" and len(words) == 3:
        collector.names_are(words[2], where)
    elif words[1] == UNWANTED and len(words) == 3:
        collector.add_topics(words[2], where)
    elif words[1] == "node" and len(words) == 4:
        collector.add_node(words[2], _values(words[3], where), where)
    else:
        raise InputError(f"{where} is none of ours: {line.strip()[:60]!r}")


def _values(text: str, where: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise InputError(f"{where}: the attributes of a node are a JSON object")
    return values

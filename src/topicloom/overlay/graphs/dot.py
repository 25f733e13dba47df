"""DOT, the language of Graphviz. Every name is quoted, so keywords and numbers are names like others.

In a quoted DOT name only the quote can be escaped: a backslash before a quote or at the end cannot be told
from an escape, and drawing programs read `\\n` or `\\N` in a name as commands. A name that begins with `%`
is lost: Graphviz takes it for one of its own. So quotes, backslashes, control characters and a first `%` make
the file quoted-printable (see names.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.overlay.graphs.names import EXPLAINED, QUOTED_PRINTABLE, names_in
from topicloom.overlay.graphs.reading import GraphCollector
from topicloom.overlay.graphs.writing import FORMAT, TOPICS, UNWANTED, describe_graph, write_graph
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

FORBIDDEN = re.compile('["\\\\\x00-\x1f\x7f]|^%')
_HEAD = f"// {FORMAT} DOT; "
_NAME = r'"([^"\\]*)"'
_VALUE = r'"((?:[^"\\]|\\")*)"'
_ATTRIBUTE = re.compile(rf"(\w+)={_VALUE}")
_GRAPH = re.compile(r"  graph \[(.*)\];")
_NODE = re.compile(rf"  {_NAME} \[(.*)\];")
_EDGE = re.compile(rf"  {_NAME} -- {_NAME} \[(.*)\];")


def write_dot(interest: Interest, overlay: Overlay, path: Path, *, progress: Progress = SILENT) -> None:
    """Write one undirected DOT graph, a statement a line."""
    names = names_in(interest, FORBIDDEN, QUOTED_PRINTABLE)
    about = describe_graph(interest, names, _quoted)
    write_graph(
        path,
        interest,
        overlay,
        names,
        head=f"{_HEAD}{EXPLAINED[names.how]}\ngraph overlay {{\n  graph [{_attributes(about.items())}];\n",
        node=lambda name, own: f'  "{name}" [{_attributes(own)}];\n',
        edge=lambda u, v, topics, _: f'  "{u}" -- "{v}" [{TOPICS}="{topics}"];\n',
        tail="}\n",
        quote=_quoted,
        progress=progress,
    )


def read_dot(path: Path) -> tuple[Interest, Overlay]:
    """Read the interest and overlay of a file that `write_dot` wrote; other DOT is refused."""
    with path.open(encoding="utf-8", newline="\n") as file:
        if not file.readline().startswith(_HEAD) or file.readline() != "graph overlay {\n":
            raise InputError(f"{path} does not begin with {_HEAD!r}: only DOT of our own is read")
        collector = GraphCollector(str(path))
        for row, line in enumerate(file, start=3):
            if line == "}\n":
                return collector.finish()
            _read_statement(line.rstrip("\n"), f"{path} line {row}", collector)
    raise InputError(f"{path} ends before its graph does: the file is cut off")


def _read_statement(text: str, where: str, collector: GraphCollector) -> None:
    if found := _EDGE.fullmatch(text):
        collector.add_edge(found[1], found[2])
    elif found := _NODE.fullmatch(text):
        collector.add_node(found[1], _read_attributes(found[2]), where)
    elif found := _GRAPH.fullmatch(text):
        values = _read_attributes(found[1])
        collector.names_are(values.get("names"), where)
        collector.add_topics(values.get(UNWANTED, "[]"), where)
    else:
        raise InputError(f"{where} is no statement of ours: {text.strip()[:60]!r}")


def _quoted(name: str) -> str:
    return f'\\"{name}\\"'  # nothing in a name needs an escape of JSON any more


def _attributes(values: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f'{key}="{value}"' for key, value in values)


def _read_attributes(text: str) -> dict[str, str]:
    return {key: value.replace('\\"', '"') for key, value in _ATTRIBUTE.findall(text)}

"""DOT, the language of Graphviz. Every name is quoted, so keywords and numbers are names like others.

In a quoted DOT name only the quote can be escaped: a backslash before a quote or at the end cannot be told
from an escape, and drawing programs read `\\n` or `\\N` in a name as commands. A name that begins with `%`
is lost: Graphviz takes it for one of its own. So quotes, backslashes, control characters and a first `%` make
the file quoted-printable (see names.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from topicloom.base.progress import SILENT, Progress
from topicloom.errors import InputError
from topicloom.overlay.graphs.names import EXPLAINED, QUOTED_PRINTABLE, decoder, names_in
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

FORBIDDEN = re.compile('["\\\\\x00-\x1f\x7f]|^%')
_HEAD = f"// {FORMAT} DOT; "
_NAME = r'"([^"\\]*)"'
_VALUE = r'"((?:[^"\\]|\\")*)"'
_ATTRIBUTE = re.compile(rf"(\w+)={_VALUE}")
_GRAPH = re.compile(r"  graph \[(.*)\];")
_NODE = re.compile(rf"  {_NAME} \[(.*)\];")
_EDGE = re.compile(rf"  {_NAME} -- {_NAME} \[(.*)\];")


def write_dot(interest: Interest, overlay: Overlay, path: Path, *, progress: Progress = SILENT) -> None:
    """One undirected DOT graph, a statement a line."""
    check_pair(interest, overlay)
    names = names_in(interest, FORBIDDEN, QUOTED_PRINTABLE)
    unwanted = unwanted_topics(interest, names.topics, _quoted)
    about = {"format": FORMAT, "names": names.how} | ({UNWANTED: unwanted} if unwanted else {})
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{_HEAD}{EXPLAINED[names.how]}\ngraph overlay {{\n")
        file.write(f"  graph [{_attributes(about.items())}];\n")
        for chunk in node_chunks(interest, names.nodes, names.topics, progress, _quoted):
            file.write("".join(f'  "{node}" [{_attributes(own)}];\n' for node, own in chunk))
        for u, v, shared in edge_chunks(interest, overlay, names.topics, progress, _quoted):
            file.write(
                "".join(
                    f'  "{names.nodes[a]}" -- "{names.nodes[b]}" [{TOPICS}="{text}"];\n'
                    for a, b, text in zip(u, v, shared, strict=True)
                )
            )
        file.write("}\n")


def read_dot(path: Path) -> tuple[Interest, Overlay]:
    """The interest and overlay of a file that `write_dot` wrote; other DOT is not read."""
    with path.open(encoding="utf-8", newline="\n") as file:
        try:
            if not file.readline().startswith(_HEAD) or file.readline() != "graph overlay {\n":
                raise InputError(f"{path} does not begin with {_HEAD!r}: only DOT of our own is read")
            reader = _Reader(str(path))
            for row, line in enumerate(file, start=3):
                if line == "}\n":
                    return reader.collector.finish()
                reader.statement(line, f"{path} line {row}")
        except UnicodeDecodeError as error:
            raise InputError(f"{path} is not UTF-8 text: {error}") from None
    raise InputError(f"{path} ends before its graph does: the file is cut off")


class _Reader:
    """Statement by statement."""

    def __init__(self, where: str) -> None:
        self.collector = Collector(where)
        self.decode: Callable[[str], str] = str

    def statement(self, line: str, where: str) -> None:
        text = line.rstrip("\n")
        if found := _EDGE.fullmatch(text):
            self.collector.add_edge(self.decode(found[1]), self.decode(found[2]))
        elif found := _NODE.fullmatch(text):
            values = _read_attributes(found[2])
            topics, *extras = (
                listed(values[key], where, key) if key in values else None for key in NODE_KEYS
            )
            self.collector.add_node(self.decode(found[1]), self.topics(topics or [], where), *extras)
        elif found := _GRAPH.fullmatch(text):
            values = _read_attributes(found[1])
            self.decode = decoder(values.get("names"), where)
            self.collector.add_topics(self.topics(listed(values.get(UNWANTED, "[]"), where, UNWANTED), where))
        else:
            raise InputError(f"{where} is no statement of ours: {text.strip()[:60]!r}")

    def topics(self, values: list[object], where: str) -> list[str]:
        return [self.decode(topic) for topic in strings(values, where)]


def _quoted(name: str) -> str:
    return f'\\"{name}\\"'  # nothing in a name needs an escape of JSON any more


def _attributes(values: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f'{key}="{value}"' for key, value in values)


def _read_attributes(text: str) -> dict[str, str]:
    return {key: value.replace('\\"', '"') for key, value in _ATTRIBUTE.findall(text)}

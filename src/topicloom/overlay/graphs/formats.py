"""Graph files by kind: their names in an exported folder, who writes and who reads them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from topicloom.base.progress import Progress
from topicloom.errors import InputError
from topicloom.overlay.graphs.dot import read_dot, write_dot
from topicloom.overlay.graphs.edge_list import read_edge_list, write_edge_list
from topicloom.overlay.graphs.graphml import read_graphml, write_graphml
from topicloom.overlay.graphs.node_link import read_node_link, write_node_link
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.python_tables import refuse


class Writer(Protocol):
    def __call__(
        self, interest: Interest, overlay: Overlay, path: Path, *, progress: Progress = ...
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class GraphFormat:
    """One kind of graph file: its name in a folder, other endings it is known by, its writer and reader."""

    description: str
    file: str
    endings: tuple[str, ...]
    write: Writer
    read: Callable[[Path], tuple[Interest, Overlay]]
    options: frozenset[str] = frozenset()


GRAPH_FORMATS: Mapping[str, GraphFormat] = {
    "graphml": GraphFormat(
        "GraphML, for networkx, igraph, Gephi and others",
        "overlay.graphml",
        (".graphml", ".xml"),
        write_graphml,
        read_graphml,
    ),
    "node-link": GraphFormat(
        "node-link JSON, for networkx and D3", "overlay.json", (".json",), write_node_link, read_node_link
    ),
    "edge-list": GraphFormat(
        "edge list with attributes, for networkx",
        "overlay.edgelist",
        (".edgelist", ".txt"),
        write_edge_list,
        read_edge_list,
    ),
    "dot": GraphFormat("DOT, for Graphviz", "overlay.dot", (".dot", ".gv"), write_dot, read_dot),
}


def load_graph(path: str | os.PathLike[str], kind: str | None = None) -> tuple[Interest, Overlay]:
    """Load the interest and overlay of a graph file, or of the folder that `topicloom export` made.

    Without `kind` the ending of the name tells the format. What was exported comes back as it was. GraphML
    and node-link files of other programs are read too, where nodes have `topics`: a JSON array.
    """
    if not isinstance(path, str | os.PathLike):
        raise refuse("path", "the path of a graph file", path)
    path = Path(path)
    if kind is not None and kind not in GRAPH_FORMATS:
        raise InputError(f"no graph format is called {kind!r}; there are {', '.join(GRAPH_FORMATS)}")
    if path.is_dir():
        kinds = [kind] if kind else GRAPH_FORMATS
        inside = [name for name in kinds if (path / GRAPH_FORMATS[name].file).is_file()]
        if len(inside) != 1:
            raise InputError(f"{path} holds {len(inside)} graph files; name the file")
        kind, path = inside[0], path / GRAPH_FORMATS[inside[0]].file
    if kind is None:
        kind = next((name for name, known in GRAPH_FORMATS.items() if path.suffix in known.endings), None)
    if kind is None:
        raise InputError(f"{path}: the ending names no graph format; give one of {', '.join(GRAPH_FORMATS)}")
    try:
        return GRAPH_FORMATS[kind].read(path)
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: {error}") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None

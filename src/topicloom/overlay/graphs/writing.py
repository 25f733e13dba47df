"""Interest and overlay as the nodes and edges of a graph file; reading.py goes back.

A node has the attribute `topics`, and `roles` and `rates` beside it where the interest has them; an edge has
the `topics` that both its ends want. Their values are JSON arrays; a format says with `quote` how it writes
the JSON text of one name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TextIO

import numpy as np

from topicloom.base.progress import Progress, check_stop
from topicloom.errors import InputError
from topicloom.overlay.graphs.names import Names
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.shared_topics import shared_topics
from topicloom.tables.records import ROLES

FORMAT = "topicloom 1"
TOPICS, ROLE_LIST, RATE_LIST, UNWANTED = "topics", "roles", "rates", "topics_without_nodes"
NODE_KEYS = (TOPICS, ROLE_LIST, RATE_LIST)
CHUNK = 20_000  # nodes or edges per write: enough to be quick, little to hold
Quote = Callable[[str], str]
Attributes = list[tuple[str, str]]  # key and JSON text


def in_json(name: str) -> str:
    """Return a name as JSON writes it."""
    return json.dumps(name, ensure_ascii=False)


def write_graph(
    path: Path,
    interest: Interest,
    overlay: Overlay,
    names: Names,
    *,
    head: str,
    node: Callable[[str, Attributes], str],
    edge: Callable[[str, str, str, int], str],
    middle: str = "",
    tail: str = "",
    between: tuple[str, str] = ("", ""),
    quote: Quote = in_json,
    progress: Progress,
) -> None:
    """Write head, nodes, middle, edges and tail.

    `node` gives the text of a node from its name and attributes, `edge` that of an edge from the names of its
    ends, the JSON text of the topics both want and their number. `between` stands before the first and before
    each later node or edge.
    """
    if not interest.node_ids.equals(overlay.node_ids):
        raise InputError("the overlay's nodes are not those of the interest")
    quoted = [quote(topic) for topic in names.topics]
    nodes = ([node(*one) for one in chunk] for chunk in _nodes(interest, names, quoted, quote, progress))
    edges = ([edge(*one) for one in chunk] for chunk in _edges(interest, overlay, names, quoted, progress))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(head)
        _write_all(file, nodes, *between)
        file.write(middle)
        _write_all(file, edges, *between)
        file.write(tail)


def _write_all(file: TextIO, chunks: Iterator[list[str]], first: str, later: str) -> None:
    for chunk in chunks:
        file.write(first + later.join(chunk))
        first = later


def describe_graph(interest: Interest, names: Names, quote: Quote = in_json) -> dict[str, str]:
    """Return the attributes of the graph: format, names and, if there are any, the topics no node wants."""
    alone = np.flatnonzero(interest.topic_sizes() == 0).tolist()
    unwanted = {UNWANTED: _json_array([quote(names.topics[topic]) for topic in alone])} if alone else {}
    return {"format": FORMAT, "names": names.how} | unwanted


def node_keys(interest: Interest) -> list[str]:
    """Return the attributes every node of this interest has."""
    extras = ((ROLE_LIST, interest.roles), (RATE_LIST, interest.rates))
    return [TOPICS] + [key for key, values in extras if values is not None]


def _nodes(
    interest: Interest, names: Names, topics: list[str], quote: Quote, progress: Progress
) -> Iterator[list[tuple[str, Attributes]]]:
    keys = node_keys(interest)
    roles = list(map(quote, ROLES))
    for low in range(0, interest.n_nodes, CHUNK):
        check_stop(progress)
        high = min(low + CHUNK, interest.n_nodes)
        ends = interest.node_ptr[low : high + 1].tolist()
        here = slice(ends[0], ends[-1])
        columns = [[topics[topic] for topic in interest.node_topics[here].tolist()]]
        if interest.roles is not None:
            columns.append([roles[role] for role in interest.roles[here].tolist()])
        if interest.rates is not None:
            columns.append(["null" if rate != rate else repr(rate) for rate in interest.rates[here].tolist()])
        starts = [end - ends[0] for end in ends]
        yield [
            (node, [(key, _json_array(own[start:stop])) for key, own in zip(keys, columns, strict=True)])
            for node, (start, stop) in zip(names.nodes[low:high], pairwise(starts), strict=True)
        ]
        progress.advance(high - low)


def _edges(
    interest: Interest, overlay: Overlay, names: Names, topics: list[str], progress: Progress
) -> Iterator[Iterator[tuple[str, str, str, int]]]:
    for low in range(0, overlay.n_edges, CHUNK):
        check_stop(progress)
        u, v = overlay.u[low : low + CHUNK], overlay.v[low : low + CHUNK]
        counts, shared = shared_topics(interest, u, v)
        found = [topics[topic] for topic in shared.tolist()]
        ends = [0, *np.cumsum(counts).tolist()]
        lists = (_json_array(found[start:stop]) for start, stop in pairwise(ends))
        one, other = ([names.nodes[node] for node in side.tolist()] for side in (u, v))
        yield zip(one, other, lists, counts.tolist(), strict=True)
        progress.advance(len(u))


def _json_array(texts: list[str]) -> str:
    return f"[{','.join(texts)}]"

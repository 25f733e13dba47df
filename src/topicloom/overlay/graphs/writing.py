"""Interest and overlay as the nodes and edges of a graph file, piece by piece; reading.py goes back.

A node has the attribute `topics`, and `roles` and `rates` beside it where the interest has them; an edge has
the `topics` that both its ends want. Their values are JSON arrays; a format says with `quote` how it writes
the JSON text of one name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from topicloom.base.arrays import Ints, Longs
from topicloom.base.progress import Progress, check_stop
from topicloom.errors import InputError
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.tables.records import ROLES

FORMAT = "topicloom 1"
TOPICS, ROLE_LIST, RATE_LIST, UNWANTED = "topics", "roles", "rates", "topics_without_nodes"
NODE_KEYS = (TOPICS, ROLE_LIST, RATE_LIST)
Quote = Callable[[str], str]
CHUNK = 20_000
"""Nodes or edges per write: enough to be quick, little to hold."""


def node_keys(interest: Interest) -> list[str]:
    """The attributes every node of this interest has."""
    extras = ((ROLE_LIST, interest.roles), (RATE_LIST, interest.rates))
    return [TOPICS] + [key for key, values in extras if values is not None]


def in_json(name: str) -> str:
    """A name as JSON writes it."""
    return json.dumps(name, ensure_ascii=False)


def node_chunks(
    interest: Interest,
    nodes: Sequence[str],
    topics: Sequence[str],
    progress: Progress,
    quote: Quote = in_json,
) -> Iterator[list[tuple[str, list[tuple[str, str]]]]]:
    """For each node, in order, its name and its attributes with their JSON text.

    `nodes` and `topics` are the names that the file gives them.
    """
    keys = node_keys(interest)
    texts = list(map(quote, topics))
    roles = list(map(quote, ROLES))
    for low in range(0, interest.n_nodes, CHUNK):
        check_stop(progress)
        high = min(low + CHUNK, interest.n_nodes)
        ends = interest.node_ptr[low : high + 1].tolist()
        here = slice(ends[0], ends[-1])
        columns = [[texts[topic] for topic in interest.node_topics[here].tolist()]]
        if interest.roles is not None:
            columns.append([roles[role] for role in interest.roles[here].tolist()])
        if interest.rates is not None:
            columns.append(["null" if rate != rate else repr(rate) for rate in interest.rates[here].tolist()])
        starts = [end - ends[0] for end in ends]
        yield [
            (node, [(key, f"[{','.join(own[start:stop])}]") for key, own in zip(keys, columns, strict=True)])
            for node, (start, stop) in zip(nodes[low:high], pairwise(starts), strict=True)
        ]
        progress.advance(high - low)


def edge_chunks(
    interest: Interest, overlay: Overlay, topics: Sequence[str], progress: Progress, quote: Quote = in_json
) -> Iterator[tuple[list[int], list[int], list[str]]]:
    """The ends of each edge and the JSON text of the topics both want."""
    texts = list(map(quote, topics))
    keys = interest.pair_nodes().astype(np.int64) * max(interest.n_topics, 1) + interest.node_topics
    for low in range(0, overlay.n_edges, CHUNK):
        check_stop(progress)
        u, v = overlay.u[low : low + CHUNK], overlay.v[low : low + CHUNK]
        counts, shared = shared_topics(interest, keys, u, v)
        found = [texts[topic] for topic in shared.tolist()]
        ends = [0, *np.cumsum(counts).tolist()]
        lists = [f"[{','.join(found[start:stop])}]" for start, stop in pairwise(ends)]
        yield u.tolist(), v.tolist(), lists
        progress.advance(len(u))


def shared_topics(interest: Interest, keys: Longs, u: Ints, v: Ints) -> tuple[Longs, Longs]:
    """How many topics the ends of each edge share, and these topics, edge after edge, ascending.

    `keys` are node * n_topics + topic of all subscriptions, ascending. The topics of the end that has fewer
    are looked up among those of the other, so that an edge at a hub costs no more than its small end.
    """
    sizes = interest.subscription_sizes()
    swap = sizes[u] > sizes[v]
    small, large = np.where(swap, v, u), np.where(swap, u, v)
    lengths = sizes[small]
    before = np.cumsum(lengths) - lengths
    places = np.repeat(interest.node_ptr[small] - before, lengths) + np.arange(lengths.sum())
    topics = interest.node_topics[places].astype(np.int64)
    edges = np.repeat(np.arange(len(u)), lengths)
    wanted = large[edges].astype(np.int64) * max(interest.n_topics, 1) + topics
    at = np.searchsorted(keys, wanted)
    hit = at < len(keys)
    hit[hit] = keys[at[hit]] == wanted[hit]
    return np.bincount(edges[hit], minlength=len(u)), topics[hit]


def unwanted_topics(interest: Interest, topics: Sequence[str], quote: Quote = in_json) -> str | None:
    """The topics no node wants as a JSON array, None where there are none."""
    alone = np.flatnonzero(interest.topic_sizes() == 0).tolist()
    return f"[{','.join(quote(topics[topic]) for topic in alone)}]" if alone else None


def check_pair(interest: Interest, overlay: Overlay) -> None:
    """Refuse an overlay of other nodes."""
    if not interest.node_ids.equals(overlay.node_ids):
        raise InputError("the overlay's nodes are not those of the interest")

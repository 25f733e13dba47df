"""Interest views that are given: all nodes, or a uniform sample of p% drawn anew at each join (3.7).

One bit table holds what every present node wants; a node's view is a row of node numbers, or none for all.
A view is always up to date, except for crashed nodes: they stay in it until somebody could have noticed
(the simulator says when).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from random import Random

import numpy as np

from topicloom.base.arrays import Ints
from topicloom.base.seeds import stream_key
from topicloom.errors import InputError
from topicloom.spidercast.kernels.neighbor_choice import (
    choose_of_all,
    choose_of_view,
    draw_views,
    oldest_of_view,
)
from topicloom.spidercast.protocol.membership import Membership, NeighborChoice
from topicloom.spidercast.protocol.messages import NodeId, RootNames, Topic, Topics

MAX_BYTES = 6_000_000_000  # bit table and views together; more would not fit beside the nodes


class ViewTable:
    """What every node wants now, and who knows whom."""

    def __init__(self, n_nodes: int, n_topics: int, share: float, seed: int) -> None:
        self.n_nodes, self.share, self.seed = n_nodes, share, seed
        self.view_size = 0
        if share < 1 and n_nodes > 1:
            self.view_size = max(1, round(share * (n_nodes - 1)))
        n_words = (n_topics + 63) // 64
        needed = 8 * n_words * n_nodes + 4 * self.view_size * n_nodes
        if needed > MAX_BYTES:
            raise InputError(
                f"views of {n_nodes:,} nodes and {n_topics:,} topics would take {needed / 1e9:.0f} GB; "
                "take smaller views (`view=...`) or gossip (`view=gossip`)"
            )
        self.bits = np.zeros((n_words, n_nodes), dtype=np.uint64)
        self.listed = np.zeros(n_nodes, dtype=np.uint8)
        self.views: Ints | None = None
        if self.view_size:
            self.views = np.empty((n_nodes, self.view_size), dtype=np.int32)
            self._draw(0, self.views, "views")
        self._drawn = np.zeros(n_nodes, dtype=np.int32)  # how often a node has joined: its life
        self._everybody = np.arange(n_nodes, dtype=np.int32)
        self.scores = np.empty(n_nodes, dtype=np.int32)
        self._oldest: dict[int, tuple[int, int]] = {}  # of all nodes, until one comes, goes or changes

    def _draw(self, first: int, rows: Ints, *names: str) -> None:
        key = np.uint64(stream_key(self.seed, *names))
        seen = np.zeros(self.n_nodes, dtype=np.int32)
        draw_views(rows, first, self.n_nodes, key, seen)

    def enter(self, node: int, topics: Iterable[int]) -> None:
        """Add `node`, which wants `topics`; from its second join on it gets a new view."""
        self.set_topics(node, topics)
        self.listed[node] = 1
        self._drawn[node] += 1
        self._oldest.clear()
        if self.views is not None and self._drawn[node] > 1:
            again = str(self._drawn[node])
            self._draw(node, self.views[node : node + 1], "views", str(node), again)

    def set_topics(self, node: int, topics: Iterable[int]) -> None:
        """Set what `node` wants from now on."""
        self.bits[:, node] = 0
        self._oldest.clear()
        for topic in topics:
            self.bits[topic >> 6, node] |= np.uint64(1 << (topic & 63))

    def forget(self, node: int) -> None:
        """Remove `node` from all views."""
        self.bits[:, node] = 0
        self.listed[node] = 0
        self._oldest.clear()

    def oldest(self, topics: Iterable[int], row: Ints | None) -> dict[int, tuple[int, int]]:
        """Return the smallest (life, node) in a view that wants each topic; None: of all nodes."""
        table = self._oldest if row is None else {}
        missing = [topic for topic in topics if topic not in table]
        if missing:
            wanted = np.array(missing, dtype=np.int32)
            found = oldest_of_view(self._everybody if row is None else row, self.bits, self._drawn, wanted)
            pairs = zip(missing, found.tolist(), strict=True)
            table |= {topic: (int(self._drawn[node]), node) for topic, node in pairs if node >= 0}
        return {topic: table[topic] for topic in topics if topic in table}

    def view_of(self, node: int) -> GivenView:
        """Return the membership of one node."""
        return GivenView(self, None if self.views is None else self.views[node])


class GivenView(Membership):
    """One node's view: a row of the table, or all nodes."""

    __slots__ = ("_row", "_view_table")

    def __init__(self, view_table: ViewTable, row: Ints | None) -> None:
        self._view_table, self._row = view_table, row

    def oldest(self, topics: Topics) -> RootNames:
        return self._view_table.oldest(topics, self._row)  # type: ignore[arg-type, return-value]

    def choose(
        self, choice: NeighborChoice, wanted: Collection[Topic], banned: Collection[NodeId], rng: Random
    ) -> NodeId | None:
        view_table = self._view_table
        least, ranked = choice.least, choice.ranked
        topics = np.fromiter(wanted if choice is not NeighborChoice.ANYONE else (), dtype=np.int32)
        others = np.fromiter(banned, dtype=np.int32, count=len(banned))
        draw = rng.random()
        table, listed, scores = view_table.bits, view_table.listed, view_table.scores
        if self._row is None:
            found = choose_of_all(table, listed, topics, others, least, ranked, draw, scores)
        else:
            found = choose_of_view(self._row, table, listed, topics, others, least, ranked, draw, scores)
        return int(found) if found >= 0 else None

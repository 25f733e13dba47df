"""What holds a topic together: its subgraph, the nodes and edges without which it splits, and detours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topicloom.base.arrays import Bools, Ints, Longs, component_labels, neighbor_lists
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


@dataclass(frozen=True, slots=True, eq=False)
class TopicGraph:
    """The subscribers of one topic and the edges among them; member i is node `members[i]`."""

    topic: int
    members: Ints
    u: Ints
    v: Ints

    @classmethod
    def of(cls, interest: Interest, overlay: Overlay, topic: int) -> TopicGraph:
        """Return the part of the overlay inside a topic.

        >>> interest = Interest.from_pairs([("a", "x"), ("b", "y"), ("c", "x")])
        >>> graph = TopicGraph.of(interest, Overlay.from_edges(interest.node_ids, [0, 0], [1, 2]), 0)
        >>> graph.members.tolist(), graph.u.tolist(), graph.v.tolist()
        ([0, 2], [0], [1])
        """
        members = interest.nodes_of(topic)
        place = np.full(interest.n_nodes, -1, np.int32)
        place[members] = np.arange(len(members), dtype=np.int32)
        u, v = place[overlay.u], place[overlay.v]
        inside = (u >= 0) & (v >= 0)
        return cls(topic, members, u[inside], v[inside])

    def place_of(self, node: int) -> int:
        """Return the place of a node among the members."""
        return int(np.searchsorted(self.members, node))

    def components(self, *, without: int | None = None, edge: tuple[int, int] | None = None) -> list[Longs]:
        """Return the members of each component by place, the largest first; without a member or an edge."""
        kept: Bools = np.ones(len(self.u), np.bool_)
        if without is not None:
            kept &= (self.u != without) & (self.v != without)
        if edge is not None:
            kept &= (self.u != min(edge)) | (self.v != max(edge))
        labels = component_labels(len(self.members), self.u[kept], self.v[kept])
        ordered = np.argsort(labels, kind="stable")
        groups = np.split(ordered, np.cumsum(np.bincount(labels))[:-1]) if len(labels) else []
        alive = [group for group in groups if without is None or group.tolist() != [without]]
        return sorted(alive, key=lambda group: (-len(group), int(group[0])))

    def hops(self, source: int, *, edge: tuple[int, int] | None = None) -> Longs:
        """Return the hops from a member to each other one, -1 where there is no path; without an edge."""
        kept: Bools = np.ones(len(self.u), np.bool_)
        if edge is not None:
            kept = (self.u != min(edge)) | (self.v != max(edge))
        ptr, nbr = neighbor_lists(self.u[kept], self.v[kept], len(self.members))
        far = np.full(len(self.members), -1, np.int64)
        far[source], front = 0, [source]
        while front:
            reached = []
            for member in front:
                for other in nbr[ptr[member] : ptr[member + 1]].tolist():
                    if far[other] < 0:
                        far[other] = far[member] + 1
                        reached.append(other)
            front = reached
        return far

    def cuts(self) -> tuple[dict[int, tuple[int, ...]], list[tuple[int, int]]]:
        """Return the members, and the edges, without any one of which a component splits; by place.

        With each member the sizes of all components without it, the largest first. Depth-first search: a
        member cuts where a branch below it reaches nothing above it (Hopcroft and Tarjan 1973); the edge into
        such a branch is a bridge where it does not reach the member either.
        """
        n = len(self.members)
        ptr, nbr = neighbor_lists(self.u, self.v, n)
        starts, neighbors = ptr.tolist(), nbr.tolist()
        order, lowest, size, at = [0] * n, [0] * n, [1] * n, starts[:-1]
        bridges: list[tuple[int, int]] = []
        found: list[tuple[int, list[int], int]] = []  # a member, its branches, the size of its component
        wholes: list[int] = []
        count = 0
        for root in range(n):
            if order[root]:
                continue
            count += 1
            order[root] = lowest[root] = count
            branches: dict[int, list[int]] = {}  # sizes of what only the member joins to the rest
            path = [(root, -1)]
            while path:
                node, parent = path[-1]
                if at[node] < starts[node + 1]:
                    other = neighbors[at[node]]
                    at[node] += 1
                    if not order[other]:
                        count += 1
                        order[other] = lowest[other] = count
                        path.append((other, node))
                    elif other != parent:
                        lowest[node] = min(lowest[node], order[other])
                    continue
                path.pop()
                if parent < 0:
                    continue
                size[parent] += size[node]
                lowest[parent] = min(lowest[parent], lowest[node])
                if lowest[node] > order[parent]:
                    bridges.append((min(node, parent), max(node, parent)))
                if lowest[node] >= order[parent]:
                    branches.setdefault(parent, []).append(size[node])
            wholes.append(size[root])
            for member, parts in branches.items():
                above = size[root] - 1 - sum(parts)
                if above or len(parts) > 1:  # the root cuts only between branches: there is nothing above it
                    found.append((member, parts + [above] * (above > 0), size[root]))
        cuts = {}
        for member, parts, whole in sorted(found):
            others = list(wholes)
            others.remove(whole)
            cuts[member] = tuple(sorted(parts + others, reverse=True))
        return cuts, sorted(bridges)

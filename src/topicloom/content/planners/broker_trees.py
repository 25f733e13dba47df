"""How brokers carry a channel's messages among themselves: the core models.

free     per publishing broker and channel the minimum spanning tree of the brokers concerned (the paper's)
shared   all messages on one tree of all brokers, the minimum spanning tree
unicast  a message of its own to every broker concerned; for comparison
steiner  the best tree, through any other broker; for few brokers only

"The spanning tree of the terminals is optimal under the triangle inequality" [Zhao2011, III-A] is
false: three brokers around a fourth are joined more cheaply through it. The loss is tiny in practice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Floats, Ints, freeze_fields, sealed
from topicloom.content.kernels.broker_trees import FREE, SHARED, STEINER, UNICAST, fill_weights, grow_spanning
from topicloom.errors import UsageError

CODES = {"free": FREE, "shared": SHARED, "unicast": UNICAST, "steiner": STEINER}
STEINER_BROKERS = 10
"""The Steiner trees of all sets of brokers are tabled: 2 to this power of them at most."""


@dataclass(frozen=True, slots=True, eq=False)
class CoreModel:
    """A core model over the prices between brokers, in the form the kernels take.

    `links` are what a message from one broker to another costs: `core`, but on a shared tree its path there.

    >>> star = np.array([[0, 2, 2, 1], [2, 0, 2, 1], [2, 2, 0, 1], [1, 1, 1, 0]], dtype=float)
    >>> [float(CoreModel.of(star, name).weights([0, 1])[2]) for name in CODES]   # from 2 to 0 and 1
    [4.0, 3.0, 4.0, 3.0]
    """

    name: str
    core: Floats
    links: Floats
    order: Ints
    parent: Ints
    step: Floats
    table: Floats
    hulls: Ints

    def __post_init__(self) -> None:
        freeze_fields(self)

    @classmethod
    def of(cls, core: Floats, name: str) -> Self:
        """The model `name` over the prices `core`."""
        if name not in CODES:
            raise UsageError(f"`core_model={name}`: choose one of {', '.join(CODES)}")
        core = sealed(np.asarray(core, dtype=np.float64))
        n = len(core)
        if name == "steiner" and n > STEINER_BROKERS:
            raise UsageError(
                f"`core_model=steiner`: {n} brokers are too many, it takes {STEINER_BROKERS}; use free"
            )
        order, parent, step = _shared_tree(core)
        table, hulls = _steiner_table(core) if name == "steiner" else (np.zeros(0), np.zeros(0, np.int32))
        links = _paths(order, parent, step) if name == "shared" else core
        return cls(name, core, links, order, parent, step, table, hulls)

    @property
    def code(self) -> int:
        return CODES[self.name]

    def weights(self, members: list[int] | NDArray[np.integer]) -> Floats:
        """The weight of the tree of a publisher on p, for every broker p, when `members` have subscribers."""
        n = len(self.core)
        listed = np.zeros(n, dtype=np.int32)
        listed[: len(members)] = members
        out = np.zeros(n)
        fill_weights(
            self.code,
            self.core,
            self.order,
            self.parent,
            self.step,
            self.table,
            listed,
            len(members),
            np.zeros((2, n), dtype=np.int32),
            np.zeros((2, n)),
            out,
        )
        return out

    def edges(self, publisher: int, members: list[int]) -> list[tuple[int, int]]:
        """The edges, each with the smaller broker first, of the tree from `publisher` to `members`."""
        ends = sorted({publisher, *members}) if members else []
        if self.name == "unicast":
            return [_pair(publisher, broker) for broker in ends if broker != publisher]
        if self.name == "shared":
            return self._shared_edges(set(ends))
        if self.name == "steiner" and ends:
            hull = int(self.hulls[sum(1 << broker for broker in ends)])
            ends = [broker for broker in range(len(self.core)) if hull >> broker & 1]
        return spanning_edges(self.core, ends)

    def _shared_edges(self, ends: set[int]) -> list[tuple[int, int]]:
        below = {int(v): int(v) in ends for v in self.order}
        count = {v: int(inside) for v, inside in below.items()}
        for v in self.order[:0:-1].tolist():
            count[int(self.parent[v])] += count[v]
        return [_pair(int(self.parent[v]), v) for v in self.order[1:].tolist() if 0 < count[v] < len(ends)]


def spanning_edges(core: Floats, ends: list[int]) -> list[tuple[int, int]]:
    """The edges of the minimum spanning tree of some brokers."""
    n = len(ends)
    members, above, edge = np.array(ends, dtype=np.int32), np.zeros(n, dtype=np.int32), np.zeros(n)
    grow_spanning(core, members, n, above, edge)
    return [_pair(int(members[above[k]]), int(members[k])) for k in range(1, n)]


def _pair(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _shared_tree(core: Floats) -> tuple[Ints, Ints, Floats]:
    """The minimum spanning tree of all brokers: their order from the root on, parents, prices of steps."""
    n = len(core)
    order, above, edge = np.arange(n, dtype=np.int32), np.zeros(n, dtype=np.int32), np.zeros(n)
    grow_spanning(core, order, n, above, edge)
    parent, step = np.zeros(n, dtype=np.int32), np.zeros(n)
    parent[order], step[order] = order[above], edge
    return order, parent, step


def _paths(order: Ints, parent: Ints, step: Floats) -> Floats:
    """The prices of the paths between all brokers on the shared tree."""
    paths = np.zeros((len(order), len(order)))
    for k in range(1, len(order)):
        v, before = order[k], order[:k]
        paths[v, before] = paths[before, v] = paths[parent[v], before] + step[v]
    return paths


def _steiner_table(core: Floats) -> tuple[Floats, Ints]:
    """The weight of the Steiner tree of every set of brokers, and the set of all brokers it uses.

    A Steiner tree is a minimum spanning tree of the brokers it uses: the lightest one over all larger sets.
    """
    n = len(core)
    table = np.zeros(1 << n)
    scratch = np.zeros(n, dtype=np.int32), np.zeros(n)
    for mask in range(1, 1 << n):
        members = np.array([b for b in range(n) if mask >> b & 1], dtype=np.int32)
        table[mask] = grow_spanning(core, members, len(members), *scratch)
    hulls = np.arange(1 << n, dtype=np.int32)
    for b in range(n):
        without = np.flatnonzero((np.arange(1 << n) >> b & 1) == 0)
        larger = without | (1 << b)
        better = table[larger] < table[without]
        table[without[better]], hulls[without[better]] = table[larger[better]], hulls[larger[better]]
    table[0] = 0.0
    return table, hulls

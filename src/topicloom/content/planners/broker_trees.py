"""How brokers carry a channel's messages among themselves: the core models.

free     per publishing broker and channel, the minimum spanning tree of the brokers concerned (the paper's)
shared   all messages on the minimum spanning tree of all brokers
unicast  a separate message to every broker concerned; for comparison
steiner  the best tree, through any other broker; for few brokers only

"The spanning tree of the terminals is optimal under the triangle inequality" [Zhao2011, III-A] is
false: three brokers around a fourth are joined more cheaply through it. The loss is tiny in practice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from topicloom.base.arrays import Floats, Ints, sealed
from topicloom.content.kernels import broker_trees as trees
from topicloom.content.kernels.broker_trees import CoreArrays, fill_weights, grow_spanning
from topicloom.errors import UsageError

CODES = {"free": trees.FREE, "shared": trees.SHARED, "unicast": trees.UNICAST, "steiner": trees.STEINER}
STEINER_BROKERS = 10  # the Steiner trees of all sets of brokers are tabulated: 2 to this power at most


@dataclass(frozen=True, slots=True, eq=False)
class CoreModel:
    """A core model over the prices `core` between brokers, with the `arrays` that kernels take.

    `arrays.links` are what a message from one broker to another costs: `core`, but on a shared tree the price
    of the path. `hulls` are the sets of brokers that Steiner trees use, by the set of brokers they join.

    >>> star = np.array([[0, 2, 2, 1], [2, 0, 2, 1], [2, 2, 0, 1], [1, 1, 1, 0]], dtype=float)
    >>> [float(CoreModel.of(star, name).weights([0, 1])[2]) for name in CODES]   # from 2 to 0 and 1
    [4.0, 3.0, 4.0, 3.0]
    """

    name: str
    core: Floats
    arrays: CoreArrays
    hulls: Ints

    @classmethod
    def of(cls, core: Floats, name: str) -> Self:
        """Return the model `name` over the prices `core`."""
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
        arrays = (sealed(array) for array in (links, order, parent, step, table))
        return cls(name, core, CoreArrays(CODES[name], *arrays), sealed(hulls))

    def weights(self, members: list[int] | NDArray[np.integer]) -> Floats:
        """Return for every broker p the weight of its tree to the brokers `members`."""
        n = len(self.core)
        listed = np.zeros(n, dtype=np.int32)
        listed[: len(members)] = members
        out = np.zeros(n)
        scratch = np.zeros((2, n), dtype=np.int32), np.zeros((2, n))
        fill_weights(self.arrays, listed, len(members), *scratch, out)
        return out

    def edges(self, publisher: int, members: list[int]) -> list[tuple[int, int]]:
        """Return the edges, smaller broker first, of the tree from `publisher` to `members`."""
        ends = sorted({publisher, *members}) if members else []
        if self.name == "unicast":
            return [_pair(publisher, broker) for broker in ends if broker != publisher]
        if self.name == "shared":
            return self._shared_edges(set(ends))
        if self.name == "steiner" and ends:
            hull = int(self.hulls[sum(1 << broker for broker in ends)])
            ends = [broker for broker in range(len(self.core)) if hull >> broker & 1]
        return [_pair(*link) for link in spanning_links(self.core, ends)]

    def _shared_edges(self, ends: set[int]) -> list[tuple[int, int]]:
        order, parent = self.arrays.order.tolist(), self.arrays.parent.tolist()
        below = {v: int(v in ends) for v in order}
        for v in order[:0:-1]:
            below[parent[v]] += below[v]
        return [_pair(parent[v], v) for v in order[1:] if 0 < below[v] < len(ends)]


def spanning_links(core: Floats, ends: Sequence[int]) -> list[tuple[int, int]]:
    """Return the minimum spanning tree of some brokers, from the first on: (parent, child) links."""
    order, above, _ = _grown(core, ends)
    return list(zip(order[above[1:]].tolist(), order[1:].tolist(), strict=True))


def _grown(core: Floats, ends: Sequence[int]) -> tuple[Ints, Ints, Floats]:
    """Return brokers in the order in which they join the tree, their parents' places and edges' prices."""
    n = len(ends)
    order, above, edge = np.array(ends, dtype=np.int32), np.zeros(n, dtype=np.int32), np.zeros(n)
    grow_spanning(core, order, n, above, edge)
    return order, above, edge


def _pair(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _shared_tree(core: Floats) -> tuple[Ints, Ints, Floats]:
    """Return the minimum spanning tree of all brokers: order from the root on, parents, prices of steps."""
    order, above, edge = _grown(core, range(len(core)))
    parent, step = np.zeros_like(above), np.zeros_like(edge)
    parent[order], step[order] = order[above], edge
    return order, parent, step


def _paths(order: Ints, parent: Ints, step: Floats) -> Floats:
    """Return the prices of the paths between all brokers on the shared tree."""
    paths = np.zeros((len(order), len(order)))
    for k in range(1, len(order)):
        v, before = order[k], order[:k]
        paths[v, before] = paths[before, v] = paths[parent[v], before] + step[v]
    return paths


def _steiner_table(core: Floats) -> tuple[Floats, Ints]:
    """Return the weight of the Steiner tree of every set of brokers, and the set of brokers it uses.

    A Steiner tree is a minimum spanning tree of the brokers it uses: the lightest over all larger sets.
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

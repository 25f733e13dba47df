"""The path of an event: a tree over the brokers that want it, fixed by the first broker.

"Each message will be assigned a path before sending out" [Zhao2011, II-B]: the minimum spanning tree
of the publisher's broker and the brokers with a subscriber, the free core model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from topicloom.base.arrays import Floats, sealed
from topicloom.content.brokers.messages import Name
from topicloom.content.kernels.broker_trees import grow_spanning

Links = tuple[tuple[Name, Name], ...]
KEPT = 4_096


class Trees:
    """Trees among brokers by their prices; the last few thousand are kept.

    >>> trees = Trees("abc", np.array([[0, 1, 3], [1, 0, 1], [3, 1, 0]], dtype=float))
    >>> trees.links("a", "bc")
    (('a', 'b'), ('b', 'c'))
    """

    __slots__ = ("_cache", "_core", "_names", "_place")

    def __init__(self, names: Sequence[Name], core: Floats) -> None:
        self._names = list(names)
        self._place = {name: place for place, name in enumerate(self._names)}
        self._core = sealed(np.asarray(core, dtype=np.float64))
        self._cache: dict[tuple[Name, frozenset[Name]], Links] = {}

    def links(self, root: Name, targets: Iterable[Name]) -> Links:
        """The links of the tree from `root` to `targets`, each as (from, to), parents first."""
        key = root, frozenset(targets)
        found = self._cache.get(key)
        if found is None:
            if len(self._cache) >= KEPT:
                self._cache.clear()
            found = self._cache[key] = self._grow(root, key[1])
        return found

    def _grow(self, root: Name, targets: frozenset[Name]) -> Links:
        places = [self._place[root], *sorted(self._place[name] for name in targets if name != root)]
        members, above = np.array(places, dtype=np.int32), np.zeros(len(places), dtype=np.int32)
        grow_spanning(self._core, members, len(places), above, np.zeros(len(places)))
        ordered = [self._names[place] for place in members.tolist()]
        return tuple((ordered[above[k]], ordered[k]) for k in range(1, len(ordered)))


def branches(root: Name, links: Links) -> Iterator[tuple[Name, Links]]:
    """The parts of a tree below its root: each child with the links below it.

    Written for any tree that somebody sends: links that hang on nothing are left out.

    >>> list(branches("a", (("a", "b"), ("b", "c"), ("a", "d"), ("x", "y"))))
    [('b', (('b', 'c'),)), ('d', ())]
    """
    below: dict[Name, list[Name]] = {}
    for parent, child in links:
        below.setdefault(parent, []).append(child)
    reached = {root}
    for first in below.get(root, ()):
        if first in reached:
            continue
        reached.add(first)
        part: list[tuple[Name, Name]] = []
        todo = [first]
        while todo:
            parent = todo.pop()
            for child in below.get(parent, ()):
                if child not in reached:
                    reached.add(child)
                    part.append((parent, child))
                    todo.append(child)
        yield first, tuple(part)

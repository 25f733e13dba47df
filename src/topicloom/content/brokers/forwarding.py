"""Forward events along a tree over the brokers that want them, fixed by the first broker.

"Each message will be assigned a path before sending out" [Zhao2011, II-B]: the minimum spanning tree of the
publisher's broker and the brokers with a subscriber, the free core model. Dead brokers are passed by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from topicloom.base.arrays import Floats, sealed
from topicloom.content.brokers.broker_state import BrokerState
from topicloom.content.brokers.messages import Body, Event, Forward, Handlers, Name, Publish
from topicloom.content.kernels.broker_trees import grow_spanning

Links = tuple[tuple[Name, Name], ...]
KEPT = 4_096


class RoutingTrees:
    """Trees among brokers by their prices; the last few thousand are kept.

    >>> trees = RoutingTrees("abc", np.array([[0, 1, 3], [1, 0, 1], [3, 1, 0]], dtype=float))
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


class Forwarding:
    """The forwarding part of a broker."""

    __slots__ = ("_state", "_trees")

    def __init__(self, state: BrokerState, trees: RoutingTrees) -> None:
        self._state, self._trees = state, trees

    def from_users(self) -> Handlers:
        return {Publish: self.on_publish}

    def from_brokers(self) -> Handlers:
        return {Forward: self.on_forward}

    def on_publish(self, peer: Name, body: Publish, now: float) -> None:
        """A user's event. Any broker takes it, also one that the user has left meanwhile."""
        event, state = body.event, self._state
        if event.id.publisher != peer:
            return state.fault(peer, f"it published in the name of {event.id.publisher}")
        if not self._sound(peer, event):
            return None
        record = state.users.get(peer)
        if record is not None and record.in_charge:
            channel = state.channels.channel_of(event.point)
            if channel >= 0:
                record.counter.count(channel, now)
        self._here(event, now)
        targets = state.others.interested(event.point)
        if targets:
            self._pass_on(event, self._trees.links(state.name, targets), now)
        return None

    def on_forward(self, peer: Name, body: Forward, now: float) -> None:
        """An event with the rest of its path."""
        if len(body.tree) > len(self._state.others.peers):
            self._state.fault(peer, f"a tree of {len(body.tree):,} links is larger than all brokers need")
        elif self._sound(peer, body.event):
            self._here(body.event, now)
            self._pass_on(body.event, body.tree, now)

    def around(self, dead: Name, bodies: Iterable[Body], now: float) -> None:
        """What a dead broker would have passed on goes straight to those below it."""
        for body in bodies:
            if isinstance(body, Forward):
                self._pass_below(body.event, dead, body.tree, now)

    def _here(self, event: Event, now: float) -> None:
        for record in self._state.users.matching(event.point):
            self._state.hand(record, event, now)

    def _pass_on(self, event: Event, links: Links, now: float) -> None:
        if links:
            self._pass_below(event, self._state.name, links, now)

    def _pass_below(self, event: Event, root: Name, links: Links, now: float) -> None:
        """To every child of `root`; in place of a dead child, or of ourselves, to those below it."""
        todo = [(root, links)]
        for parent, part in todo:
            for child, below in branches(parent, part):
                if self._state.others.alive(child):
                    self._state.mailbox.send(child, Forward(event, below), now)
                elif below:
                    todo.append((child, below))

    def _sound(self, peer: Name, event: Event) -> bool:
        good = len(event.point) == self._state.channels.n_attributes and all(
            value == value for value in event.point
        )
        if not good:
            self._state.fault(peer, f"event {event.id.number} of {event.id.publisher} has no sound point")
        return good

"""Forward events along a tree over the brokers that want them, fixed by the first broker.

"Each message will be assigned a path before sending out" [Zhao2011, II-B]: the minimum spanning tree of the
publisher's broker and the brokers with a subscriber, the free core model. Dead brokers are passed by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from math import isnan

import numpy as np

from topicloom.base.arrays import Floats, sealed
from topicloom.content.brokers.broker_state import BrokerState
from topicloom.content.brokers.messages import Event, Forward, Name, Publish
from topicloom.content.planners.broker_trees import spanning_links

Links = tuple[tuple[Name, Name], ...]
KEPT = 4_096  # trees


class RoutingTrees:
    """Trees among brokers by their prices; the last few thousand are kept.

    >>> trees = RoutingTrees("abc", np.array([[0, 1, 3], [1, 0, 1], [3, 1, 0]], dtype=float))
    >>> trees.links("a", "bc")
    (('a', 'b'), ('b', 'c'))
    """

    def __init__(self, names: Sequence[Name], core: Floats) -> None:
        self._names = list(names)
        self._place = {name: place for place, name in enumerate(self._names)}
        self._core = sealed(np.asarray(core, dtype=np.float64))
        self._grown = lru_cache(KEPT)(self._grow)

    def links(self, root: Name, targets: Iterable[Name]) -> Links:
        """Return the links of the tree from `root` to `targets`, each as (from, to), parents first."""
        return self._grown(root, frozenset(targets))

    def _grow(self, root: Name, targets: frozenset[Name]) -> Links:
        places = [self._place[root], *sorted(self._place[name] for name in targets if name != root)]
        links = spanning_links(self._core, places)
        return tuple((self._names[parent], self._names[child]) for parent, child in links)


def branches(root: Name, links: Links) -> Iterator[tuple[Name, Links]]:
    """Yield each child of the root with the links below it, parents first.

    Works for whatever somebody sends: links that hang on nothing before them are left out.

    >>> list(branches("a", (("a", "b"), ("b", "c"), ("a", "d"), ("x", "y"))))
    [('b', (('b', 'c'),)), ('d', ())]
    """
    top = {root: root}  # the child of the root that a broker is below
    below: dict[Name, list[tuple[Name, Name]]] = {}
    for parent, child in links:
        if parent in top and child not in top:
            top[child] = child if parent == root else top[parent]
            part = below.setdefault(top[child], [])
            if parent != root:
                part.append((parent, child))
    return ((child, tuple(part)) for child, part in below.items())


class Forwarding:
    """The forwarding part of a broker."""

    def __init__(self, state: BrokerState, trees: RoutingTrees) -> None:
        self._state, self._trees = state, trees

    def on_publish(self, peer: Name, body: Publish, now: float) -> None:
        """Take a user's event. Any broker takes it, also one that the user has left meanwhile."""
        event, state = body.event, self._state
        if event.id.publisher != peer:
            state.fault(peer, f"it published in the name of {event.id.publisher}")
            return
        if not self._is_valid(peer, event):
            return
        record, channel = state.users.records.get(peer), state.channels.channel_of(event.point)
        if record is not None and record.in_charge and channel >= 0:
            record.counter.count(channel, now)
        targets = state.others.interested(event.point)
        self._pass_on(event, self._trees.links(state.name, targets) if targets else (), now)

    def on_forward(self, peer: Name, body: Forward, now: float) -> None:
        """Take an event with the rest of its path."""
        if len(body.tree) > len(self._state.others.peers):
            self._state.fault(peer, f"a tree of {len(body.tree):,} links is larger than all brokers need")
        elif self._is_valid(peer, body.event):
            self._pass_on(body.event, body.tree, now)

    def forward_around(self, dead: Name, now: float) -> None:
        """Send what a dead broker would have passed on straight to those below it."""
        for body in self._state.mailbox.withdraw(dead, Forward):
            self._pass_below(body.event, dead, body.tree, now)

    def _pass_on(self, event: Event, links: Links, now: float) -> None:
        """Hand an event to the users here, and forward it along the links."""
        for record in self._state.users.matching(event.point):
            self._state.deliver(record, event, now)
        self._pass_below(event, self._state.name, links, now)

    def _pass_below(self, event: Event, root: Name, links: Links, now: float) -> None:
        """Forward to every child of `root`; in place of a dead child, or of ourselves, to those below it."""
        todo = [(root, links)]
        for parent, part in todo:
            for child, below in branches(parent, part):
                if self._state.others.alive(child):
                    self._state.mailbox.send(child, Forward(event, below), now)
                elif below:
                    todo.append((child, below))

    def _is_valid(self, peer: Name, event: Event) -> bool:
        valid = len(event.point) == self._state.channels.n_attributes and not any(map(isnan, event.point))
        if not valid:
            self._state.fault(peer, f"event {event.id.number} of {event.id.publisher} has no valid point")
        return valid

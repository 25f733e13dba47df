"""How one message flows over links: where it comes twice, where it goes round, where it does not come back.

A message that arrives over a link is sent on over every other link that carries it, never back over the same
one. So what matters is a graph of arcs: spots, which are brokers and what the message is called there, and
links that carry it from one spot to another. Pure graph work, the same for every kind of broker.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from topicloom.mesh.model.search import search

Spot = tuple[str, str]  # a broker, and the name (or account) of the message there


@dataclass(frozen=True, slots=True)
class Arc:
    """Link number `link` carries the message from `tail` to `head`; `echoes`: the head may send it back."""

    link: int
    tail: Spot
    head: Spot
    echoes: bool = False


@dataclass(frozen=True, slots=True)
class MessageLoop:
    """Spots in a ring, each linked to the next; `storms` if messages go round, else some come twice only.

    Two spots may be linked several times: they are a ring too.
    """

    spots: tuple[Spot, ...]
    links: tuple[int, ...]
    storms: bool


class MessageFlow:
    """All arcs of one message, whatever broker it is published at."""

    def __init__(self, arcs: Iterable[Arc]) -> None:
        self.arcs = list(dict.fromkeys(arcs))
        self.between: dict[frozenset[Spot], list[Arc]] = defaultdict(list)
        for arc in self.arcs:
            self.between[frozenset((arc.tail, arc.head))].append(arc)

    @cached_property
    def out_of(self) -> dict[Spot, list[Arc]]:
        """Return the arcs that leave each spot."""
        found: dict[Spot, list[Arc]] = defaultdict(list)
        for arc in self.arcs:
            found[arc.tail].append(arc)
        return found

    @cached_property
    def component_of(self) -> dict[Spot, Spot]:
        """Return the first spot of each spot's component: links join spots, whatever their direction."""
        beside: dict[Spot, set[Spot]] = defaultdict(set)
        for pair in self.between:
            for spot in sorted(pair):
                beside[spot] |= pair
        found: dict[Spot, Spot] = {}
        for root in beside:
            if root not in found:
                found |= dict.fromkeys(search(root, lambda spot: sorted(beside[spot])), root)
        return found

    def doubled(self) -> list[MessageLoop]:
        """Find pairs of spots with more than one link, or with a link that sends messages back."""
        found = []
        for ends, arcs in self.between.items():
            links, own, first = _links(arcs), len(ends) == 1, arcs[0]
            turns = [(one, other) for one in arcs for other in arcs if one.tail == other.head]
            back = any(one.link != other.link for one, other in turns)
            echo = any(one.link == other.link and one.echoes for one, other in turns)
            if len(links) > 1 or own or echo:
                found.append(MessageLoop((first.tail, first.head), links, back or own))
        return found

    def loops(self) -> list[MessageLoop]:
        """Find one ring for each pair of linked spots that a spanning forest of all of them leaves out."""
        beside: dict[Spot, list[Spot]] = defaultdict(list)
        for ends in self.between:
            for spot in sorted(ends) if len(ends) == 2 else ():
                beside[spot].extend(ends - {spot})
        up: dict[Spot, Spot] = {}
        for root in beside:
            if root not in up:
                up |= search(root, beside.__getitem__)
        place = {spot: at for at, spot in enumerate(up)}
        rings = [
            _ring(up, spot, other)
            for spot in up
            for other in beside[spot]
            if place[spot] < place[other] and up[other] != spot
        ]
        found = [self._loop(ring) for ring in rings if self._harms(ring)]
        doubled = self.doubled()
        if not (any(loop.storms for loop in found) or any(pair.storms for pair in doubled)):
            found += self._round_trip()
        return found if found or doubled else self._meeting()

    def _goes_round(self, ring: tuple[Spot, ...]) -> bool:
        """Return whether a message can go round for ever, never back over the link it came by."""
        turns = pairwise((*ring, ring[0]))
        steps = [[arc for arc in self.between[frozenset(pair)] if arc.tail == pair[0]] for pair in turns]
        for first in steps[0]:
            links = {first.link}
            for step in (*steps[1:], [first]):
                links = {arc.link for arc in step if links - {arc.link}}
            if links:
                return True
        return False

    def _loop(self, ring: tuple[Spot, ...]) -> MessageLoop:
        storms = self._goes_round(ring)
        if not storms and self._goes_round(ring[::-1]):
            ring, storms = ring[::-1], True
        arcs = (arc for pair in pairwise((*ring, ring[0])) for arc in self.between[frozenset(pair)])
        return MessageLoop(ring, _links(arcs), storms)

    def _harms(self, ring: tuple[Spot, ...]) -> bool:
        """Return whether any message comes twice because of this ring alone; with one-way links none may."""
        pairs = [self.between[frozenset(pair)] for pair in pairwise((*ring, ring[0]))]
        # One link for each pair: that there are several is another finding.
        alone = MessageFlow(Arc(arcs[0].link, arc.tail, arc.head) for arcs in pairs for arc in arcs)
        return any(alone.repeats(spot) for spot in ring)

    def _next(self, arc: Arc) -> list[Arc]:
        """Return the arcs that a message takes which came over this one."""
        # Where a broker is linked to itself, what comes in at one end goes out at the other.
        back = arc.echoes or arc.tail == arc.head
        return [one for one in self.out_of.get(arc.head, ()) if back or one.link != arc.link]

    def _round_trip(self) -> list[MessageLoop]:
        """Find any path that leads back into itself, depth first."""
        done: set[Arc] = set()
        for root in self.arcs:
            path: dict[Arc, Iterator[Arc]] = {} if root in done else {root: iter(self._next(root))}
            while path:
                arc = next(reversed(path))
                further = next(path[arc], None)
                if further is None:
                    done.add(arc)
                    del path[arc]
                elif further in path:
                    around = list(path)
                    around = around[around.index(further) :]
                    return [MessageLoop(tuple(one.tail for one in around), _links(around), True)]
                elif further not in done:
                    path[further] = iter(self._next(further))
        return []

    def _meeting(self) -> list[MessageLoop]:
        """Find two paths of a message that meet, if no ring above shows it."""
        for start in self.component_of:
            for twice in self.repeats(start)[:1]:
                arcs = [arc for arc in self.arrivals(start) if arc.head == twice or arc.tail == start]
                spots = tuple(dict.fromkeys(spot for arc in arcs for spot in (arc.tail, arc.head)))
                return [MessageLoop(spots, _links(arcs), False)]
        return []

    def arrivals(self, start: Spot) -> list[Arc]:
        """Return each arc that a message published at `start` crosses, in the order of hops."""

        def onwards(arc: Arc | None) -> list[Arc]:
            return self.out_of.get(start, []) if arc is None else self._next(arc)

        return [arc for arc in search(None, onwards) if arc is not None]

    def repeats(self, start: Spot) -> list[Spot]:
        """Return where a message published at `start` comes more than once, or comes back to."""
        seen, found = {start}, []
        for arc in self.arrivals(start):
            if arc.head in seen:
                found.append(arc.head)
            seen.add(arc.head)
        return found

    def one_way(self) -> Iterator[Arc]:
        """Yield arcs over which nothing comes back, by whatever path."""
        for arcs in self.between.values():
            tail, head = arcs[0].tail, arcs[0].head
            one_sided = tail != head and all(arc.tail == tail for arc in arcs)
            if one_sided and all(arc.head != tail for arc in self.arrivals(head)):
                yield from arcs


def _links(arcs: Iterable[Arc]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(arc.link for arc in arcs))


def _ring(up: dict[Spot, Spot], one: Spot, other: Spot) -> tuple[Spot, ...]:
    """Return the path from one spot up to where both paths meet, and down to the other."""
    first, second = [one], [other]
    for path in (first, second):
        while (above := up[path[-1]]) != path[-1]:
            path.append(above)
    top = next(spot for spot in first if spot in second)
    return (*first[: first.index(top) + 1], *second[: second.index(top)][::-1])

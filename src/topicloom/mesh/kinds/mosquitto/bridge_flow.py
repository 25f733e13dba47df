"""Which bridges carry a message of a name, and under which names it goes on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from topicloom.mesh.audit.message_flow import Arc, MessageFlow, MessageLoop, Spot
from topicloom.mesh.kinds.mosquitto.patterns import MOST_LEVELS, sent_as
from topicloom.mesh.kinds.mosquitto.read import Bridge


@dataclass(frozen=True, slots=True)
class BridgeLink:
    """A bridge and both its ends, by the names of their brokers."""

    bridge: Bridge
    dialer: str
    acceptor: str


class BridgeIndex:
    """Which links carry a name; those whose patterns can match it are looked up by its first level."""

    def __init__(self, links: list[BridgeLink]) -> None:
        self._links = links
        self._exact: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        self._wild: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        prefixes = [p for link in links for r in link.bridge.rules for p in (r.local_prefix, r.remote_prefix)]
        # Each bridge crossed once each way adds no more levels than this; a name that has grown by more has
        # crossed one of them twice, and goes on so.
        self._growth = 2 * sum(prefix.count("/") + bool(prefix) for prefix in prefixes) + 1
        for number, link in enumerate(links):
            for rule in link.bridge.rules:
                for broker, pattern in ((link.dialer, rule.local), (link.acceptor, rule.remote)):
                    if "+" in pattern or "#" in pattern:
                        self._wild[pattern.partition("/")[0]][broker].add(number)
                    else:
                        self._exact[pattern][broker].add(number)

    def _tables(self, name: str) -> list[dict[str, set[int]]]:
        """By broker, the links that may carry the name there."""
        wild = (self._wild.get(level, {}) for level in (name.partition("/")[0], "+", "#"))
        return [self._exact.get(name, {}), *wild]

    def out_of(self, spot: Spot) -> Iterator[Arc]:
        """The arcs of messages that are at a broker under a name."""
        broker, name = spot
        empty: set[int] = set()
        for number in sorted(empty.union(*(table.get(broker, empty) for table in self._tables(name)))):
            link = self._links[number]
            for tail, head, out in ((link.dialer, link.acceptor, True), (link.acceptor, link.dialer, False)):
                other = sent_as(link.bridge, name, out=out) if tail == broker else None
                if other is not None:
                    yield Arc(number, spot, (head, other), out and not link.bridge.known_as_bridge)

    def flow(self, name: str) -> tuple[MessageFlow, MessageLoop | None]:
        """All arcs of a message of this name, and the loop in which its name grows without end, if any."""
        starts = {broker for table in self._tables(name) for broker in table}
        spots: dict[Spot, None] = {(broker, name): None for broker in sorted(starts)}
        # Walks as messages take them: not back over the link they came by.
        came: dict[Arc, Arc | None] = {arc: None for spot in spots for arc in self.out_of(spot)}
        waiting, limit = list(came), min(name.count("/") + self._growth, MOST_LEVELS)
        while waiting:
            arc = waiting.pop()  # depth first: of names that grow there may be very many
            spots.setdefault(arc.head)
            if arc.head[1].count("/") > limit:
                return MessageFlow(came), _growing(came, arc)
            for further in self.out_of(arc.head):
                allowed = further.link != arc.link or arc.echoes or arc.tail[0] == arc.head[0]
                if allowed and further not in came:
                    came[further] = arc
                    waiting.append(further)
        within = (arc for spot in spots for arc in self.out_of(spot) if arc.head in spots)
        return MessageFlow(within), None


def _growing(came: dict[Arc, Arc | None], last: Arc) -> MessageLoop:
    """A round of a message that gets a longer name each time.

    The way to `last` gained more levels than all bridges add together, so some bridge was crossed again with
    a longer name: otherwise every round could be left out, and the way without them would gain as much.
    """
    way = [last]
    while (before := came[way[-1]]) is not None:
        way.append(before)
    earlier: dict[tuple[int, str], list[int]] = defaultdict(list)
    for place, arc in enumerate(way):
        earlier[arc.link, arc.tail[0]].append(place)
    start, end = next(
        (later, first)
        for places in earlier.values()
        for later, first in combinations(places, 2)
        if way[later].tail[1].count("/") > way[first].tail[1].count("/")
    )
    around = way[start:end][::-1]
    return MessageLoop(
        tuple((arc.tail[0], "") for arc in around), tuple({arc.link: None for arc in around}), True
    )

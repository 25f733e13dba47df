"""MQTT topic names on bridges: what patterns match, how a bridge renames, which bridges carry a name on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from topicloom.mesh.audit.message_flow import Arc, MessageFlow, MessageLoop, Spot
from topicloom.mesh.kinds.mosquitto.read import Bridge, TopicRule

MOST_LEVELS = 200  # Mosquitto refuses names of more levels


def matches(pattern: str, name: str) -> bool:
    """Return whether a topic filter matches a topic name (MQTT 3.1.1, section 4.7).

    >>> matches("a/+/#", "a/b"), matches("a/+/#", "a"), matches("#", "$SYS/x")
    (True, False, False)
    """
    wanted, levels = pattern.split("/"), name.split("/")
    if wanted[0] in ("+", "#") and name.startswith("$"):
        return False  # 4.7.2: wildcards at the front leave out names that begin with $
    for index, level in enumerate(wanted):
        if level == "#":
            return True
        if index >= len(levels) or level not in ("+", levels[index]):
            return False
    return len(levels) == len(wanted)


def sent_as(bridge: Bridge, name: str, *, out: bool) -> str | None:
    """Return what a message of this name is called at the other end of a bridge; None if it does not cross.

    As mosquitto does it: any rule of this direction lets it cross, the first one with a prefix renames it. A
    prefix is taken away only where the name begins with it: `a/#` matches `a` too, which keeps its name.
    """
    found = None
    for rule in rules_of(bridge, name, out=out):
        ends = rule.local_prefix, rule.remote_prefix
        old, new = ends if out else ends[::-1]
        if old or new:
            return new + name.removeprefix(old)
        found = name
    return found


def rules_of(bridge: Bridge, name: str, *, out: bool) -> Iterator[TopicRule]:
    """Yield the rules that let a message of this name cross."""
    for rule in bridge.rules:
        if rule.crosses(out=out) and matches(rule.local if out else rule.remote, name):
            yield rule


def covers(wide: str, narrow: str) -> bool:
    """Return whether the wide pattern matches every name that the narrow one matches."""
    return common(wide, narrow) == narrow


def common(one: str, other: str) -> str | None:
    """Return the pattern of the names that both match, level by level; $ is a letter like any other here.

    >>> common("a/+/#", "+/b"), common("a/#", "a"), common("a/+", "b/#"), common("a/#", "+/#")
    ('a/b', 'a', None, 'a/#')
    """
    first, second = one.split("/"), other.split("/")
    found: list[str] = []
    for index in range(max(len(first), len(second))):
        for mine, its in ((first, second), (second, first)):
            if mine[index : index + 1] == ["#"]:
                return "/".join((*found, *its[index:])) or None
        if index >= len(first) or index >= len(second):
            return None
        level, fixed = first[index], second[index]
        if level != fixed and "+" not in (level, fixed):
            return None
        found.append(fixed if level == "+" else level)
    return "/".join(found)


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
        # Crossing each bridge once in each direction adds no more levels than this; a name that has grown by
        # more has crossed one of them twice, and goes on so.
        self._growth = 2 * sum(prefix.count("/") + bool(prefix) for prefix in prefixes) + 1
        for number, link in enumerate(links):
            for rule in link.bridge.rules:
                for broker, pattern in ((link.dialer, rule.local), (link.acceptor, rule.remote)):
                    if "+" in pattern or "#" in pattern:
                        self._wild[pattern.partition("/")[0]][broker].add(number)
                    else:
                        self._exact[pattern][broker].add(number)

    def _tables(self, name: str) -> list[dict[str, set[int]]]:
        """Return by broker the links that may carry the name there."""
        wild = (self._wild.get(level, {}) for level in (name.partition("/")[0], "+", "#"))
        return [self._exact.get(name, {}), *wild]

    def out_of(self, spot: Spot) -> Iterator[Arc]:
        """Yield the arcs of messages that are at a broker under a name."""
        broker, name = spot
        empty: set[int] = set()
        for number in sorted(empty.union(*(table.get(broker, empty) for table in self._tables(name)))):
            link = self._links[number]
            for tail, head, out in ((link.dialer, link.acceptor, True), (link.acceptor, link.dialer, False)):
                other = sent_as(link.bridge, name, out=out) if tail == broker else None
                if other is not None:
                    yield Arc(number, spot, (head, other), out and not link.bridge.known_as_bridge)

    def flow(self, name: str) -> tuple[MessageFlow, MessageLoop | None]:
        """Return all arcs of a message of this name, and the loop, if any, in which it grows for ever."""
        starts = {broker for table in self._tables(name) for broker in table}
        spots: dict[Spot, None] = {(broker, name): None for broker in sorted(starts)}
        # Paths as messages take them: not back over the link they came by.
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
    """Return a round of a message that gets a longer name each time.

    The path to `last` gained more levels than all bridges add together, so some bridge was crossed again with
    a longer name: otherwise every round could be left out, and the path without them would gain as much.
    """
    path = [last]
    while (before := came[path[-1]]) is not None:
        path.append(before)
    earlier: dict[tuple[int, str], list[int]] = defaultdict(list)
    for place, arc in enumerate(path):
        earlier[arc.link, arc.tail[0]].append(place)
    start, end = next(
        (later, first)
        for places in earlier.values()
        for later, first in combinations(places, 2)
        if path[later].tail[1].count("/") > path[first].tail[1].count("/")
    )
    around = path[start:end][::-1]
    return MessageLoop(
        tuple((arc.tail[0], "") for arc in around), tuple({arc.link: None for arc in around}), True
    )

"""What is wrong with a mesh of Mosquitto brokers, read from their configurations.

For every kind of topic name that the bridges tell apart (mqtt_names.py), the links that carry it are a graph;
flow.py says where that graph makes messages go round, come twice or not come back. Exact for Mosquitto 2:
what it does with overlapping patterns, prefixes and `try_private` was tried out with real brokers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from topicloom.export.audit.coverage import Coverage, check_coverage
from topicloom.export.audit.findings import Audit, Finding, several
from topicloom.export.audit.flow import Arc, Doubled, Flow, Loop, Spot
from topicloom.export.configs.folder import Directory
from topicloom.export.configs.mosquitto import Bridge, MosquittoConf
from topicloom.export.configs.mqtt_names import MOST_LEVELS, kinds_of_names, rule_of, sent_as


@dataclass(frozen=True, slots=True)
class BridgeLink:
    """A bridge and both its ends, by the names of their brokers."""

    bridge: Bridge
    dialer: str
    acceptor: str


def audit_mosquitto(
    directory: Directory[MosquittoConf], wanted: Mapping[str, frozenset[str]] | None = None
) -> Audit:
    """All findings; `wanted` are the brokers whose nodes want each topic, by its name on the brokers."""
    links, lost = _links(directory)
    carried = Carried(links)
    kinds = kinds_of_names(link.bridge for link in links)
    found = _Found(links)
    for name, label in kinds.items():
        found.add(name, label, *carried.flow(name))
    coverage = Coverage()
    if wanted is not None:
        flows = {name: carried.flow(name)[0] for name in wanted}
        coverage = check_coverage(wanted, flows)
    return Audit(
        "mosquitto",
        len(directory.brokers),
        len(links),
        len(kinds),
        loops=tuple(found.loop_findings()),
        doubled=tuple(found.doubled_findings()),
        one_sided=(*lost, *_same_client(links), *found.one_way_findings()),
        unconnected=tuple(found.parted_findings()),
        covered=wanted is not None,
        unreached=coverage.unreached,
        strays=coverage.strays,
    )


def _links(directory: Directory[MosquittoConf]) -> tuple[list[BridgeLink], list[Finding]]:
    links, lost = [], []
    for name, broker in directory.brokers.items():
        for bridge in broker.conf.bridges:
            address = bridge.addresses[0]
            acceptor = directory.behind(address)
            if acceptor is not None:
                links.append(BridgeLink(bridge, name, acceptor.name))
                continue
            there = directory.named(address.host)
            why = (
                f"{there[0].name} does not listen on port {address.port}; correct the port"
                if there
                else "no broker in the folder is there; add its configuration, or say whose it is by --hosts"
            )
            text = f"connection {bridge.name} of {name} leads to {address}, but {why}"
            topics = tuple(rule.local for rule in bridge.rules)
            lost.append(Finding(topics, (name,), (str(address.where),), text))
    return links, lost


def _same_client(links: list[BridgeLink]) -> Iterator[Finding]:
    """Two connections that log in to a broker as the same client throw each other out, again and again."""
    seen: dict[tuple[str, str], BridgeLink] = {}
    for link in links:
        client = link.bridge.remote_clientid
        other = seen.setdefault((link.acceptor, client), link) if client else link
        if other is not link:
            text = (
                f"{other.dialer} and {link.dialer} both log in to {link.acceptor} as client {client!r}: each "
                "throws the other out; give each its own remote_clientid"
            )
            ends = (other.dialer, link.dialer, link.acceptor)
            yield Finding((), ends, (str(other.bridge.where), str(link.bridge.where)), text)


_Topics = dict[str, str]
"""Names of topics, and what users read for each."""


class Carried:
    """Which links carry a name; patterns without wildcards are looked up, the others tried."""

    def __init__(self, links: list[BridgeLink]) -> None:
        self._links = links
        self._exact: dict[str, set[int]] = defaultdict(set)
        self._wild: set[int] = set()
        prefixes = [p for link in links for r in link.bridge.rules for p in (r.local_prefix, r.remote_prefix)]
        # Each bridge crossed once each way adds no more levels than this; a name that has grown by more has
        # crossed one of them twice, and goes on so.
        self._growth = 2 * sum(prefix.count("/") + bool(prefix) for prefix in prefixes) + 1
        for number, link in enumerate(links):
            for rule in link.bridge.rules:
                for pattern in (rule.local, rule.remote):
                    if "+" in pattern or "#" in pattern:
                        self._wild.add(number)
                    else:
                        self._exact[pattern].add(number)

    def out_of(self, spot: Spot) -> Iterator[Arc]:
        """The arcs of messages that are at a broker under a name."""
        broker, name = spot
        for number in sorted(self._exact.get(name, set()) | self._wild):
            link = self._links[number]
            for tail, head, out in ((link.dialer, link.acceptor, True), (link.acceptor, link.dialer, False)):
                other = sent_as(link.bridge, name, out=out) if tail == broker else None
                if other is not None:
                    yield Arc(number, spot, (head, other), out and not link.bridge.known_as_bridge)

    def flow(self, name: str) -> tuple[Flow, Loop | None]:
        """All arcs of a message of this name, and the loop in which its name grows without end, if any."""
        starts = {
            end
            for number in self._exact.get(name, set()) | self._wild
            for end in (self._links[number].dialer, self._links[number].acceptor)
        }
        spots: dict[Spot, None] = {(broker, name): None for broker in sorted(starts)}
        # Walks as messages take them: not back over the link they came by.
        came: dict[Arc, Arc | None] = {arc: None for spot in spots for arc in self.out_of(spot)}
        waiting, limit = list(came), min(name.count("/") + self._growth, MOST_LEVELS)
        while waiting:
            arc = waiting.pop()  # depth first: of names that grow there may be very many
            spots.setdefault(arc.head)
            if arc.head[1].count("/") > limit:
                return Flow(came), _growing(came, arc)
            for further in self.out_of(arc.head):
                allowed = further.link != arc.link or arc.echoes or arc.tail[0] == arc.head[0]
                if allowed and further not in came:
                    came[further] = arc
                    waiting.append(further)
        within = (arc for spot in spots for arc in self.out_of(spot) if arc.head in spots)
        return Flow(within), None


def _growing(came: dict[Arc, Arc | None], last: Arc) -> Loop:
    """The last round of a message that gets a longer name each time."""
    way = [last]
    while (before := came[way[-1]]) is not None:
        way.append(before)
    turn = next(i for i, arc in enumerate(way) if i and (arc.link, arc.tail[0]) == (last.link, last.tail[0]))
    around = way[:turn][::-1]
    return Loop(tuple((arc.tail[0], "") for arc in around), tuple({arc.link: None for arc in around}), True)


class _Found:
    """Findings of all names so far; the same links in the same trouble are one finding with many topics."""

    def __init__(self, links: list[BridgeLink]) -> None:
        self._links = links
        self._loops: dict[tuple[frozenset[int], bool], tuple[Loop, _Topics]] = {}
        self._doubled: dict[tuple[tuple[int, ...], bool], tuple[Doubled, _Topics]] = {}
        self._one_way: dict[tuple[str, str], tuple[dict[str, None], _Topics]] = {}
        self._parted: dict[tuple[tuple[str, ...], ...], _Topics] = {}

    def add(self, name: str, label: str, flow: Flow, growing: Loop | None) -> None:
        """What the flow of messages of this name shows; users read `label`."""
        for loop in [growing] if growing else flow.loops():
            self._loops.setdefault((frozenset(loop.links), loop.storms), (loop, {}))[1][name] = label
        if growing:
            return
        for doubled in flow.doubled():
            self._doubled.setdefault((doubled.links, doubled.storms), (doubled, {}))[1][name] = label
        for arc in flow.one_way():
            if arc.tail[1] == name:  # under another name it is another topic's turn
                bridge = self._links[arc.link].bridge
                out = self._links[arc.link].dialer == arc.tail[0]
                rule = rule_of(bridge, name, out=out)
                if rule and not name.startswith(rule.local_prefix if out else rule.remote_prefix):
                    continue  # `a` for `a/#` with the prefix `a/`: mosquitto's own oddity, meant by nobody
                lines, topics = self._one_way.setdefault((arc.tail[0], arc.head[0]), ({}, {}))
                lines[str(rule.where if rule else bridge.where)] = None
                topics[name] = label
        parts: dict[int, list[str]] = defaultdict(list)
        for (broker, called), part in flow.parts.items():
            if called == name:
                parts[part].append(broker)
        if len(parts) > 1:
            self._parted.setdefault(tuple(map(tuple, parts.values())), {})[name] = label

    def _lines(self, links: tuple[int, ...], topics: _Topics) -> tuple[str, ...]:
        """The lines that carry the first of these topics, or where the connections begin."""
        found = []
        for number in links:
            bridge, name = self._links[number].bridge, next(iter(topics))
            rule = rule_of(bridge, name, out=True) or rule_of(bridge, name, out=False)
            found.append(str(rule.where if rule else bridge.where))
        return tuple(found)

    def loop_findings(self) -> Iterator[Finding]:
        for loop, topics in self._loops.values():
            brokers = tuple(spot[0] for spot in loop.spots)
            where = self._lines(loop.links, topics)
            what = "goes round for ever" if loop.storms else "comes to some of them more than once"
            text = (
                f"{_topics(topics)} {what} among {' - '.join((*brokers, brokers[0]))}; take the topic out of "
                f"one of these bridges: {several(where)}"
            )
            yield Finding(_distinct(topics), brokers, where, text, loop.storms)

    def doubled_findings(self) -> Iterator[Finding]:
        for doubled, topics in self._doubled.values():
            one, other = doubled.spots[0][0], doubled.spots[1][0]
            where = self._lines(doubled.links, topics)
            if one == other:
                text = (
                    f"{_topics(topics)} goes round for ever: {one} is bridged to itself at {several(where)}; "
                    "remove this bridge"
                )
            elif len(doubled.links) == 1:
                text = (
                    f"{_topics(topics)} comes back to {one} over its bridge to {other}, which is not told "
                    f"that it is one ({where[0]}); set try_private true"
                )
            else:
                what = "goes round for ever" if doubled.storms else "comes more than once"
                text = (
                    f"{_topics(topics)} {what} between {one} and {other}, bridged {len(where)} times at "
                    f"{several(where)}; keep one of these bridges"
                )
            yield Finding(_distinct(topics), (one, other), where, text, doubled.storms)

    def one_way_findings(self) -> Iterator[Finding]:
        for (tail, head), (lines, topics) in self._one_way.items():
            text = (
                f"{_topics(topics)} goes from {tail} to {head} and does not come back ({several(lines)}); "
                f"write `both` if {tail} should get what is published at {head}"
            )
            yield Finding(_distinct(topics), (tail, head), tuple(lines), text)

    def parted_findings(self) -> Iterator[Finding]:
        for parts, topics in self._parted.items():
            groups = " | ".join(several(part) for part in parts)
            text = (
                f"{_topics(topics)} is bridged in {len(parts)} parts that no bridge joins: {groups}; "
                f"bridge it between {parts[0][0]} and {parts[1][0]}"
            )
            brokers = tuple(broker for part in parts for broker in part)
            yield Finding(_distinct(topics), brokers, (), text)


def _distinct(topics: _Topics) -> tuple[str, ...]:
    return tuple(dict.fromkeys(topics.values()))


def _topics(topics: _Topics) -> str:
    found = _distinct(topics)
    return f"topic {found[0]}" if len(found) == 1 else f"each of the topics {several(found)}"

"""What is wrong with a mesh of Mosquitto brokers, read from their configurations.

For every class of topic names that the bridges tell apart (distinct_names.py), the links that carry it are a
graph; audit/message_flow.py says where it makes messages go round, come twice or not come back. Exact for
Mosquitto 2: overlapping patterns, prefixes and `try_private` were tried with real brokers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from topicloom.mesh.audit.broker_files import BrokerDirectory
from topicloom.mesh.audit.coverage import Wanted, check_coverage
from topicloom.mesh.audit.findings import Audit, Finding, several, several_topics
from topicloom.mesh.audit.message_flow import MessageFlow, MessageLoop, Spot
from topicloom.mesh.kinds.mosquitto.bridge_flow import BridgeIndex, BridgeLink, rules_of
from topicloom.mesh.kinds.mosquitto.distinct_names import distinct_names
from topicloom.mesh.kinds.mosquitto.read import MosquittoConf


def audit_mosquitto(
    directory: BrokerDirectory[MosquittoConf], wanted: Mapping[str, Wanted] | None = None
) -> Audit:
    """Return all findings; `wanted` are the brokers whose nodes want each topic, by its name there."""
    links, lost = _links(directory)
    carried = BridgeIndex(links)
    names = distinct_names((link.bridge, link.dialer, link.acceptor) for link in links)
    directed = frozenset(names) if directory.one_way_ok else _directed(links, names, wanted or {})
    found = _Found(links, directed)
    for name, label in names.items():
        found.add(name, label, *carried.flow(name))
    coverage: dict[str, Any] = {}
    if wanted is not None:
        flows = {name: carried.flow(name)[0] for name in wanted}
        coverage = check_coverage(wanted, flows, one_way_ok=directory.one_way_ok)
    return Audit(
        "mosquitto",
        len(directory.brokers),
        len(links),
        len(names),
        loops=tuple(found.loop_findings()),
        doubled=tuple(found.doubled_findings()),
        one_sided=(*lost, *_same_client(links), *found.one_way_findings()),
        unconnected=tuple(found.split_findings()),
        unlinked=_unlinked(directory, links) if wanted is None else (),
        **coverage,
    )


def _directed(
    links: list[BridgeLink], names: Mapping[str, str], wanted: Mapping[str, Wanted]
) -> frozenset[str]:
    """Return the names that need not go both ways, by the roles of the topics that the same lines carry.

    A pattern such as `alarm/#` stands for the topics of the interest that it matches: coverage judges those.
    """
    by_role = {name for name, own in wanted.items() if own.has_roles}
    others = [name for name in names if name not in wanted]
    if not by_role or not others:
        return frozenset(by_role)

    def lines(name: str) -> frozenset[tuple[int, bool, str]]:
        return frozenset(
            (number, out, str(rule.where))
            for number, link in enumerate(links)
            for out in (True, False)
            for rule in rules_of(link.bridge, name, out=out)
        )

    carried: dict[frozenset[tuple[int, bool, str]], bool] = {}
    for name in wanted:
        own = lines(name)
        carried[own] = carried.get(own, True) and name in by_role
    return frozenset(by_role.union(name for name in others if carried.get(lines(name), False)))


def _unlinked(directory: BrokerDirectory[MosquittoConf], links: list[BridgeLink]) -> tuple[str, ...]:
    """Return the brokers that no bridge begins or ends at."""
    linked = {link.acceptor for link in links}
    return tuple(
        name for name, broker in directory.brokers.items() if not broker.conf.bridges and name not in linked
    )


def _links(directory: BrokerDirectory[MosquittoConf]) -> tuple[list[BridgeLink], list[Finding]]:
    links, lost = [], []
    for name, broker in directory.brokers.items():
        for bridge in broker.conf.bridges:
            address = bridge.addresses[0]
            acceptor = directory.first_behind(bridge.addresses)
            if acceptor is not None:
                links.append(BridgeLink(bridge, name, acceptor.name))
                continue
            there = directory.named(address.host)
            why = (
                f"{there[0].name} does not listen on port {address.port}; correct the port"
                if there
                else "no broker in the folder is there; add its configuration, or say whose it is by `hosts`"
            )
            text = f"connection {bridge.name} of {name} leads to {address}, but {why}"
            topics = tuple(rule.local for rule in bridge.rules)
            lost.append(Finding(topics, (name,), (str(address.where),), False, text))
    return links, lost


def _same_client(links: list[BridgeLink]) -> Iterator[Finding]:
    """Find connections that log in to a broker as the same client: they throw each other out."""
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
            yield Finding((), ends, (str(other.bridge.where), str(link.bridge.where)), False, text)


_Topics = dict[str, str]  # names of topics, and what users read for each


class _Found:
    """Findings of all names so far; the same links in the same trouble are one finding with many topics."""

    def __init__(self, links: list[BridgeLink], directed: frozenset[str]) -> None:
        self._links = links
        self._directed = directed  # names that need not go both ways; coverage judges where they must go
        self._loops: dict[tuple[frozenset[int], bool], tuple[MessageLoop, _Topics]] = {}
        self._doubled: dict[tuple[tuple[int, ...], bool], tuple[MessageLoop, _Topics]] = {}
        self._one_way: dict[tuple[str, str], tuple[dict[str, None], _Topics]] = {}
        self._split: dict[tuple[tuple[str, ...], ...], _Topics] = {}

    def add(self, name: str, label: str, flow: MessageFlow, growing: MessageLoop | None) -> None:
        """Note what the flow of messages of this name shows; users read `label`."""
        for loop in [growing] if growing else flow.loops():
            self._loops.setdefault((frozenset(loop.links), loop.storms), (loop, {}))[1][name] = label
        if growing:
            return
        for doubled in flow.doubled():
            self._doubled.setdefault((doubled.links, doubled.storms), (doubled, {}))[1][name] = label
        for arc in flow.one_way():
            if (
                arc.tail[1] == name and name not in self._directed
            ):  # under another name it is another topic's turn
                bridge = self._links[arc.link].bridge
                out = self._links[arc.link].dialer == arc.tail[0]
                rule = next(rules_of(bridge, name, out=out), None)
                if rule and not name.startswith(rule.local_prefix if out else rule.remote_prefix):
                    continue  # `a` for `a/#` with the prefix `a/`: mosquitto's own oddity, meant by nobody
                lines, topics = self._one_way.setdefault((arc.tail[0], arc.head[0]), ({}, {}))
                lines[str(rule.where if rule else bridge.where)] = None
                topics[name] = label
        components = _components(name, flow)
        if len(components) > 1:
            self._split.setdefault(components, {})[name] = label

    def _lines(self, links: tuple[int, ...], topics: _Topics) -> tuple[str, ...]:
        """Return the lines that carry the first of these topics, or where the connections begin."""
        found = []
        for number in links:
            bridge, name = self._links[number].bridge, next(iter(topics))
            rule = next(chain(*(rules_of(bridge, name, out=out) for out in (True, False))), None)
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
            yield Finding(_distinct(topics), brokers, where, loop.storms, text)

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
            yield Finding(_distinct(topics), (one, other), where, doubled.storms, text)

    def one_way_findings(self) -> Iterator[Finding]:
        for (tail, head), (lines, topics) in self._one_way.items():
            text = (
                f"{_topics(topics)} goes from {tail} to {head} and does not come back ({several(lines)}); "
                f"write `both` if {tail} should get what is published at {head}, or give `one_way_ok`"
            )
            yield Finding(_distinct(topics), (tail, head), tuple(lines), False, text)

    def split_findings(self) -> Iterator[Finding]:
        for components, topics in self._split.items():
            groups = " | ".join(several(component) for component in components)
            text = (
                f"{_topics(topics)} is split into {len(components)} components that no bridge joins: "
                f"{groups}; bridge it between {components[0][0]} and {components[1][0]}"
            )
            brokers = tuple(broker for component in components for broker in component)
            yield Finding(_distinct(topics), brokers, (), False, text)


def _components(name: str, flow: MessageFlow) -> tuple[tuple[str, ...], ...]:
    """Return the components of a topic under this name: brokers that no bridge joins to the others.

    Only those in which it keeps its name. Where a bridge renames, the same name at two brokers need not be
    the same topic (each site's `sensors/#` in a branch of its own at a hub), and configurations do not say
    which is meant, so some split topics are not found. With an interest or a manifest each topic is judged
    by who wants it, under its one name.
    """
    brokers: dict[Spot, list[str]] = defaultdict(list)
    renamed = set()
    for (broker, called), component in flow.component_of.items():
        brokers[component].append(broker)
        if called != name:
            renamed.add(component)
    return tuple(tuple(found) for component, found in brokers.items() if component not in renamed)


def _distinct(topics: _Topics) -> tuple[str, ...]:
    return tuple(dict.fromkeys(topics.values()))


def _topics(topics: _Topics) -> str:
    return several_topics(_distinct(topics))

"""Whether every topic reaches every broker whose node wants it, and no other, as messages flow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from topicloom.mesh.audit.findings import Finding, several, several_topics
from topicloom.mesh.audit.message_flow import MessageFlow, Spot


def check_coverage(
    wanted: Mapping[str, frozenset[str]],
    flows: Mapping[str, MessageFlow],
    spot_of: Mapping[tuple[str, str], Spot] | None = None,
    *,
    by_interest: bool = False,
) -> dict[str, Any]:
    """Judge who gets a topic that is published at each broker that wants it.

    Returns by field of the audit brokers that miss a topic they want, and those that carry one they do not
    want. `spot_of` (broker, topic), where that is not simply the two. `by_interest`: brokers send a message
    only where someone further on has subscribed.
    """
    missed: dict[tuple[tuple[str, ...], ...], list[str]] = defaultdict(list)
    strays: dict[str, list[str]] = defaultdict(list)
    for topic, brokers in wanted.items():
        ordered = sorted(brokers)
        places = {broker: (spot_of or {}).get((broker, topic), (broker, topic)) for broker in ordered}
        reached = {b: {arc.head for arc in flows[topic].arrivals(places[b])} | {places[b]} for b in ordered}
        groups: list[list[str]] = []
        for broker in ordered:
            spot = places[broker]
            mutual = (g for g in groups if places[g[0]] in reached[broker] and spot in reached[g[0]])
            home = next(mutual, None)
            groups.append([broker]) if home is None else home.append(broker)
        if len(groups) > 1:
            missed[tuple(map(tuple, groups))].append(topic)
        carriers = {spot for spots in reached.values() for spot in spots}
        if by_interest:
            carriers = _between(flows[topic], carriers, set(places.values()))
        for stray in sorted(carriers - set(places.values())):
            strays[stray[0]].append(topic)
    return {
        "unreached": tuple(_unreached(groups, topics) for groups, topics in missed.items()),
        "strays": tuple(_stray(broker, topics) for broker, topics in sorted(strays.items())),
    }


def _between(flow: MessageFlow, spots: set[Spot], wanted: set[Spot]) -> set[Spot]:
    """Return the spots on the paths between wanted ones: without dead ends."""
    beside = {spot: {arc.head for arc in flow.out_of.get(spot, ())} & spots for spot in spots}
    ends = [spot for spot in spots if spot not in wanted and len(beside[spot]) <= 1]
    for spot in ends:
        for other in beside.pop(spot):
            beside[other].discard(spot)
            if other not in wanted and len(beside[other]) == 1:
                ends.append(other)
    return set(beside)


def _unreached(groups: tuple[tuple[str, ...], ...], topics: list[str]) -> Finding:
    text = (
        f"{several_topics(topics)} does not get from each subscriber to every other: "
        f"{' | '.join(several(group) for group in groups)}; add a link between these components"
    )
    return Finding(tuple(topics), tuple(broker for group in groups for broker in group), (), False, text)


def _stray(broker: str, topics: list[str]) -> Finding:
    text = (
        f"{broker} carries {several_topics(topics)}, which its node does not want; lead the topic around it"
    )
    return Finding(tuple(topics), (broker,), (), False, text)

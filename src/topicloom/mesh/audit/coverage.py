"""Does every topic reach every broker whose node wants it, and no other? By the way messages flow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from topicloom.mesh.audit.findings import Finding, several
from topicloom.mesh.audit.message_flow import MessageFlow, Spot


@dataclass(frozen=True, slots=True)
class TopicCoverage:
    """Brokers that miss a topic they want, and brokers that carry one they do not want."""

    unreached: tuple[Finding, ...] = ()
    strays: tuple[Finding, ...] = ()


def check_coverage(
    wanted: Mapping[str, frozenset[str]],
    flows: Mapping[str, MessageFlow],
    spot_of: Mapping[tuple[str, str], Spot] | None = None,
    *,
    by_interest: bool = False,
) -> TopicCoverage:
    """Publish at each broker that wants a topic: who gets it?

    `spot_of` (broker, topic), where that is not simply the two. `by_interest`: brokers send a message only
    where someone further on has subscribed.
    """
    missed: dict[tuple[tuple[str, ...], ...], list[str]] = defaultdict(list)
    strays: dict[str, list[str]] = defaultdict(list)
    for topic, brokers in wanted.items():
        ordered = sorted(brokers)
        places = {broker: (spot_of or {}).get((broker, topic), (broker, topic)) for broker in ordered}
        reached = {b: {arc.head for arc in flows[topic].arrivals(places[b])} | {places[b]} for b in ordered}
        groups: list[list[str]] = []
        for broker in ordered:
            home = next((g for g in groups if _mutual(broker, g[0], reached, places)), None)
            groups.append([broker]) if home is None else home.append(broker)
        if len(groups) > 1:
            missed[tuple(map(tuple, groups))].append(topic)
        carriers = {spot for spots in reached.values() for spot in spots}
        if by_interest:
            carriers = _between(flows[topic], carriers, set(places.values()))
        for stray in sorted(carriers - set(places.values())):
            strays[stray[0]].append(topic)
    return TopicCoverage(
        tuple(_unreached(groups, topics) for groups, topics in missed.items()),
        tuple(_stray(broker, topics) for broker, topics in sorted(strays.items())),
    )


def _mutual(one: str, other: str, reached: Mapping[str, set[Spot]], places: Mapping[str, Spot]) -> bool:
    return places[other] in reached[one] and places[one] in reached[other]


def _between(flow: MessageFlow, spots: set[Spot], wanted: set[Spot]) -> set[Spot]:
    """The spots on the ways between wanted ones: without dead ends."""
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
        f"{_named(topics)} does not get from each subscriber to every other: "
        f"{' | '.join(several(group) for group in groups)}; add a link between these parts"
    )
    return Finding(tuple(topics), tuple(broker for group in groups for broker in group), (), text)


def _stray(broker: str, topics: list[str]) -> Finding:
    text = f"{broker} carries {_named(topics)}, which its node does not want; lead the topic around it"
    return Finding(tuple(topics), (broker,), (), text)


def _named(topics: list[str]) -> str:
    return f"topic {topics[0]}" if len(topics) == 1 else f"each of the topics {several(topics)}"

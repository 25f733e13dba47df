"""Whether every topic reaches every broker whose node wants it, and no other, as messages flow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from topicloom.mesh.audit.findings import Finding, several, several_topics
from topicloom.mesh.audit.message_flow import MessageFlow, Spot


@dataclass(frozen=True, slots=True)
class Wanted:
    """The brokers whose nodes want a topic; those that publish it and must receive it, where roles say so."""

    brokers: frozenset[str]
    senders: frozenset[str] | None = None
    hearers: frozenset[str] | None = None

    @property
    def has_roles(self) -> bool:
        """Return whether messages need not go both ways everywhere."""
        return self.senders is not None or self.hearers is not None


def check_coverage(
    wanted: Mapping[str, Wanted],
    flows: Mapping[str, MessageFlow],
    spot_of: Mapping[tuple[str, str], Spot] | None = None,
    *,
    by_interest: bool = False,
    one_way_ok: bool = False,
) -> dict[str, Any]:
    """Judge who gets a topic that is published at each broker that wants it.

    Returns by field of the audit brokers that miss a topic they want, and those that carry one they do not
    want. `spot_of` (broker, topic), where that is not simply the two. `by_interest`: brokers send a message
    only where someone further on has subscribed. `one_way_ok`: of two brokers without roles one need not get
    what is published at the other.
    """
    missed: dict[tuple[tuple[str, ...], ...], list[str]] = defaultdict(list)
    strays: dict[str, list[str]] = defaultdict(list)
    for topic, own in wanted.items():
        ordered = sorted(own.brokers)
        places = {broker: (spot_of or {}).get((broker, topic), (broker, topic)) for broker in ordered}
        reached = {b: {arc.head for arc in flows[topic].arrivals(places[b])} | {places[b]} for b in ordered}
        if own.has_roles:
            groups = _reaching(own, reached, places)
        else:
            groups = _meeting(ordered, reached, places, any if one_way_ok else all)
        if len(groups) > 1:
            missed[tuple(map(tuple, groups))].append(topic)
        carriers = {spot for broker in own.senders or own.brokers for spot in reached[broker]}
        if by_interest:
            carriers = _between(flows[topic], carriers, set(places.values()))
        for stray in sorted(carriers - set(places.values())):
            strays[stray[0]].append(topic)
    return {
        "unreached": tuple(_unreached(groups, topics) for groups, topics in missed.items()),
        "strays": tuple(_stray(broker, topics) for broker, topics in sorted(strays.items())),
    }


def _meeting(
    ordered: Sequence[str],
    reached: Mapping[str, set[Spot]],
    places: Mapping[str, Spot],
    ways: Callable[[Iterable[bool]], bool],
) -> list[list[str]]:
    """Return the brokers in groups that get each other's messages, in all or any of the two ways."""

    def meet(one: str, other: str) -> bool:
        return ways((places[other] in reached[one], places[one] in reached[other]))

    groups: list[list[str]] = []
    for broker in ordered:
        # Where any way will do, one who meets somebody of a group belongs to it.
        home = [
            group for group in groups if any(meet(broker, one) for one in group[: 1 if ways is all else None])
        ]
        groups = [group for group in groups if group not in home]
        groups.append([*(one for group in home for one in group), broker])
    return groups


def _reaching(own: Wanted, reached: Mapping[str, set[Spot]], places: Mapping[str, Spot]) -> list[list[str]]:
    """Return one group, or the first publisher and those who do not get what it publishes."""
    for sender in sorted(own.senders or own.brokers):
        missed = [one for one in sorted(own.hearers or own.brokers) if places[one] not in reached[sender]]
        if missed:
            return [[sender], missed]
    return [sorted(own.brokers)]


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

"""How often each leaf link must be crossed, and what counters beyond that mean. Pure: no input or output.

A message of a topic goes over every link of the topic's account both ends of which want it, once, away from
its publisher, as long as somebody further on receives it. Servers count messages per leaf connection and
account but not per topic; so what came into a broker beyond that is weighed against what its clients got:
what they got twice is a duplicate, and what they did not get at all is a stray.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshTopic, NodeAccount, wanted_topics
from topicloom.mesh.run.adapter import Publication, Stray

Crossing = tuple[str, str]  # the name of a link, and the node at whose end messages come out


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """Messages over each link each way, as its dialer counts them.

    `accepted` is what each acceptor counts on all leaf connections it did not dial itself: (in, out).
    """

    crossed: Mapping[Crossing, int]
    accepted: Mapping[NodeAccount, tuple[int, int]]

    def since(self, base: LinkCounts) -> LinkCounts:
        """Return what was counted after `base`; a connection that was made anew counts from zero."""

        def more(now: int, before: int) -> int:
            return now - before if now >= before else now

        crossed = {key: more(count, base.crossed.get(key, 0)) for key, count in self.crossed.items()}
        accepted = {}
        for place, (inwards, outwards) in self.accepted.items():
            before = base.accepted.get(place, (0, 0))
            accepted[place] = more(inwards, before[0]), more(outwards, before[1])
        return LinkCounts(crossed, accepted)


def expected_crossings(
    mesh: Mesh, links: Iterable[MeshLink], publications: Iterable[Publication]
) -> Counter[Crossing]:
    """Count how many of these publications cross each link, and which way."""
    near = _neighbors(mesh, links)
    hearers = {topic.topic: frozenset(topic.hearers) for topic in mesh.topics}
    expected: Counter[Crossing] = Counter()
    for (node, topic), count in Counter((one.node, one.topic) for one in publications).items():
        for crossing in _flood(near.get(topic, {}), node, hearers[topic]):
            expected[crossing] += count
    return expected


def _neighbors(mesh: Mesh, links: Iterable[MeshLink]) -> dict[str, dict[str, list[tuple[str, str]]]]:
    """Return for each topic and node the links that carry it there: (name, other end).

    What the servers do counts, not what the manifest says a link is for: in its account every subject that
    both ends want goes over it.
    """
    wanted = wanted_topics(mesh)
    near: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for link in links:
        for topic in shared_topics(wanted, link):
            at = near.setdefault(topic.topic, {})
            at.setdefault(link.dialer, []).append((link.name, link.acceptor))
            at.setdefault(link.acceptor, []).append((link.name, link.dialer))
    return near


def shared_topics(wanted: Mapping[NodeAccount, Sequence[MeshTopic]], link: MeshLink) -> list[MeshTopic]:
    """Return the topics in the account of a link that both its ends want: those that it carries."""
    dialer, acceptor = (wanted.get((end, link.account or ""), ()) for end in (link.dialer, link.acceptor))
    names = {topic.topic for topic in acceptor}
    return [topic for topic in dialer if topic.topic in names]


def _flood(
    near: Mapping[str, Sequence[tuple[str, str]]], start: str, hearers: frozenset[str]
) -> list[Crossing]:
    above: dict[str, tuple[str, str]] = {}  # of each node reached: the link to it, and the node before it
    queue = [start]
    for node in queue:
        for link, other in near.get(node, ()):
            if other != start and other not in above:
                above[other] = link, node
                queue.append(other)
    needed = set(hearers)
    for node in reversed(queue):
        if node in needed and node in above:
            needed.add(above[node][1])
    return [(above[node][0], node) for node in queue if node in needed and node in above]


def judge_counters(
    mesh: Mesh,
    links: Sequence[MeshLink],
    publications: Sequence[Publication],
    arrivals: Mapping[NodeAccount, int],
    counted: LinkCounts,
) -> list[Stray]:
    """Return the strays that the counters show; `arrivals` counts what our clients got."""
    expected = expected_crossings(mesh, links, publications)
    account_of = {topic.topic: topic.account or "" for topic in mesh.topics}
    published = Counter((one.node, account_of[one.topic]) for one in publications)
    excess: Counter[NodeAccount] = Counter()
    inflow: Counter[NodeAccount] = Counter()
    details: dict[NodeAccount, list[str]] = {}
    for link in links:
        for end in (link.dialer, link.acceptor):
            place = end, link.account or ""
            found, due = counted.crossed.get((link.name, end), 0), expected[link.name, end]
            inflow[place] += found
            if found > due:
                excess[place] += found - due
                detail = f"link {link.name} brought it {found} messages, {due} are due"
                details.setdefault(place, []).append(detail)
    strays = []
    for place, more in sorted(excess.items()):
        # What came in and was published here, less what the node's own clients got, is what nobody wanted.
        unwanted = inflow[place] + published[place] - arrivals.get(place, 0)
        count = min(more, unwanted)
        if count > 0:
            strays.append(Stray(place[0], count, "; ".join(details[place])))
    return strays + _unlisted(links, counted)


def _unlisted(links: Sequence[MeshLink], counted: LinkCounts) -> list[Stray]:
    """Return messages that acceptors exchanged over leaf connections that are no links of the mesh."""
    inwards: Counter[NodeAccount] = Counter()
    outwards: Counter[NodeAccount] = Counter()
    for link in links:
        place = link.acceptor, link.account or ""
        inwards[place] += counted.crossed.get((link.name, link.acceptor), 0)
        outwards[place] += counted.crossed.get((link.name, link.dialer), 0)
    strays = []
    for place, (taken, given) in sorted(counted.accepted.items()):
        more = max(taken - inwards[place], 0) + max(given - outwards[place], 0)
        if more:
            what = f"exchanged {more} messages of account {place[1]} over leaf connections outside the mesh"
            strays.append(Stray(place[0], more, what))
    return strays

"""How often each leaf link must be crossed, and what counters beyond that mean. Pure: no input or output.

A message of a topic goes over every link of the topic's account both ends of which want it, once, away from
its publisher. Servers count messages per leaf connection and account but not per topic; so what came into a
broker beyond that is weighed against what its clients got: what they got twice is a duplicate, and what they
did not get at all is a stray.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from topicloom.mesh.model.mesh import Mesh, MeshLink
from topicloom.mesh.run.adapter import Publication, Stray

Crossing = tuple[str, str]  # the name of a link, and the node at whose end messages come out
NodeAccount = tuple[str, str]  # node and account


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """Messages since the clients connected: over each link each way, as its dialer counts them.

    `accepted` is what each acceptor counts on all leaf connections it did not dial itself: (in, out).
    """

    crossed: Mapping[Crossing, int]
    accepted: Mapping[NodeAccount, tuple[int, int]]


def expected_crossings(
    mesh: Mesh, links: Iterable[MeshLink], publications: Iterable[Publication]
) -> Counter[Crossing]:
    """How many of these publications cross each link, and which way."""
    near = _neighbors(mesh, links)
    routes: dict[tuple[str, str], list[Crossing]] = {}
    expected: Counter[Crossing] = Counter()
    for (node, topic), count in Counter((one.node, one.topic) for one in publications).items():
        route = routes.setdefault((node, topic), _flood(near.get(topic, {}), node))
        for crossing in route:
            expected[crossing] += count
    return expected


def _neighbors(mesh: Mesh, links: Iterable[MeshLink]) -> dict[str, dict[str, list[tuple[str, str]]]]:
    """For each topic and node the links that carry it there: (name, other end).

    What the servers do counts, not what the manifest says a link is for: in its account every subject that
    both ends want goes over it.
    """
    wanted: dict[NodeAccount, set[str]] = {}
    for topic in mesh.topics:
        for node in topic.subscribers:
            wanted.setdefault((node, topic.account or ""), set()).add(topic.topic)
    near: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for link in links:
        account = link.account or ""
        both = wanted.get((link.dialer, account), set()) & wanted.get((link.acceptor, account), set())
        for topic_name in both:
            at = near.setdefault(topic_name, {})
            at.setdefault(link.dialer, []).append((link.name, link.acceptor))
            at.setdefault(link.acceptor, []).append((link.name, link.dialer))
    return near


def _flood(near: Mapping[str, Sequence[tuple[str, str]]], start: str) -> list[Crossing]:
    seen, queue = {start}, deque([start])
    route: list[Crossing] = []
    while queue:
        for link, other in near.get(queue.popleft(), ()):
            if other not in seen:
                seen.add(other)
                queue.append(other)
                route.append((link, other))
    return route


def names_wanted(mesh: Mesh) -> dict[NodeAccount, set[str]]:
    """What the topics that each node wants in each account are called.

    A link carries those of its account that both its ends want.
    """
    wanted: dict[NodeAccount, set[str]] = {}
    for topic in mesh.topics:
        for node in topic.subscribers:
            wanted.setdefault((node, topic.account or ""), set()).add(topic.name)
    return wanted


def judge_counters(
    mesh: Mesh,
    links: Sequence[MeshLink],
    publications: Sequence[Publication],
    arrivals: Mapping[NodeAccount, int],
    counted: LinkCounts,
) -> list[Stray]:
    """The strays that the counters show; `arrivals` is what our clients got at each node and account."""
    expected = expected_crossings(mesh, links, publications)
    account_of = {topic.topic: topic.account or "" for topic in mesh.topics}
    published = Counter((one.node, account_of[one.topic]) for one in publications)
    excess: Counter[NodeAccount] = Counter()
    inflow: Counter[NodeAccount] = Counter()
    words: dict[NodeAccount, list[str]] = {}
    for link in links:
        account = link.account or ""
        for end in (link.dialer, link.acceptor):
            found, due = counted.crossed.get((link.name, end), 0), expected[link.name, end]
            inflow[end, account] += found
            if found > due:
                excess[end, account] += found - due
                words.setdefault((end, account), []).append(
                    f"link {link.name} brought it {found} messages, {due} are due"
                )
    strays = []
    for place, more in sorted(excess.items()):
        # What came in and was published here, less what the node's own clients got, is what nobody wanted.
        unwanted = inflow[place] + published[place] - arrivals.get(place, 0)
        count = min(more, unwanted)
        if count > 0:
            strays.append(Stray(place[0], count, "; ".join(words[place])))
    return strays + _unlisted(links, counted)


def _unlisted(links: Sequence[MeshLink], counted: LinkCounts) -> list[Stray]:
    """Messages that acceptors exchanged over leaf connections that are no links of the mesh."""
    known: dict[NodeAccount, list[int]] = {}
    for link in links:
        inwards, outwards = known.setdefault((link.acceptor, link.account or ""), [0, 0])
        inwards += counted.crossed.get((link.name, link.acceptor), 0)
        outwards += counted.crossed.get((link.name, link.dialer), 0)
        known[link.acceptor, link.account or ""] = [inwards, outwards]
    strays = []
    for place, (inwards, outwards) in sorted(counted.accepted.items()):
        listed = known.get(place, [0, 0])
        more = max(inwards - listed[0], 0) + max(outwards - listed[1], 0)
        if more:
            what = f"exchanged {more} messages of account {place[1]} over leaf connections outside the mesh"
            strays.append(Stray(place[0], more, what))
    return strays

"""Topics that are split while brokers have files of different steps, and an order of brokers that splits few.

A topic is split if two who want it before and after may be in two components at rest, or if one who hears it
may not get what one who sends it publishes, wherever the links that have backups stand. No state holds a
loop, whatever links choose. So the bodies that a topic's steady links join, and the links that may move, are
a forest: bodies from which different ends of all paths of moving links can be reached may be split, all
others never are. (Which ends all links choose together is not looked into, so a topic may be called split
that never is.) Where the table has roles, and links carry a topic one way, messages are followed too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from topicloom.mesh.model.mesh import MeshLink
from topicloom.mesh.rollout.change import Groups
from topicloom.mesh.rollout.mixed_states import MixedStates, Steps
from topicloom.mesh.rollout.reach import MovingLink, Place, Reach

Ends = tuple[MeshLink, list[str | None]]  # a link, and where it may end; None where it carries nothing


class Splits:
    """The splits of all states between the meshes of a roll-out."""

    def __init__(self, states: MixedStates) -> None:
        self.states = states
        self._dialled: dict[tuple[int, str], dict[str, list[MeshLink]]] = {}
        around = {topic: dict.fromkeys(sorted(own)) for topic, own in states.staying.items()}
        for step, mesh in enumerate(states.meshes):
            for link in mesh.links:
                for topic in link.topics:
                    if topic in around:
                        own = self._dialled.setdefault((step, topic), {})
                        own.setdefault(link.dialer, []).append(link)
                        around[topic].update(dict.fromkeys((link.dialer, link.acceptor, *link.backups)))
        self._around = {topic: tuple(nodes) for topic, nodes in around.items()}
        self._of_node: dict[str, list[str]] = {}
        for topic, nodes in self._around.items():
            for node in nodes:
                self._of_node.setdefault(node, []).append(topic)
        self._one_way = {
            topic.topic
            for mesh in states.meshes
            for topic in mesh.topics
            if topic.publishers is not None or topic.receivers is not None
        }
        self._known: dict[tuple[str, tuple[int | None, ...]], bool] = {}

    def near(self, node: str) -> Sequence[str]:
        """Return the topics that the files of a node may split."""
        return self._of_node.get(node, ())

    def all(self, steps: Steps) -> set[str]:
        """Return the topics that may be split in a state."""
        return {topic for topic in self.states.staying if self.is_split(topic, steps)}

    def is_split(self, topic: str, steps: Steps) -> bool:
        """Return whether a topic may be split in a state."""
        key = topic, tuple(steps.get(node) for node in self._around[topic])
        if key not in self._known:
            self._known[key] = self._may_part(topic, steps) or self._one_way_parted(topic, steps)
        return self._known[key]

    def _links(self, topic: str, steps: Steps) -> Iterator[MeshLink]:
        for node in self._around[topic]:
            if node in steps:
                yield from self._dialled.get((steps[node], topic), {}).get(node, ())

    def _ends(self, topic: str, steps: Steps) -> Iterator[Ends]:
        for link in self._links(topic, steps):
            ends: list[str | None] = []
            for end in (link.acceptor, *link.backups):
                takes = self.states.lets_in(link, steps[link.dialer], end, steps, topic)
                if takes:
                    ends.append(end)
                elif end in steps:
                    ends.append(None)  # it may be asked, again and again
            if any(ends):
                yield link, ends

    def _may_part(self, topic: str, steps: Steps) -> bool:
        bodies = Groups(self._around[topic])
        moving: list[Ends] = []
        for link, ends in self._ends(topic, steps):
            if len(ends) == 1 and ends[0] is not None:
                bodies.join(link.dialer, ends[0])
            else:
                moving.append((link, ends))
        stay = {bodies.top(node) for node in self.states.staying[topic]}
        if len(stay) <= 1:
            return False
        paths: dict[str, list[set[str]]] = {}
        for link, ends in moving:
            # Where a link may carry nothing, its body may be the end of a path.
            own = bodies.top(link.dialer)
            paths.setdefault(own, []).append({own if end is None else bodies.top(end) for end in ends})
        return len(_last(stay, paths)) > 1

    def _one_way_parted(self, topic: str, steps: Steps) -> bool:
        """Return whether a message may not reach somebody because links carry the topic the other way."""
        if topic not in self._one_way:
            return False
        reach = Reach(
            MovingLink(
                link.dialer,
                tuple(
                    Place(link.dialer, out=False, back=False)
                    if end is None
                    else Place(end, *self.states.carries(link, end, steps, topic))
                    for end in ends
                ),
            )
            for link, ends in self._ends(topic, steps)
        )
        return any(
            not reach.always(sender, self.states.must_hear(topic, sender))
            for sender in self.states.staying[topic]
        )


def _last(stay: set[str], paths: Mapping[str, list[set[str]]]) -> set[str]:
    """Return the bodies at which paths of moving links may end; all that are met where a body has several."""
    ends, seen = set[str](), set(stay)
    left = list(stay)
    while left:
        body = left.pop()
        own = paths.get(body, [])
        if len(own) != 1 or body in own[0]:
            ends.add(body)
        for more in own:
            for other in more - seen:
                seen.add(other)
                left.append(other)
    return ends


def arrange(splits: Splits, steps: Steps, phase: int, touched: Sequence[str], told: set[str]) -> list[str]:
    """Return brokers in an order in which few topics are split; `told` gets these topics.

    Of those that split no more topics the first one is taken, as they are given. Brokers that go are last.
    """
    there = {node.name for node in splits.states.meshes[phase].nodes}
    state = dict(steps)
    told |= splits.all(state)
    left = [*(node for node in touched if node in there), *(node for node in touched if node not in there)]
    order = []
    while left:
        best: tuple[str, set[str]] | None = None
        for node in left:
            if best is not None and node not in there:
                break
            after = {**state, node: phase} if node in there else {n: s for n, s in state.items() if n != node}
            found = {one for one in splits.near(node) if one not in told and splits.is_split(one, after)}
            if best is None or len(found) < len(best[1]):
                best = node, found
            if not found:
                break
        assert best is not None
        node, found = best
        left.remove(node)
        order.append(node)
        told |= found
        if node in there:
            state[node] = phase
        else:
            state.pop(node, None)
    return order

"""What a mesh is while its brokers have the files of different steps of a roll-out.

A link is made by the file of its dialer. Where brokers ask for logins, the acceptor must let it in too, with
the same password and the topics of both files. A link that finds its first end closed turns to a backup, and
may stay there. What comes of that is what a plan tells, and what a player of roll-outs waits for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from topicloom.mesh.model.directions import BOTH, IN, OUT, directions_of
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshTopic
from topicloom.mesh.plan.secrets import read_secrets

Steps = Mapping[str, int]  # of each node: the number of the mesh whose files its broker has


class MixedStates:
    """The meshes from the old one to the new one, and the states between them."""

    def __init__(self, meshes: Sequence[Mesh], folders: Sequence[Path], moved: frozenset[str]) -> None:
        self.meshes, self.moved = meshes, moved
        self.guarded = any(node.user for node in meshes[0].nodes)
        self._secrets = [read_secrets(folder).links for folder in folders]
        # The middle of a roll-out has what is left of the old mesh, as it was, and lets in the same links.
        full = (meshes[0], *meshes[:1], *meshes[2:])
        self._accepted = [{link.name: link for link in mesh.links} for mesh in full]
        self._ways = [directions_of(mesh) for mesh in full]
        self._served = [_served(mesh) for mesh in full]
        # Those who want, send and hear a topic before and after: they must notice nothing at rest.
        later = {topic.topic: topic for topic in meshes[-1].topics if topic.topic not in moved}
        both = [(topic, later[topic.topic]) for topic in meshes[0].topics if topic.topic in later]
        self.staying = {one.topic: {*one.subscribers} & {*other.subscribers} for one, other in both}
        self._sending = {one.topic: {*one.senders} & {*other.senders} for one, other in both}
        self._hearing = {one.topic: {*one.hearers} & {*other.hearers} for one, other in both}

    def mesh(self, steps: Steps) -> Mesh:
        """Return the mesh as its brokers are configured now."""
        own = {node: self.meshes[step] for node, step in steps.items()}
        by_name = [{one.name: one for one in mesh.nodes} for mesh in self.meshes]
        # Accounts that are new by the end are there as soon as a node has them.
        accounts = dict.fromkeys(name for mesh in own.values() for name in mesh.accounts)
        order = dict.fromkeys(node for mesh in reversed(self.meshes) for node in mesh.start_order)
        return replace(
            self.meshes[0],
            accounts=tuple(accounts),
            nodes=tuple(by_name[step][node] for node, step in steps.items()),
            links=tuple(self._links(steps)),
            topics=tuple(self._topics(own, moving=len(set(steps.values())) > 1)),
            start_order=tuple(node for node in order if node in own),
        )

    def must_hear(self, topic: str, sender: str) -> set[str]:
        """Return who hears a topic of this sender before and after."""
        return self._hearing[topic] if sender in self._sending.get(topic, ()) else set()

    def near(self, links: Sequence[MeshLink], steps: Steps, topic: str) -> dict[str, list[str]]:
        """Return whom each broker sends a topic to, by the files of both ends of links that stand here."""
        near: dict[str, list[str]] = {node: [] for node in steps}
        for link in links:
            if topic in link.topics and self.lets_in(link, steps[link.dialer], link.acceptor, steps, topic):
                out, back = self.carries(link, link.acceptor, steps, topic)
                if out:
                    near[link.dialer].append(link.acceptor)
                if back:
                    near[link.acceptor].append(link.dialer)
        return near

    def carries(self, link: MeshLink, end: str, steps: Steps, topic: str) -> tuple[bool, bool]:
        """Return whether a link that stands at an end sends a topic from its dialer, and to it."""
        ways = [self._ways[steps[link.dialer]].get((link.name, topic), BOTH)]
        if self.guarded:
            ways.append(self._ways[steps[end]].get((link.name, topic), BOTH))
        return IN not in ways, OUT not in ways

    def _links(self, steps: Steps) -> Iterator[MeshLink]:
        for node, step in steps.items():
            for link in self.meshes[step].links:
                if link.dialer == node and link.acceptor in steps:
                    yield from self._first(link, step, steps)

    def _first(self, link: MeshLink, dialled: int, steps: Steps) -> Iterator[MeshLink]:
        """Yield the link with the topics that its first end lets in, if any."""
        topics = tuple(one for one in link.topics if self.lets_in(link, dialled, link.acceptor, steps, one))
        if topics:
            yield replace(link, topics=topics)

    def lets_in(self, link: MeshLink, dialled: int, end: str, steps: Steps, topic: str) -> bool | None:
        """Return whether one of the ends of a link takes a topic from it; None if it turns the link away."""
        if end not in steps or link.account not in self._served[steps[end]].get(end, ()):
            return None
        if not self.guarded:
            return True
        there = self._accepted[steps[end]].get(link.name)
        if there is None or end not in (there.acceptor, *there.backups):
            return None
        if self._secrets[dialled].get(link.name) != self._secrets[steps[end]].get(link.name):
            return None
        return topic in there.topics

    def _topics(self, own: Mapping[str, Mesh], *, moving: bool) -> list[MeshTopic]:
        """Return the topics as the brokers have them now, but for those that move to another account."""
        found: dict[str, MeshTopic] = {}
        away = self.moved if moving else frozenset()
        for node, mesh in own.items():
            for topic in mesh.topics:
                if node in topic.subscribers and topic.topic not in away:
                    before = found.get(
                        topic.topic, replace(topic, subscribers=(), publishers=(), receivers=())
                    )
                    found[topic.topic] = replace(
                        before,
                        subscribers=(*before.subscribers, node),
                        publishers=(*before.senders, *([node] if node in topic.senders else [])),
                        receivers=(*before.hearers, *([node] if node in topic.hearers else [])),
                    )
        return list(found.values())


def _served(mesh: Mesh) -> dict[str, set[str | None]]:
    """Return the accounts of each node; where there are none, None is one that all have."""
    found: dict[str, set[str | None]] = {node.name: set() if mesh.accounts else {None} for node in mesh.nodes}
    for topic in mesh.topics:
        for node in topic.subscribers:
            found[node].add(topic.account)
    return found

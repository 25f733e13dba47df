"""What a mesh is while its brokers have the files of different steps of a roll-out.

A link is made by the file of its dialer. Where brokers ask for logins, the acceptor must let it in too, with
the same password and the topics of both files. What comes of that is what a player of roll-outs waits for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from topicloom.mesh.model.directions import BOTH, IN, OUT, directions_of
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshTopic
from topicloom.mesh.plan.secrets import read_secrets

Steps = Mapping[str, int]  # of each node: the number of the mesh whose files its broker has


class RolloutStates:
    """The meshes from the old one to the new one, and the states between them."""

    def __init__(self, meshes: Sequence[Mesh], folders: Sequence[Path], moved: frozenset[str]) -> None:
        self.meshes, self.moved = meshes, moved
        self.guarded = any(node.user for node in meshes[0].nodes)
        self._secrets = [read_secrets(folder).links for folder in folders]
        # The middle of a roll-out has what is left of the old mesh, as it was, and lets in the same links.
        full = (meshes[0], *meshes[:1], *meshes[2:])
        self._accepted = [{link.name: link for link in mesh.links} for mesh in full]
        self._ways = [directions_of(mesh) for mesh in full]

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

    def near(self, mesh: Mesh, steps: Steps, topic: str) -> dict[str, list[str]]:
        """Return whom each broker sends a topic to, by the files of both ends of its links."""
        near: dict[str, list[str]] = {node.name: [] for node in mesh.nodes}
        for link in mesh.links:
            if topic in link.topics:
                ways = [self._ways[steps[link.dialer]].get((link.name, topic), BOTH)]
                if self.guarded:
                    ways.append(self._ways[steps[link.acceptor]].get((link.name, topic), BOTH))
                if IN not in ways:
                    near[link.dialer].append(link.acceptor)
                if OUT not in ways:
                    near[link.acceptor].append(link.dialer)
        return near

    def _links(self, steps: Steps) -> Iterator[MeshLink]:
        for node, step in steps.items():
            for link in self.meshes[step].links:
                if link.dialer == node and link.acceptor in steps:
                    topics = self._let_in(link, step, steps[link.acceptor]) if self.guarded else link.topics
                    if topics:
                        yield replace(link, topics=topics)

    def _let_in(self, link: MeshLink, dialled: int, accepted: int) -> tuple[str, ...]:
        """Return the topics of a link that both ends agree on; none if it cannot log in."""
        there = self._accepted[accepted].get(link.name)
        if there is None or self._secrets[dialled].get(link.name) != self._secrets[accepted].get(link.name):
            return ()
        return tuple(topic for topic in link.topics if topic in there.topics)

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

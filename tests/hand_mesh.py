"""Exported Mosquitto folders written by hand, for tests that run them and break them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from topicloom.mesh.model.manifest import write_mesh
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode, MeshTopic

BASE = 18800


@dataclass(frozen=True)
class HandLink:
    """`dialer` to `acceptor`, carrying these topics; `extra` lines are added to the bridge."""

    dialer: str
    acceptor: str
    topics: tuple[str, ...]
    backups: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    direction: str = "both"
    private: bool = True

    @property
    def name(self) -> str:
        return f"{self.dialer}-{self.acceptor}"


def hand_mesh(interest: Mapping[str, Sequence[str]], links: Sequence[HandLink]) -> Mesh:
    """Nodes and the topics they want, and the links between them; nodes start in the order given."""
    nodes = tuple(
        MeshNode(name, "127.0.0.1", {"mqtt": BASE + index}, (f"{name}.conf",))
        for index, name in enumerate(interest)
    )
    topics = dict.fromkeys(topic for wanted in interest.values() for topic in wanted)
    return Mesh(
        "mosquitto",
        nodes,
        tuple(MeshLink(one.name, one.dialer, one.acceptor, one.topics, None, one.backups) for one in links),
        tuple(
            MeshTopic(
                topic, f"t/{topic}", tuple(node for node, wanted in interest.items() if topic in wanted)
            )
            for topic in topics
        ),
        tuple(interest),
    )


def write_hand_mesh(folder: Path, interest: Mapping[str, Sequence[str]], links: Sequence[HandLink]) -> Mesh:
    """The folder as an export would write it."""
    mesh = hand_mesh(interest, links)
    ports = {node.name: node.ports["mqtt"] for node in mesh.nodes}
    texts = {}
    for node in mesh.nodes:
        lines = [f"listener {ports[node.name]} 127.0.0.1", "allow_anonymous true"]
        for link in links:
            if link.dialer == node.name:
                lines += bridge_lines(link, ports)
        texts[node.configs[0]] = "\n".join(lines) + "\n"
    folder.mkdir()
    write_mesh(folder, mesh, texts)
    return mesh


def bridge_lines(link: HandLink, ports: Mapping[str, int]) -> list[str]:
    """One bridge, as topicloom writes it."""
    ends = [f"127.0.0.1:{ports[end]}" for end in (link.acceptor, *link.backups)]
    return [
        f"connection {link.name}",
        f"addresses {' '.join(ends)}" if link.backups else f"address {ends[0]}",
        *(["round_robin false"] if link.backups else []),
        f"remote_clientid {link.name}",
        "cleansession true",
        "notifications true",
        "notifications_local_only true",
        "restart_timeout 1 2",
        f"try_private {'true' if link.private else 'false'}",
        *(f"topic t/{topic} {link.direction} 1" for topic in link.topics),
        *link.extra,
    ]


INTEREST = {
    "a": ("x", "y"),
    "b": ("x", "y", "z"),
    "c": ("x", "z"),
    "d": ("y", "z", "alone"),
}
LINKS = (
    HandLink("b", "a", ("x", "y")),
    HandLink("c", "b", ("x", "z")),
    HandLink("d", "b", ("y", "z")),
)
"""Four brokers, a tree for each topic, seven deliveries beside those of `alone`, which only d wants."""

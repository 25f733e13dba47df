"""The meshes people build by hand, to compare an overlay with: for Mosquitto, on this machine only.

A star has one broker more, which carries everything. In the full mesh each pair of nodes that share a topic
has a bridge and every message takes one hop: it arrives under the name of the broker it came from
(`from/NODE/TOPIC`), which no bridge takes further, so there is no loop although there are cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from topicloom.mesh.kinds.mosquitto.write import BRIDGE
from topicloom.mesh.model.config_files import LOOPBACK
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode, wanted_topics
from topicloom.mesh.plan.names import file_stems
from topicloom.mesh.run.relocate import FreePort, Relocated

HUB = "hub"
ORIGIN = "from"
Lines = Callable[[MeshLink, str], Iterable[str]]  # of a link for one topic, by its name at the brokers


def star_mesh(mesh: Mesh, free_port: FreePort) -> Relocated:
    """Let every node dial one more broker, which wants nothing and carries all."""
    names = [node.name for node in mesh.nodes]
    hub = _unlike(HUB, names)
    wanted = _wanted(mesh)
    links = [_link(node, hub, wanted[node], number) for number, node in enumerate(names)]
    return _mesh(mesh, [hub, *names], links, free_port, lambda link, name: [f"topic {name} both 1"])


def full_mesh(mesh: Mesh, free_port: FreePort) -> Relocated:
    """Bridge every pair of nodes with a topic in common: one hop for every message."""
    names = [node.name for node in mesh.nodes]
    wanted = _wanted(mesh)
    links = [
        _link(high, low, shared, number)
        for number, (low, high) in enumerate(combinations(names, 2))
        if (shared := [topic for topic in wanted[low] if topic in set(wanted[high])])
    ]
    origin = _unlike(ORIGIN, [topic.name.split("/")[0] for topic in mesh.topics])
    stems = file_stems(names)

    def lines(link: MeshLink, name: str) -> Iterable[str]:
        yield f'topic {name} out 1 "" {origin}/{stems[link.dialer]}/'
        yield f'topic {name} in 1 {origin}/{stems[link.acceptor]}/ ""'

    made, configs = _mesh(mesh, names, links, free_port, lines)
    return Relocated(replace(made, options={"origin": origin}), configs)


def _wanted(mesh: Mesh) -> dict[str, list[str]]:
    wanted = wanted_topics(mesh)
    return {node.name: [topic.topic for topic in wanted.get((node.name, ""), ())] for node in mesh.nodes}


def _link(dialer: str, acceptor: str, topics: Sequence[str], number: int) -> MeshLink:
    return MeshLink(name=f"link{number}", dialer=dialer, acceptor=acceptor, topics=tuple(topics))


def _unlike(word: str, taken: Iterable[str]) -> str:
    """Make the word longer until it is none of these."""
    others = set(taken)
    while word in others:
        word += "-"
    return word


def _mesh(
    mesh: Mesh, names: Sequence[str], links: Sequence[MeshLink], free_port: FreePort, lines: Lines
) -> Relocated:
    stems = file_stems(names)
    nodes = {
        name: MeshNode(name, LOOPBACK, {"mqtt": free_port()}, (f"{stems[name]}.conf",)) for name in names
    }
    called = {topic.topic: topic.name for topic in mesh.topics}
    texts = {
        name: [f"listener {node.ports['mqtt']} {LOOPBACK}", "allow_anonymous true"]
        for name, node in nodes.items()
    }
    for link in links:
        texts[link.dialer] += _bridge(link, nodes[link.acceptor], called, lines)
    made = replace(
        mesh,
        nodes=tuple(nodes.values()),
        links=tuple(link for link in links if link.topics),
        start_order=tuple(names),
        options={},
    )
    return Relocated(made, {nodes[name].configs[0]: "\n".join(text) + "\n" for name, text in texts.items()})


def _bridge(link: MeshLink, acceptor: MeshNode, called: Mapping[str, str], lines: Lines) -> list[str]:
    if not link.topics:
        return []  # Mosquitto refuses a bridge without topics
    return [
        f"connection {link.name}",
        f"address {acceptor.host}:{acceptor.ports['mqtt']}",
        f"remote_clientid {link.name}",
        *BRIDGE,
        *(line for topic in link.topics for line in lines(link, called[topic])),
    ]

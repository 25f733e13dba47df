"""Meshes of brokers, and content plans: on their coordinates where there are any, otherwise laid out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from topicloom.base.progress import SILENT, Progress
from topicloom.mesh.model.mesh import Mesh
from topicloom.mesh.run.failover import NodeFailover
from topicloom.overlay.graphs.layout import Points, place_nodes
from topicloom.overlay.model.overlay import Overlay
from topicloom.report.drawing.graph import MOST_NODES, Drawing, Graph, choose_nodes, pack, pack_places
from topicloom.report.sources.subject import MeshSubject, PlanSubject

EDGE_ROOM = 0.03  # around what is placed by coordinates


def draw_mesh(subject: MeshSubject, *, progress: Progress = SILENT) -> Drawing | None:
    """Return brokers and links; groups are hosts."""
    mesh = subject.mesh
    drawn = _near_brokers(mesh)
    nodes = [node for node in mesh.nodes if node.name in drawn]
    names = [node.name for node in nodes]
    number = {name: place for place, name in enumerate(names)}
    topic_number = {topic.topic: place for place, topic in enumerate(mesh.topics)}
    carried: dict[tuple[int, int], set[int]] = {}  # several links of one pair are drawn as one
    for link in mesh.links:
        if link.dialer in number and link.acceptor in number:
            ends = sorted((number[link.dialer], number[link.acceptor]))
            carried.setdefault((ends[0], ends[1]), set()).update(topic_number[name] for name in link.topics)
    links = sorted(carried)
    u, v = np.array(links, dtype=np.int32).reshape(-1, 2).T
    wanted: list[list[int]] = [[] for _ in names]
    for topic_place, topic in enumerate(mesh.topics):
        for node in drawn.intersection(topic.subscribers):
            wanted[number[node]].append(topic_place)
    places = _given(subject.places, names)
    points = place_nodes(len(names), u, v, progress=progress) if places is None else places
    x, y = pack_places(points)
    hosts = {host: place for place, host in enumerate(sorted({node.host for node in mesh.nodes}))}
    where = "" if places is None else "Brokers are where their hosts are."
    left_out = ""
    if len(nodes) < len(mesh.nodes):
        left_out = (
            f"{len(nodes):,} of {len(mesh.nodes):,} brokers are drawn: those nearest to the busiest one."
        )
    killed = {one.node: _outage(one) for one in subject.run.failover} if subject.run else {}
    return Drawing(
        nodes=names,
        topics=[topic.topic for topic in mesh.topics],
        starts=pack(np.concatenate(([0], np.cumsum([len(own) for own in wanted])))),
        wants=pack([topic for own in wanted for topic in sorted(own)]),
        graphs=[
            Graph(
                name=f"{mesh.kind} mesh",
                u=pack(u),
                v=pack(v),
                x=x,
                y=y,
                groups=pack([hosts[node.host] for node in nodes]),
                carry_starts=pack(np.concatenate(([0], np.cumsum([len(carried[link]) for link in links])))),
                carried=pack([topic for link in links for topic in sorted(carried[link])]),
            )
        ],
        group_title="brokers of the same host",
        node_word="broker",
        edge_word="link",
        note=" ".join(filter(None, (where, left_out))),
        notes=[
            "\n".join(filter(None, (_address(node.host, node.ports), killed.get(node.name))))
            for node in nodes
        ],
        sampled=len(nodes) < len(mesh.nodes),
    )


def _near_brokers(mesh: Mesh) -> set[str]:
    """Return the brokers that are drawn: all, or of too many those nearest to the busiest one."""
    names = [node.name for node in mesh.nodes]
    number = {name: place for place, name in enumerate(names)}
    ends = [(number[link.dialer], number[link.acceptor]) for link in mesh.links]
    u, v = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    return {names[place] for place in choose_nodes(Overlay.from_edges(pa.array(names), u, v))}


def _outage(killed: NodeFailover) -> str:
    """Say what the last run saw when it killed a broker."""
    told = f"When it was killed, {killed.interrupted:,} of its {killed.topics:,} topics were interrupted"
    if killed.seconds_max is not None:
        told += f", and backups took at most {killed.seconds_max:.1f} s"
    return f"{told}."


def _address(host: str, ports: Mapping[str, int]) -> str:
    listed = ", ".join(f"{purpose} {port}" for purpose, port in ports.items())
    return f"{host}: {listed}" if listed else host


def draw_plan(subject: PlanSubject, *, progress: Progress = SILENT) -> Drawing | None:
    """Return users and brokers: a line from each user to its broker, and the links that trees use."""
    brokers = subject.loads.column("broker").to_pylist()
    users = subject.assignment.column("user").to_pylist()
    if len(brokers) > MOST_NODES:
        return None
    shown = users[: MOST_NODES - len(brokers)]
    number = {name: place for place, name in enumerate(brokers)}
    homes = [number[home] for home in subject.assignment.column("broker").to_pylist()[: len(shown)]]
    pairs = [(home, len(brokers) + place) for place, home in enumerate(homes)]
    pairs += sorted((number[a], number[b]) for a, b in subject.core)
    u, v = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    places = _given(
        {**subject.users, **{f"\0{name}": at for name, at in subject.brokers.items()}},
        [f"\0{name}" for name in brokers] + shown,
    )
    points = place_nodes(len(brokers) + len(shown), u, v, progress=progress) if places is None else places
    x, y = pack_places(points)
    load = dict(zip(brokers, subject.loads.column("load").to_pylist(), strict=True))
    room = dict(zip(brokers, subject.loads.column("capacity").to_pylist(), strict=True))
    held = dict(zip(brokers, subject.loads.column("users").to_pylist(), strict=True))
    sizes = [60 + round(120 * load[name] / max(max(load.values()), 1e-9)) for name in brokers]
    left = len(users) - len(shown)
    return Drawing(
        nodes=brokers + shown,
        topics=[],
        starts=pack([0] * (len(brokers) + len(shown) + 1)),
        wants=pack([]),
        graphs=[
            Graph(
                name="plan",
                u=pack(u),
                v=pack(v),
                x=x,
                y=y,
                groups=pack([*range(len(brokers)), *homes]),
            )
        ],
        group_title="users of the same broker",
        node_word="user or broker",
        edge_word="link",
        note=f"{len(shown):,} of {len(users):,} users are drawn." if left else "",
        sizes=pack(sizes + [25] * len(shown)),
        kinds=["broker"] * len(brokers) + ["user"] * len(shown),
        notes=[
            f"broker: {held[name]:,} users, load {load[name]:,.4g} of {room[name]:,.4g}" for name in brokers
        ]
        + [f"user of {brokers[home]}" for home in homes],
    )


def _given(places: Mapping[str, tuple[float, float]], names: Sequence[str]) -> Points | None:
    """Return coordinates fitted into the unit square; None unless every name has some."""
    if not names or not all(name in places for name in names):
        return None
    points = np.array([places[name] for name in names], dtype=np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    span = float(max((high - low).max(), 1e-12))
    middle = (low + high) / 2
    fitted: Points = ((points - middle) / span * (1 - 2 * EDGE_ROOM) + 0.5).astype(np.float32)
    return fitted

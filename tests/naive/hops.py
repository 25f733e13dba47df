"""Hops inside topics by plain search: the judge of bounds on hops."""

from __future__ import annotations

from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def naive_levels(interest: Interest, overlay: Overlay, topic: int, source: int) -> dict[int, int]:
    """Hops from `source` to each subscriber of a topic that it reaches through subscribers alone."""
    members = set(interest.nodes_of(topic).tolist())
    near: dict[int, set[int]] = {node: set() for node in members}
    for u, v in zip(overlay.u.tolist(), overlay.v.tolist(), strict=True):
        if u in members and v in members:
            near[u].add(v)
            near[v].add(u)
    found, queue = {source: 0}, [source]
    for here in queue:
        for there in sorted(near[here] - found.keys()):
            found[there] = found[here] + 1
            queue.append(there)
    return found


def naive_hops(interest: Interest, overlay: Overlay) -> int:
    """The most hops between two subscribers that reach each other inside a topic."""
    return max(
        (
            max(naive_levels(interest, overlay, topic, source).values())
            for topic in range(interest.n_topics)
            for source in interest.nodes_of(topic).tolist()
        ),
        default=0,
    )


def naive_all_hops(interest: Interest, overlay: Overlay) -> list[int]:
    """Hops of every ordered pair of different subscribers of a topic; split pairs are left out."""
    return [
        hops
        for topic in range(interest.n_topics)
        for source in interest.nodes_of(topic).tolist()
        for node, hops in naive_levels(interest, overlay, topic, source).items()
        if node != source
    ]

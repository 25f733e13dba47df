"""Why an overlay under constraints is not topic-connected, and which cap would do.

What is said to be impossible is proven, by one of three arguments; everything else is only "not found".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from topicloom.base.arrays import Ints, Longs, neighbor_lists, run_sums
from topicloom.base.progress import Progress, QuietProgress, Stopwatch, check_stop
from topicloom.overlay.builders.constrained import ConstrainedTask, node_caps
from topicloom.overlay.measures.connectivity import topic_components
from topicloom.overlay.model.constraints import NO_CAP, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

Rebuild = Callable[[Ints], Overlay]

LISTED = 20  # topics or nodes that are named; the rest is counted
EACH_CAP = 8  # of so many caps every one is tried, lowest first; a wider range is halved before
NODES_TRIED = 500  # nodes whose neighbors are bounded, those with the most topics for their cap first


def diagnose(
    task: ConstrainedTask,
    overlay: Overlay,
    rebuild: Callable[[ConstrainedTask, Progress], Overlay],
    watch: Stopwatch,
) -> dict[str, Any]:
    """Return what a build reports about topics that stayed split; empty if there are none.

    `rebuild` is the builder itself, called under other caps and otherwise the same constraints.
    `smallest_cap` is the lowest number c for which it connects every topic once every cap is raised to at
    least c: of a range of up to `EACH_CAP` values every one is tried, a wider one is halved first, as if
    higher caps were never worse. None if forbidden pairs alone cut a topic, so that no cap helps.
    """
    interest, constraints = task.interest, task.constraints
    with watch.phase("search the smallest cap"):
        split = split_topics(interest, overlay)
        if not len(split):
            return {}
        caps = node_caps(constraints, interest.n_nodes)
        cut = [topic for topic in split.tolist() if is_cut(interest, constraints.forbidden, topic)]
        report = _named("topics_split", interest.topic_ids, split)
        report |= _named("nodes_at_cap", interest.node_ids, nodes_at_cap(interest, overlay, caps, split))
        report |= _named("topics_cut_by_forbidden", interest.topic_ids, cut)
        if cut:
            name = interest.topic_ids[cut[0]].as_py()
            return report | {"smallest_cap": None, "impossible": f"forbidden pairs cut topic {name!r}"}
        quiet = QuietProgress(watch.progress)

        def with_caps(caps: Ints) -> Overlay:
            limits = replace(constraints, caps=np.array(caps, np.int32))
            return rebuild(replace(task, constraints=limits), quiet)

        demand = Demand.of(task)
        smallest = _smallest_cap(interest, caps, demand, with_caps, watch.progress)
        return report | {"smallest_cap": smallest, "impossible": demand.refuses(caps)}


def split_topics(interest: Interest, overlay: Overlay) -> Longs:
    """Return the topics whose subscribers are in more than one component."""
    return np.flatnonzero(topic_components(interest, overlay) > 1)


def nodes_at_cap(interest: Interest, overlay: Overlay, caps: Ints, split: Longs) -> list[int]:
    """Return the nodes that have as many edges as they may; those that want a split topic come first."""
    full = np.flatnonzero(overlay.degrees() >= caps)
    concerned = np.isin(full, interest.pair_nodes()[np.isin(interest.node_topics, split)])
    return [*full[concerned].tolist(), *full[~concerned].tolist()]


def is_cut(interest: Interest, forbidden: NodePairs, topic: int) -> bool:
    """Are the topic's subscribers disconnected even with every edge that is not forbidden?

    A search over the pairs that are *not* forbidden; each step looks only at nodes it reaches and at
    forbidden partners, so dense allowed graphs cost nothing.
    """
    nodes = interest.nodes_of(topic)
    inside = np.zeros(interest.n_nodes, np.bool_)
    inside[nodes] = True
    within = inside[forbidden.u] & inside[forbidden.v]
    unseen = set(nodes.tolist())
    barred: dict[int, set[int]] = {node: set() for node in unseen}
    for u, v in zip(forbidden.u[within].tolist(), forbidden.v[within].tolist(), strict=True):
        barred[u].add(v)
        barred[v].add(u)
    reached = [unseen.pop()] if unseen else []
    while reached:
        node = reached.pop()
        found = unseen - barred[node]
        unseen -= found
        reached.extend(found)
    return bool(unseen)


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """What an overlay needs whatever it looks like, so that caps below it can be refused with a proof.

    `least[v]` bounds the degree of node v: its neighbors must cover its topics that have another
    subscriber; k of them cover at most the sum of the k largest overlaps. A connected topic of n nodes
    needs n - 1 edges of its own, so its nodes need room for 2 (n - 1) ends; an edge that is fixed to a node
    outside the topic takes room away.
    """

    interest: Interest
    least: Ints
    outside: Ints  # subscription (in topic order) -> fixed edges of the node that leave the topic

    @classmethod
    def of(cls, task: ConstrainedTask) -> Demand:
        """Return what any overlay of the task needs."""
        interest, n_nodes, forbidden = task.interest, task.interest.n_nodes, task.constraints.forbidden
        u, v = task.fixed
        caps = node_caps(task.constraints, n_nodes)
        fixed_ptr, fixed = neighbor_lists(u, v, n_nodes)
        barred_ptr, barred = neighbor_lists(forbidden.u, forbidden.v, n_nodes)
        least = np.diff(fixed_ptr).astype(np.int32)
        pressed = np.argsort(-interest.subscription_sizes() / (caps + 1.0), kind="stable")[:NODES_TRIED]
        for node in pressed[caps[pressed] < NO_CAP].tolist():
            near = fixed[fixed_ptr[node] : fixed_ptr[node + 1]]
            away = barred[barred_ptr[node] : barred_ptr[node + 1]]
            least[node] = _least_degree(interest, node, near, away)
        return cls(interest, least, _leaving(interest, u, v))

    def refuses(self, caps: Ints) -> str | None:
        """Return why nothing can be connected under these caps, as a sentence; None if nothing was proven."""
        short = np.flatnonzero(self.least > caps)
        if len(short):
            node = int(short[0])
            name = self.interest.node_ids[node].as_py()
            needed = self.least[node]
            return f"node {name!r} needs at least {needed} edges for its topics, its cap is {caps[node]}"
        sizes = self.interest.topic_sizes()
        edges = np.maximum(sizes - 1, 0)
        room = np.minimum(caps[self.interest.topic_nodes] - self.outside, np.repeat(edges, sizes))
        ends = run_sums(np.maximum(room, 0), self.interest.topic_ptr)
        tight = np.flatnonzero(ends < 2 * edges)
        if len(tight):
            topic = int(tight[0])
            name = self.interest.topic_ids[topic].as_py()
            return (
                f"topic {name!r} needs {edges[topic]} edges among its {sizes[topic]} nodes, "
                f"their caps leave room for {ends[topic] // 2}"
            )
        return None


def _least_degree(interest: Interest, node: int, fixed: Ints, barred: Ints) -> int:
    """Bound the degree of a node that has the `fixed` neighbors and may not have the `barred` ones."""
    sizes = interest.topic_sizes()
    topics = {topic for topic in interest.topics_of(node).tolist() if sizes[topic] > 1}
    for neighbor in fixed.tolist():
        topics -= set(interest.topics_of(neighbor).tolist())
    if not topics:
        return len(fixed)
    overlaps = np.bincount(np.concatenate([interest.nodes_of(topic) for topic in topics]))
    overlaps[node] = 0
    overlaps[barred[barred < len(overlaps)]] = 0
    covered = np.cumsum(np.sort(overlaps)[::-1])
    return len(fixed) + int(np.searchsorted(covered, len(topics))) + 1


def _leaving(interest: Interest, u: Ints, v: Ints) -> Ints:
    """Count for each subscription, in topic order, the fixed edges of the node that leave the topic."""
    from scipy.sparse import csr_array

    edges = Overlay(interest.node_ids, u, v)
    wants = csr_array(
        (np.ones(interest.n_subscriptions, np.int32), interest.node_topics, interest.node_ptr),
        shape=(interest.n_nodes, interest.n_topics),
    )
    shared = edges.to_scipy().astype(np.int32) @ wants
    topics = np.repeat(np.arange(interest.n_topics), interest.topic_sizes())
    inside = np.asarray(shared[interest.topic_nodes, topics]).ravel()
    outside: Ints = (edges.degrees()[interest.topic_nodes] - inside).astype(np.int32)
    return outside


def _smallest_cap(
    interest: Interest, caps: Ints, demand: Demand, rebuild: Rebuild, progress: Progress
) -> int | None:
    def works(cap: int) -> bool:
        check_stop(progress)
        return not len(split_topics(interest, rebuild(np.maximum(caps, np.int32(cap)))))

    free = rebuild(np.full(len(caps), NO_CAP, np.int32))
    if len(split_topics(interest, free)):
        return None
    low = int(caps.min()) + 1
    high = max(int(free.degrees().max()), low)
    while low < high and demand.refuses(np.maximum(caps, np.int32(low))):
        low += 1
    while high < interest.n_nodes - 1 and not works(high):
        high += 1  # a greedy never comes here: caps that it did not reach change nothing for it
    while high - low > EACH_CAP:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle + 1, high)
    return next((cap for cap in range(low, high) if works(cap)), high)


def _named(key: str, ids: Any, numbers: Iterable[int]) -> dict[str, Any]:
    """Return the first identifiers under `key`, and how many there are under `key_count`."""
    listed = [int(number) for number in numbers]
    return {key: [ids[number].as_py() for number in listed[:LISTED]], f"{key}_count": len(listed)}

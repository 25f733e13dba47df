"""Judges trees, packings and links by their definitions, over plain sets; shares no code with their makers.

Each check returns a list of faults as sentences; an empty list is a proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter

from scipy.cluster.hierarchy import DisjointSet

from topicloom.mesh.model.topic_trees import ForestPacking, PlannedLink, TopicTrees
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

Edge = tuple[int, int]


def check_topic_trees(interest: Interest, overlay: Overlay, trees: TopicTrees) -> list[str]:
    """Check that every topic's edges are a spanning tree of its subscribers in the overlay, with its root."""
    if trees.n_topics != interest.n_topics or len(trees.starts) != interest.n_topics + 1:
        return [f"there are {trees.n_topics} trees for {interest.n_topics} topics"]
    node, edges = interest.node_ids, set(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))
    faults: list[str] = []
    for topic in range(interest.n_topics):
        name = f"topic {interest.topic_ids[topic].as_py()!r}"
        members = set(interest.nodes_of(topic).tolist())
        child, parent = (side.tolist() for side in trees.edges_of(topic))
        pairs = list(zip(child, parent, strict=True))
        for a, b in pairs:
            for end in (a, b):
                if end not in members:
                    faults.append(f"{name}: its tree has node {_name(node, end)}, which does not want it")
            if (min(a, b), max(a, b)) not in edges:
                faults.append(f"{name}: {_name(node, a)} - {_name(node, b)} is no edge of the overlay")
        faults += _tree_faults(name, node, members, pairs)
        root = int(trees.roots[topic])
        if members and root not in members:
            faults.append(f"{name}: its root {_name(node, root)} does not want it")
        if root in child:
            faults.append(f"{name}: its root {_name(node, root)} has a parent")
        faults += [f"{name}: node {_name(node, a)} has several parents" for a in _twice(child)]
    return faults


def check_packing(interest: Interest, overlay: Overlay, packing: ForestPacking) -> list[str]:
    """Check the trees, that every topic is in one class, and that the edges of a class hold no cycle."""
    faults = check_topic_trees(interest, overlay, packing.trees)
    if len(packing.class_of) != interest.n_topics:
        return [*faults, f"{len(packing.class_of)} topics have a class, of {interest.n_topics}"]
    used: dict[int, set[Edge]] = {}
    for topic in range(min(interest.n_topics, packing.trees.n_topics)):
        where = int(packing.class_of[topic])
        if where < 0:
            faults.append(f"topic {interest.topic_ids[topic].as_py()!r} has no class")
        child, parent = (side.tolist() for side in packing.trees.edges_of(topic))
        edges = used.setdefault(where, set())
        edges.update((min(a, b), max(a, b)) for a, b in zip(child, parent, strict=True))
    for where in sorted(used):
        faults += _cycle_fault(f"class {where}", interest.node_ids, sorted(used[where]))
    return faults


def check_links(interest: Interest, links: Sequence[PlannedLink], *, classes: bool) -> list[str]:
    """Check that links carry every topic on a spanning tree of its subscribers, whichever turn to backups.

    With `classes` also: every topic is in one class, each class is a forest in all these cases, and no node
    dials two links of a class.
    """
    faults: list[str] = []
    wanting = [set(interest.topics_of(node).tolist()) for node in range(interest.n_nodes)]
    for link in links:
        faults += _link_faults(interest, link, wanting, classes)
    on_topic: dict[int, list[PlannedLink]] = {topic: [] for topic in range(interest.n_topics)}
    for link in links:
        for topic in link.topics:
            on_topic.setdefault(topic, []).append(link)
    for topic, own in on_topic.items():
        if topic >= interest.n_topics or topic < 0:
            faults.append(f"a link carries topic number {topic}, which there is not")
            continue
        name = f"topic {interest.topic_ids[topic].as_py()!r}"
        members = set(interest.nodes_of(topic).tolist())
        faults += _tree_faults(name, interest.node_ids, members, [(x.dialer, x.acceptor) for x in own])
        faults += _backup_faults(name, interest, own)
        if classes and len({link.topic_class for link in own}) > 1:
            faults.append(f"{name}: it is carried in several classes")
    if classes:
        for where in sorted({link.topic_class for link in links}):
            own = [link for link in links if link.topic_class == where]
            pairs = [(link.dialer, link.acceptor) for link in own]
            faults += _cycle_fault(f"class {where}", interest.node_ids, pairs, "links")
            faults += _backup_faults(f"class {where}", interest, own)
            for dialer in _twice(link.dialer for link in own):
                # A NATS server passes nothing on between such links.
                named = _name(interest.node_ids, dialer)
                faults.append(f"class {where}: {named} dials several links of it")
    return faults


def _twice(nodes: Iterable[int]) -> list[int]:
    return sorted(node for node, count in Counter(nodes).items() if count > 1)


def _link_faults(interest: Interest, link: PlannedLink, wanting: list[set[int]], classes: bool) -> list[str]:
    """Check one link by itself: its ends, its topics, its backups, its class."""
    node = interest.node_ids
    ends = (link.dialer, link.acceptor, *link.backups)
    outside = [end for end in ends if not 0 <= end < len(wanting)]
    if outside:
        return [f"a link names node number {outside[0]}, which there is not"]
    name = f"link {_name(node, link.dialer)} - {_name(node, link.acceptor)}"
    faults = []
    if link.dialer == link.acceptor:
        faults.append(f"{name} joins a node with itself")
    if not link.topics:
        faults.append(f"{name} carries no topic")
    if len(set(link.topics)) < len(link.topics):
        faults.append(f"{name} carries a topic twice")
    if classes and link.topic_class < 0:
        faults.append(f"{name} has no class")
    for end in dict.fromkeys(ends):
        what = "backup" if end in link.backups else "node"
        for topic in link.topics:
            if 0 <= topic < interest.n_topics and topic not in wanting[end]:
                topic_name = interest.topic_ids[topic].as_py()
                faults.append(
                    f"{name} carries topic {topic_name!r}, which {what} {_name(node, end)} does not want"
                )
    if len({link.dialer, link.acceptor, *link.backups}) < 2 + len(link.backups):
        faults.append(f"{name} has a backup that is one of its ends or another backup")
    return faults


def _backup_faults(name: str, interest: Interest, links: Sequence[PlannedLink]) -> list[str]:
    """Check that no choice of backups closes a cycle among these links, which are a forest as they are.

    Links without backups never move: what they join is one body. If each body dials at most one link that
    may move, and the arcs of all these links, to acceptors and backups, form no cycle, then in any choice
    each body has at most one arc and there is no cycle: a forest.
    """
    moving = [link for link in links if link.backups]
    ends = (end for link in moving for end in (link.dialer, link.acceptor, *link.backups))
    body, _ = _join(((link.dialer, link.acceptor) for link in links if not link.backups), ends)
    arcs: dict[int, set[int]] = {}
    for link in moving:
        if body[link.dialer] in arcs:
            return [f"{name}: backups are not safe, {_name(interest.node_ids, link.dialer)} dials two links"]
        arcs[body[link.dialer]] = {body[end] for end in (link.acceptor, *link.backups)}
    try:
        TopologicalSorter(arcs).prepare()
    except CycleError as error:
        at = _name(interest.node_ids, error.args[1][0])
        return [f"{name}: backups are not safe, they may close a cycle at {at}"]
    return []


def _tree_faults(name: str, node: Sequence[object], members: set[int], pairs: list[Edge]) -> list[str]:
    """Check that these edges are a spanning tree of the members."""
    faults = _cycle_fault(name, node, pairs)
    joined, _ = _join(((a, b) for a, b in pairs if a in members and b in members), members)
    kept = min(members, default=-1)
    lost = members - joined.subset(kept) if members else members
    if lost:
        faults.append(f"{name}: {_name(node, min(lost))} is not connected with {_name(node, kept)}")
    return faults


def _join(pairs: Iterable[Edge], nodes: Iterable[int] = ()) -> tuple[DisjointSet, Edge | None]:
    """Join the ends of edges; return what is joined, and the first edge whose ends were before it."""
    joined, closing = DisjointSet(nodes), None
    for a, b in pairs:
        joined.add(a)
        joined.add(b)
        if not joined.merge(a, b):
            closing = closing or (a, b)
    return joined, closing


def _cycle_fault(name: str, node: Sequence[object], pairs: Iterable[Edge], what: str = "edges") -> list[str]:
    closing = _join(pairs)[1]
    if closing is None:
        return []
    ends = " - ".join(_name(node, end) for end in closing)
    return [f"{name}: its {what} hold a cycle, which {ends} closes"]


def _name(ids: Sequence[object], node: int) -> str:
    """Return the identifier of a node, or its number if there is no such node."""
    return repr(ids[node].as_py()) if 0 <= node < len(ids) else f"number {node}"  # type: ignore[attr-defined]

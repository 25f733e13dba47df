"""Judges trees, packings and links by their definitions, over plain sets; shares no code with their makers.

Each check gives a list of faults as sentences; an empty list is a proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from topicloom.mesh.model.topic_trees import ForestPacking, PlannedLink, TopicTrees
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

Edge = tuple[int, int]


def check_topic_trees(interest: Interest, overlay: Overlay, trees: TopicTrees) -> list[str]:
    """Every topic's edges are a spanning tree of its subscribers, in the overlay, hung up at its root."""
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
        twice = sorted({a for a in child if child.count(a) > 1}) if len(set(child)) < len(child) else []
        faults += [f"{name}: node {_name(node, a)} has several parents" for a in twice]
    return faults


def check_packing(interest: Interest, overlay: Overlay, packing: ForestPacking) -> list[str]:
    """`check_trees`, every topic in one class, and no cycle among the edges of a class."""
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
        closing = _closing_edge(sorted(used[where]))
        if closing is not None:
            ends = " - ".join(_name(interest.node_ids, end) for end in closing)
            faults.append(f"class {where}: its edges hold a cycle, which {ends} closes")
    return faults


def check_links(interest: Interest, links: Sequence[PlannedLink], *, classes: bool) -> list[str]:
    """The links carry every topic on a spanning tree of its subscribers, whichever turn to their backups.

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
            closing = _closing_edge([(link.dialer, link.acceptor) for link in own])
            if closing is not None:
                ends = " - ".join(_name(interest.node_ids, end) for end in closing)
                faults.append(f"class {where}: its links hold a cycle, which {ends} closes")
            faults += _backup_faults(f"class {where}", interest, own)
            faults += _dial_faults(f"class {where}", interest, own)
    return faults


def _dial_faults(name: str, interest: Interest, links: Sequence[PlannedLink]) -> list[str]:
    """A NATS server passes nothing on between two servers that it dials in one account."""
    dialers = [link.dialer for link in links]
    twice = sorted({dialer for dialer in dialers if dialers.count(dialer) > 1})
    return [f"{name}: {_name(interest.node_ids, dialer)} dials several links of it" for dialer in twice]


def _link_faults(interest: Interest, link: PlannedLink, wanting: list[set[int]], classes: bool) -> list[str]:
    """Faults of one link by itself: its ends, its topics, its backups, its class."""
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
    """Whether some choice of backups could close a cycle among these links, which are a forest as they are.

    Links without backups never move: what they join is one body. If each body dials at most one link that
    may move, and the arcs of all these links, to acceptors and backups, lead round in no circle, then in any
    choice each body has at most one arc and no circle: a forest.
    """
    body = _parts((link.dialer, link.acceptor) for link in links if not link.backups)
    arcs: dict[int, set[int]] = {}
    for link in links:
        if link.backups:
            start = body.get(link.dialer, link.dialer)
            if start in arcs:
                return [
                    f"{name}: backups are not safe, {_name(interest.node_ids, link.dialer)} dials two links"
                ]
            arcs[start] = {body.get(end, end) for end in (link.acceptor, *link.backups)}
    state: dict[int, int] = {}  # 1: on the way here, 2: leads to no circle
    for start in sorted(arcs):
        stack = [(start, iter(sorted(arcs[start])))] if start not in state else []
        state.setdefault(start, 1)
        while stack:
            at, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                state[at] = 2
                stack.pop()
            elif state.get(following) == 1:
                return [
                    f"{name}: backups are not safe, they may close a cycle at {_name(interest.node_ids, at)}"
                ]
            elif following not in state:
                state[following] = 1
                stack.append((following, iter(sorted(arcs.get(following, ())))))
    return []


def _tree_faults(name: str, node: Sequence[object], members: set[int], pairs: list[Edge]) -> list[str]:
    """Whether these edges are a spanning tree of the members."""
    faults = []
    closing = _closing_edge(pairs)
    if closing is not None:
        ends = " - ".join(_name(node, end) for end in closing)
        faults.append(f"{name}: its edges hold a cycle, which {ends} closes")
    reached = _reached(members, pairs)
    if reached != members:
        lost, kept = min(members - reached), min(members)
        faults.append(f"{name}: {_name(node, lost)} is not connected with {_name(node, kept)}")
    return faults


def _closing_edge(pairs: Iterable[Edge]) -> Edge | None:
    """The first edge between two nodes that the edges before it joined already."""
    part: dict[int, list[int]] = {}
    for a, b in pairs:
        one, other = part.setdefault(a, [a]), part.setdefault(b, [b])
        if one is other:
            return a, b
        if len(one) < len(other):
            one, other = other, one
        one += other
        for end in other:
            part[end] = one
    return None


def _parts(pairs: Iterable[Edge]) -> dict[int, int]:
    """For each node of these edges one node that stands for all that the edges join it with."""
    part: dict[int, list[int]] = {}
    for a, b in pairs:
        one, other = part.setdefault(a, [a]), part.setdefault(b, [b])
        if one is not other:
            one += other
            part.update(dict.fromkeys(other, one))
    return {node: own[0] for node, own in part.items()}


def _reached(members: set[int], pairs: list[Edge]) -> set[int]:
    """The members that edges among members join with the smallest one."""
    around: dict[int, list[int]] = {node: [] for node in members}
    for a, b in pairs:
        if a in members and b in members:
            around[a].append(b)
            around[b].append(a)
    reached = {min(members)} if members else set()
    queue = list(reached)
    while queue:
        for other in around[queue.pop()]:
            if other not in reached:
                reached.add(other)
                queue.append(other)
    return reached


def _name(ids: Sequence[object], node: int) -> str:
    """The identifier of a node, or its number if there is no such node."""
    return repr(ids[node].as_py()) if 0 <= node < len(ids) else f"number {node}"  # type: ignore[attr-defined]

"""One tree for all topics: grown node by node, then relieved of high degrees.

Rows of shared-topic counts are made on the fly along the inverted lists: no pair is ever stored.
"""

from __future__ import annotations

from typing import Any

from topicloom.base.arrays import Ints, Lists
from topicloom.base.kernels.jit import kernel, part

OUTSIDE = -2  # the parent of a node that is not in the tree yet
ROOT = -1
DONE, REFUSED, MORE = 0, 1, 2


@kernel
def grow_tree(
    lists: Lists, parent: Ints, degree: Ints, best: Ints, seen: Ints, common: Ints, work: int
) -> int:
    """Grow a maximum spanning forest of the shared-topic graph by Prim's algorithm; weight: topics in common.

    In a tree that serves every topic, the topics of a new node that the tree knows already must all be
    topics of the one node it is hung under. So the first node that shares less with its best partner than it
    has known topics proves that there is no such tree: REFUSED. Of several best partners the one with the
    lowest degree is taken, then the smallest.

    State between calls: `parent` (OUTSIDE at first), `degree`, `best` (the most topics shared with a node of
    the tree), `seen` (is the topic known), `common` (zeros). Comes back with MORE after `work` steps.
    """
    node_ptr, node_topics, topic_ptr, topic_nodes = lists
    n = len(parent)
    while True:
        v, most = -1, -1
        for w in range(n):
            if parent[w] == OUTSIDE and best[w] > most:
                v, most = w, best[w]
        if v < 0:
            return DONE
        known = 0
        for slot in range(node_ptr[v], node_ptr[v + 1]):
            topic = node_topics[slot]
            known += seen[topic]
            seen[topic] = 1
            for place in range(topic_ptr[topic], topic_ptr[topic + 1]):
                common[topic_nodes[place]] += 1
            work -= topic_ptr[topic + 1] - topic_ptr[topic]
        if most < known:
            return REFUSED
        host = ROOT
        for w in range(n):
            if w == v:
                pass
            elif parent[w] == OUTSIDE:
                best[w] = max(best[w], common[w])
            elif most > 0 and common[w] == most and (host < 0 or degree[w] < degree[host]):
                host = w
            common[w] = 0
        parent[v] = host
        if host >= 0:
            degree[v] += 1
            degree[host] += 1
        work -= n
        if work < 0:
            return MORE


@part
def _reroot(parent: Any, node: Any, stop: Any) -> None:
    """Reverse the pointers on the path from `node` up to `stop`, which becomes the last to be reversed."""
    before = ROOT
    at = node
    while True:
        above = parent[at]
        parent[at] = before
        if at == stop:
            return
        before, at = at, above


@part
def _branch(parent: Any, hub: Any, branch: Any, moved: Any, node: Any) -> Any:
    """Return the neighbor of the hub (the root) that leads to `node`; walk up once, then remember."""
    top = node
    while branch[top] < 0 and parent[top] != hub:
        top = parent[top]
    found = branch[top] if branch[top] >= 0 else top
    while branch[node] < 0:
        branch[node] = found
        if node == top:
            break
        node = parent[node]
    while moved[found] >= 0:
        found = moved[found]
    return found


@kernel
def relieve(lists: Lists, hub: int, parent: Ints, degree: Ints, mark: Ints, branch: Ints, moved: Ints) -> int:
    """Swap edges of `hub` for others of the same weight whose ends have lower degrees; how many.

    Taking the edge (hub, b) away leaves two trees. Any p and q, one in each, that want all topics S the hub
    and b share may be joined instead: the nodes that want all of S hang together in a serving tree, so p
    and q share nothing but S. The swap pays while both stay below the hub's degree.

    `parent` must be one tree or forest; the hub becomes the root of its tree. `mark` has an entry per topic,
    `branch` and `moved` one per node; all hold -1, and do so again afterwards.
    """
    node_ptr, node_topics, topic_ptr, topic_nodes = lists
    root = hub
    while parent[root] >= 0:
        root = parent[root]
    _reroot(parent, hub, root)
    n, swaps = len(parent), 0
    for b in range(n):
        if parent[b] != hub:
            continue
        for slot in range(node_ptr[hub], node_ptr[hub + 1]):
            mark[node_topics[slot]] = 0
        size, rarest = 0, -1
        for slot in range(node_ptr[b], node_ptr[b + 1]):
            topic = node_topics[slot]
            if mark[topic] == 0:
                mark[topic] = 1
                size += 1
                length = topic_ptr[topic + 1] - topic_ptr[topic]
                if rarest < 0 or length < topic_ptr[rarest + 1] - topic_ptr[rarest]:
                    rarest = topic
        p, q = -1, b
        degree[b] -= 1
        for place in range(topic_ptr[rarest], topic_ptr[rarest + 1]):
            node = topic_nodes[place]
            if node == hub or (p >= 0 and degree[node] >= degree[p] and degree[node] >= degree[q]):
                continue
            held = 0
            for slot in range(node_ptr[node], node_ptr[node + 1]):
                held += mark[node_topics[slot]] == 1
            if held < size:
                continue
            if _branch(parent, hub, branch, moved, node) == b:
                if degree[node] < degree[q]:
                    q = node
            elif p < 0 or degree[node] < degree[p]:
                p = node
        for slot in range(node_ptr[hub], node_ptr[hub + 1]):
            mark[node_topics[slot]] = -1
        degree[b] += 1
        if p < 0 or degree[p] + 1 >= degree[hub] or (q != b and degree[q] + 1 >= degree[hub]):
            continue
        home = _branch(parent, hub, branch, moved, p)
        _reroot(parent, q, b)
        parent[q] = p
        moved[b] = home
        degree[hub] -= 1
        degree[b] -= 1
        degree[p] += 1
        degree[q] += 1
        swaps += 1
    branch[:] = -1
    moved[:] = -1
    return swaps

"""Topics into classes whose trees together are a forest: fewest links first, then fewest classes.

A link is an edge of a class's forest, so two topics that share an edge pay for it once if they are in the
same class. Large topics are placed first, each where it costs least; then topics are taken out and placed
again, drawn from a fixed random stream, for a fixed amount of work. When a topic fits is told in
`kernels/forest_packing.py`.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Ints, pointers, sealed
from topicloom.base.progress import SILENT, Progress, check_stop
from topicloom.base.seeds import stream_key
from topicloom.errors import InputError
from topicloom.mesh.kernels.forest_packing import (
    CLASSES,
    MOST_OUT,
    NONE,
    WORK,
    PackingState,
    place_topic,
)
from topicloom.mesh.kernels.forest_search import search_classes
from topicloom.mesh.model.search import search
from topicloom.mesh.model.topic_trees import ForestPacking, TopicTrees
from topicloom.mesh.topic_trees.spanning import split_message
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.model.shared_topics import shared_topics

SLICE = 5_000_000  # steps of search between two checks for a stop: some hundredths of a second
# Steps of search for each subscription and class, at most MOST_WORK in all: three to five seconds.
WORK_PER_LOOK = 12_000
MOST_WORK = 1_000_000_000
SPARE_CLASSES = 8  # so many more than at first may be in use during the search


def pack_forests(interest: Interest, overlay: Overlay, *, progress: Progress = SILENT) -> ForestPacking:
    """Pack topics into classes, with a tree for each topic in its class's forest; deterministic.

    Raises InputError if a topic is split.

    >>> interest = Interest.from_pairs([(node, topic) for topic in ("ab", "abc", "bcd") for node in topic])
    >>> path = Overlay.from_edges(interest.node_ids, [0, 1, 2], [1, 2, 3])
    >>> packing = pack_forests(interest, path)
    >>> packing.n_classes, len(class_edges(packing)[0])
    (1, 3)
    """
    progress.phase("pack topics into classes", 1.0)
    sizes = interest.topic_sizes()
    order = np.lexsort((np.arange(len(sizes)), -sizes))
    order = order[sizes[order] > 1]
    state = _new_state(interest, overlay, min(len(order), 32))
    for topic in order.tolist():
        check_stop(progress)
        if not place_topic(state, topic, NONE, 0):  # each topic so far needed a class of its own
            state = _with_rows(state, min(len(order), 2 * len(state.size)))
            place_topic(state, topic, NONE, 0)
    missing = np.flatnonzero(state.tree_a == NONE)
    if len(missing):
        split = int(np.searchsorted(state.tree_ptr, missing[0], side="right")) - 1
        raise InputError(split_message(interest, overlay, split))
    if len(order) > 1:
        used = int(state.totals[CLASSES])
        state = _with_rows(_used_first(state), used + SPARE_CLASSES)
        _search(state, progress)
    return _packing(interest, state)


def class_edges(packing: ForestPacking) -> tuple[Ints, Ints, Ints]:
    """Return (class, smaller end, larger end) of every link that the packing asks for, sorted."""
    trees = packing.trees
    where = np.repeat(packing.class_of, np.diff(trees.starts))
    low, high = np.minimum(trees.child, trees.parent), np.maximum(trees.child, trees.parent)
    rows = np.unique(np.stack((where, low, high), axis=1), axis=0)
    return rows[:, 0], rows[:, 1], rows[:, 2]


def _search(state: PackingState, progress: Progress) -> None:
    looks = len(state.topic_nodes) * int(state.totals[CLASSES])
    work = min(WORK_PER_LOOK * looks, MOST_WORK)
    first = int(state.totals[WORK])
    while (done := int(state.totals[WORK]) - first) < work:
        check_stop(progress)
        search_classes(state, first + min(done + SLICE, work))
        progress.advance((int(state.totals[WORK]) - first - done) / work)


def _new_state(interest: Interest, overlay: Overlay, rows: int) -> PackingState:
    """Return the state with nothing placed yet and room for so many classes."""
    n, sizes = interest.n_nodes, interest.topic_sizes()
    node_ptr, node_topics = sealed(interest.node_ptr), sealed(interest.node_topics)
    counts, topics = shared_topics(interest, overlay.u, overlay.v)
    edges = np.repeat(np.arange(overlay.n_edges), counts)
    # An edge that many topics could use is likely to be there already when the next one is placed.
    wanted = np.bincount(edges, minlength=overlay.n_edges)
    order = np.lexsort((edges, -wanted[edges], topics))
    tree_ptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.maximum(sizes - 1, 0))))
    room = MOST_OUT * int(sizes.max(initial=1))
    return PackingState(
        topic_ptr=sealed(interest.topic_ptr),
        topic_nodes=sealed(interest.topic_nodes),
        edge_ptr=pointers(topics, interest.n_topics),
        edge_a=overlay.u[edges[order]],
        edge_b=overlay.v[edges[order]],
        node_ptr=node_ptr,
        node_topics=node_topics,
        active=np.flatnonzero(sizes > 1).astype(np.int32),
        above=np.full((rows, n), NONE, np.int32),
        users=np.zeros((rows, n), np.int32),
        size=np.zeros(rows, np.int64),
        class_of=np.full(interest.n_topics, NONE, np.int32),
        tree_ptr=tree_ptr,
        tree_a=np.full(int(tree_ptr[-1]), NONE, np.int32),
        tree_b=np.empty(int(tree_ptr[-1]), np.int32),
        totals=np.zeros(4, np.int64),
        inside=np.zeros(n, np.int64),
        met=np.zeros(n, np.int64),
        piece=np.zeros(n, np.int32),
        random=np.array([stream_key(0, "pack forests")], np.uint64),
        out=np.empty(MOST_OUT, np.int32),
        old_class=np.empty(MOST_OUT, np.int32),
        old_a=np.empty(room, np.int32),
        old_b=np.empty(room, np.int32),
    )


def _with_rows(state: PackingState, rows: int) -> PackingState:
    """Return the same state with room for so many classes."""
    n = state.above.shape[1]
    above, users = np.full((rows, n), NONE, np.int32), np.zeros((rows, n), np.int32)
    size = np.zeros(rows, np.int64)
    kept = min(rows, len(state.size))
    above[:kept], users[:kept], size[:kept] = state.above[:kept], state.users[:kept], state.size[:kept]
    return state._replace(above=above, users=users, size=size)


def _used_first(state: PackingState) -> PackingState:
    """Return the same state with the used classes first."""
    order = np.argsort(state.size == 0, kind="stable")
    renamed = np.empty(len(order) + 1, np.int32)
    renamed[order] = np.arange(len(order))
    renamed[NONE] = NONE
    state.class_of[:] = renamed[state.class_of]
    return state._replace(above=state.above[order], users=state.users[order], size=state.size[order])


def _packing(interest: Interest, state: PackingState) -> ForestPacking:
    """Make the value: classes numbered by their first topic, every forest rooted at its middle.

    The root of a topic is its subscriber nearest to the root of its forest, so all topics of a class that
    use an edge agree which end is the parent.
    """
    class_of = state.class_of.copy()
    if len(state.active):  # a topic of one subscriber uses no link: any class will do
        class_of[class_of == NONE] = class_of[state.active[0]]
    _, first, inverse = np.unique(class_of, return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first))[inverse].astype(np.int32)
    a, b, roots = state.tree_a.copy(), state.tree_b.copy(), np.full(interest.n_topics, NONE, np.int32)
    edges = ForestPacking(TopicTrees(interest, state.tree_ptr, a, b, roots.copy()), number)
    where, low, high = class_edges(edges)
    # A node that no link of the class ends at has depth 0: it is alone in its topic.
    depth = np.zeros((edges.n_classes, interest.n_nodes), np.int32)
    for one in range(edges.n_classes):
        for node, hops in _depths(low[where == one].tolist(), high[where == one].tolist()).items():
            depth[one, node] = hops
    own = np.repeat(number, np.diff(state.tree_ptr))
    turned = depth[own, a] < depth[own, b]
    child, parent = np.where(turned, b, a), np.where(turned, a, b)
    for topic in np.flatnonzero(interest.topic_sizes()).tolist():
        members = interest.nodes_of(topic)
        roots[topic] = members[np.argmin(depth[number[topic], members])]
    return ForestPacking(TopicTrees(interest, state.tree_ptr, child, parent, roots), number)


def _depths(low: list[int], high: list[int]) -> dict[int, int]:
    """Return the depth of each node when every tree is rooted at the middle of a longest path."""
    around: dict[int, list[int]] = {}
    for a, b in zip(low, high, strict=True):
        around.setdefault(a, []).append(b)
        around.setdefault(b, []).append(a)
    depth: dict[int, int] = {}
    for node in sorted(around):
        if node not in depth:
            *_, end = search(node, around.__getitem__)
            over = search(end, around.__getitem__)
            path = [list(over)[-1]]
            while path[-1] != end:
                path.append(over[path[-1]])
            middle = path[len(path) // 2]
            for reached, parent in search(middle, around.__getitem__).items():
                depth[reached] = 0 if reached == middle else depth[parent] + 1
    return depth

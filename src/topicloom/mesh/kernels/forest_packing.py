"""Topics in classes whose trees together are a forest: put a topic in, take it out.

Each class keeps its forest rooted somewhere: above[c, v] is the node over v or NONE, users[c, v] how many
topics of the class have that edge in their tree. A topic with subscribers S fits in a class if no two of
them are joined by its forest through a node outside S. Then the forest restricted to S has as many pieces as
trees it touches, any edges of the overlay inside S that join the pieces close no cycle, and the topic costs
(pieces - 1) edges more. A piece is found by its top, the one subscriber in it whose `above` is not in S: so a
look at a class takes one step for each subscriber. `forest_search.py` improves a packing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from topicloom.base.arrays import Ints, Longs, Words
from topicloom.base.kernels.jit import kernel, part
from topicloom.base.kernels.random import draw
from topicloom.base.kernels.union_find import unite

NONE = -1
LINKS, CLASSES, STAMP, WORK = 0, 1, 2, 3
MOST_OUT = 32  # topics taken out at once
FAR = 1 << 40  # more than any number of links


class PackingState(NamedTuple):
    """The state of a packing; see the top of the file."""

    topic_ptr: Longs
    topic_nodes: Ints
    edge_ptr: Longs  # the overlay's edges inside each topic, the most wanted first
    edge_a: Ints
    edge_b: Ints
    node_ptr: Longs
    node_topics: Ints
    active: Ints  # topics of two subscribers or more; no other is placed
    above: Ints  # [class, node]
    users: Ints  # [class, node]
    size: Longs  # topics of a class
    class_of: Ints  # NONE: not placed
    tree_ptr: Longs
    tree_a: Ints
    tree_b: Ints
    totals: Longs  # links, classes, last stamp, steps done
    inside: Longs  # stamp of the last topic a node was looked at for
    met: Longs  # stamp of the last look that came to this root
    piece: Ints  # union-find over nodes, valid for the members of the topic in hand
    random: Words
    out: Ints  # the topics taken out
    old_class: Ints
    old_a: Ints
    old_b: Ints


@part
def _price(above: Any, members: Any, inside: Any, mark: Any, met: Any, look: Any, most: Any) -> Any:
    """Count the links that a topic would add to this class; FAR if it does not fit or adds above `most`."""
    pieces = 0
    for v in members:
        x = above[v]
        if x >= 0 and inside[x] == mark:
            continue
        pieces += 1
        if pieces - 1 > most:
            return FAR
        last = v
        while x >= 0:
            if inside[x] == mark:
                return FAR  # joined through a node that does not want the topic
            last = x
            x = above[x]
        if met[last] == look:
            return FAR
        met[last] = look
    return pieces - 1


@part
def add_edge(above: Any, users: Any, a: Any, b: Any) -> Any:
    """Count one user more of the edge a - b; return 1 if it is new, and then hang a's tree below b."""
    if above[a] == b:
        users[a] += 1
        return 0
    if above[b] == a:
        users[b] += 1
        return 0
    over, used, x = b, 1, a
    while x >= 0:  # turn the path from a to its root around
        up, count = above[x], users[x]
        above[x], users[x] = over, used
        over, used, x = x, count, up
    return 1


@part
def enter_class(state: Any, topic: Any, where: Any) -> None:
    """Count a topic whose tree is in place as one of the class."""
    state.class_of[topic] = where
    state.size[where] += 1
    if state.size[where] == 1:
        state.totals[CLASSES] += 1


@part
def _put(state: Any, topic: Any, where: Any, skip: Any) -> None:
    """Place a topic in a class it fits in. With `skip` about one edge in so many waits for a second turn."""
    above, users, piece = state.above[where], state.users[where], state.piece
    members = state.topic_nodes[state.topic_ptr[topic] : state.topic_ptr[topic + 1]]
    state.totals[STAMP] += 1
    mark = state.totals[STAMP]
    for v in members:
        state.inside[v] = mark
        piece[v] = v
    at, stop = state.tree_ptr[topic], state.tree_ptr[topic + 1]
    for v in members:
        x = above[v]
        if x >= 0 and state.inside[x] == mark:
            users[v] += 1
            state.tree_a[at], state.tree_b[at] = v, x
            at += 1
            unite(piece, v, x)
    for turn in range(2):
        edge, last = state.edge_ptr[topic], state.edge_ptr[topic + 1]
        while at < stop and edge < last:
            a, b = state.edge_a[edge], state.edge_b[edge]
            edge += 1
            if turn == 0 and skip > 0 and draw(state.random, skip) == 0:
                continue
            if unite(piece, a, b):
                state.totals[LINKS] += add_edge(above, users, a, b)
                state.tree_a[at], state.tree_b[at] = a, b
                at += 1
        state.totals[WORK] += edge - state.edge_ptr[topic]
    enter_class(state, topic, where)


@part
def take_topic(state: Any, topic: Any) -> None:
    """Take a topic out of its class, with the edges that no other topic of the class uses."""
    where = state.class_of[topic]
    above, users = state.above[where], state.users[where]
    for at in range(state.tree_ptr[topic], state.tree_ptr[topic + 1]):
        a, b = state.tree_a[at], state.tree_b[at]
        x = a if above[a] == b else b
        users[x] -= 1
        if users[x] == 0:
            above[x] = NONE
            state.totals[LINKS] -= 1
    state.class_of[topic] = NONE
    state.size[where] -= 1
    if state.size[where] == 0:
        state.totals[CLASSES] -= 1


@kernel
def place_topic(state: Any, topic: Any, barred: Any, skip: Any) -> Any:
    """Place a topic where it costs least, in an empty class only if it fits nowhere; False if there is none.

    Ties go to the first class, counted from one drawn at random if `skip` > 0.
    """
    members = state.topic_nodes[state.topic_ptr[topic] : state.topic_ptr[topic + 1]]
    state.totals[STAMP] += 1
    mark = state.totals[STAMP]
    for v in members:
        state.inside[v] = mark
    rows = len(state.size)
    first = draw(state.random, np.int64(rows)) if skip > 0 else 0
    best, chosen, spare = FAR, NONE, NONE
    for turn in range(rows):
        where = (first + turn) % rows
        if state.size[where] == 0:
            spare = where
            continue
        if where == barred:
            continue
        state.totals[STAMP] += 1
        price = _price(
            state.above[where], members, state.inside, mark, state.met, state.totals[STAMP], best - 1
        )
        state.totals[WORK] += len(members)
        if price < best:
            best, chosen = price, where
    if chosen == NONE:
        chosen = spare
    if chosen == NONE:
        return False
    _put(state, topic, np.int64(chosen), skip)
    return True

"""What must hold in overlay trees, and what its moves may do, by definition: sets, searches, all pairs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from naive.connectivity import components
from topicloom.overlay.model.interest import Interest

Pair = tuple[int, int]

N_EDGES, N_FREE_EDGES, N_FREE_PAIRS = 0, 1, 2  # the places in `sizes`


def ordered(u: int, v: int) -> Pair:
    return (min(u, v), max(u, v))


def edge_set(trees: Any) -> set[Pair]:
    """The overlay as it stands."""
    live = trees.live[: trees.sizes[N_EDGES]].tolist()
    return {ordered(int(trees.edge_u[edge]), int(trees.edge_v[edge])) for edge in live}


def fixed_set(trees: Any) -> set[Pair]:
    """The edges that must stay."""
    live = trees.live[: trees.sizes[N_EDGES]].tolist()
    return {ordered(int(trees.edge_u[e]), int(trees.edge_v[e])) for e in live if trees.fixed[e]}


# --- connectivity ------------------------------------------------------------------------------------------


def parts_of(interest: Interest, edges: Collection[Pair], topic: int) -> list[set[int]]:
    """The components of a topic's subscribers, by breadth-first searches on the overlay."""
    return components(set(interest.nodes_of(topic).tolist()), edges)  # type: ignore[arg-type,return-value]


def component_counts(interest: Interest, edges: Collection[Pair]) -> list[int]:
    return [len(parts_of(interest, edges, topic)) for topic in range(interest.n_topics)]


def is_connected(interest: Interest, edges: Collection[Pair]) -> bool:
    return all(count <= 1 for count in component_counts(interest, edges))


def joins_lost(interest: Interest, edges: Collection[Pair], removed: Collection[Pair]) -> list[int]:
    """For each topic how many components it has more when `removed` are gone."""
    left = set(edges) - set(removed)
    before, after = component_counts(interest, edges), component_counts(interest, left)
    return [now - then for now, then in zip(after, before, strict=True)]


def removable(interest: Interest, edges: Collection[Pair]) -> set[Pair]:
    """The edges whose loss splits nothing."""
    return {edge for edge in edges if not any(joins_lost(interest, edges, [edge]))}


# --- repair ------------------------------------------------------------------------------------------------


def contributions(
    interest: Interest,
    edges: Collection[Pair],
    caps: Sequence[int],
    barred: Collection[Pair] = (),
) -> dict[Pair, int]:
    """For every pair that may get an edge the topics it would join: both want it, and are apart in it."""
    degree = [sum(node in edge for edge in edges) for node in range(interest.n_nodes)]
    room = {node for node in range(interest.n_nodes) if degree[node] < caps[node]}
    parts = [parts_of(interest, edges, topic) for topic in range(interest.n_topics)]
    place = [{node: i for i, part in enumerate(found) for node in part} for found in parts]
    return {
        (u, v): sum(u in at and v in at and at[u] != at[v] for at in place)
        for u, v in combinations(range(interest.n_nodes), 2)
        if u in room and v in room and (u, v) not in barred
    }


def largest_contribution(
    interest: Interest, edges: Collection[Pair], caps: Sequence[int], barred: Collection[Pair] = ()
) -> int:
    """Of any allowed pair; 0 if there is none."""
    return max(contributions(interest, edges, caps, barred).values(), default=0)


def check_repair(
    interest: Interest,
    edges: Collection[Pair],
    added: Sequence[Pair],
    *,
    done: bool,
    caps: Sequence[int],
    most: int,
    barred: Collection[Pair] = (),
) -> None:
    """Was `added`, in that order, a greedy repair of `edges` with at most `most`, given up only when due?

    Every pair must have the largest contribution of all that were allowed at its time. Giving up is due when
    no edges are left, or when not even that many of the best contribution would join everything.
    """
    now = set(edges)
    assert len(added) <= most
    for pair in added:
        allowed = contributions(interest, now, caps, barred)
        assert pair in allowed, f"{pair} is full, forbidden or banned"
        assert allowed[pair] == max(allowed.values()) > 0, f"{pair} joins {allowed[pair]}"
        now.add(pair)
    need = sum(count - 1 for count in component_counts(interest, now) if count)
    left = most - len(added)
    if done:
        assert need == 0
    elif left > 0:
        assert need > 0
        assert largest_contribution(interest, now, caps, barred) < math.ceil(need / left)
    else:
        assert need > 0


def total_cost(edges: Iterable[Pair], costs: Mapping[Pair, float]) -> float:
    return sum(costs.get(edge, 1.0) for edge in edges)


# --- the state ---------------------------------------------------------------------------------------------


def check_overlay_trees(trees: Any, interest: Interest) -> None:
    """Fail unless all the lists of overlay trees at rest tell the same story, with one tree per topic."""
    edges = _checked_edges(trees)
    _check_neighbors(trees, edges)
    threads = _checked_threads(trees, edges)
    _check_arcs(trees, threads)
    tree: dict[int, list[Pair]] = {topic: [] for topic in range(interest.n_topics)}
    for edge, slots in threads.values():
        ends = ordered(*(int(trees.slot_node[slot]) for slot in slots))
        topics = {int(trees.slot_topic[slot]) for slot in slots}
        assert ends == ordered(*edges[edge]), "a thread runs between other nodes than its edge"
        assert len(topics) == 1, "a thread joins two topics"
        tree[topics.pop()].append(ends)
    for topic, pairs in tree.items():
        members = set(interest.nodes_of(topic).tolist())
        parts = parts_of(interest, [ordered(*ends) for ends in edges.values()], topic)
        assert all(u in members and v in members for u, v in pairs)
        assert parts_of(interest, pairs, topic) == parts, "the threads connect less than the edges do"
        assert len(pairs) == len(members) - len(parts), "the threads form a cycle"


def _checked_edges(trees: Any) -> dict[int, Pair]:
    """The live edges by number."""
    n = int(trees.sizes[N_EDGES])
    live = trees.live[:n].tolist()
    free = trees.free_edges[: trees.sizes[N_FREE_EDGES]].tolist()
    assert sorted(live + free) == list(range(len(trees.edge_u))), "an edge number is lost, or used twice"
    assert [int(trees.live_at[edge]) for edge in live] == list(range(n))
    edges = {edge: (int(trees.edge_u[edge]), int(trees.edge_v[edge])) for edge in live}
    assert all(u != v for u, v in edges.values())
    assert len({ordered(*ends) for ends in edges.values()}) == n, "two edges between the same nodes"
    return edges


def _check_neighbors(trees: Any, edges: Mapping[int, Pair]) -> None:
    for node in range(len(trees.degree)):
        start, degree = int(trees.near_ptr[node]), int(trees.degree[node])
        assert start + degree <= trees.near_ptr[node + 1], "a node has more edges than room"
        listed = zip(
            trees.near[start : start + degree].tolist(),
            trees.near_edge[start : start + degree].tolist(),
            strict=True,
        )
        mine = [(u + v - node, edge) for edge, (u, v) in edges.items() if node in (u, v)]
        assert sorted(listed) == sorted(mine), "a node's neighbors are not those of its edges"


def _checked_threads(trees: Any, edges: Mapping[int, Pair]) -> dict[int, tuple[int, Pair]]:
    """Pair of arcs -> its edge and the two slots it joins."""
    threads: dict[int, tuple[int, Pair]] = {}
    for edge in edges:
        pair, load = int(trees.edge_pair[edge]), 0
        while pair >= 0:
            assert pair not in threads, "a thread belongs to two edges, or twice to one"
            assert trees.pair_edge[pair] == edge
            threads[pair] = (edge, (int(trees.arc_slot[2 * pair + 1]), int(trees.arc_slot[2 * pair])))
            pair, load = int(trees.pair_next[pair]), load + 1
        assert load == trees.load[edge], "the load is not the number of threads"
    free = trees.free_pairs[: trees.sizes[N_FREE_PAIRS]].tolist()
    assert sorted([*threads, *free]) == list(range(len(trees.pair_edge))), "a thread is lost, or used twice"
    return threads


def _check_arcs(trees: Any, threads: Mapping[int, tuple[int, Pair]]) -> None:
    """The list of each slot holds the arcs that leave it, and no others."""
    expected: dict[int, set[int]] = {slot: set() for slot in range(len(trees.slot_arc))}
    for pair, (_, (slot_u, slot_v)) in threads.items():
        expected[slot_u].add(2 * pair)
        expected[slot_v].add(2 * pair + 1)
    for slot, arcs in expected.items():
        found: set[int] = set()
        arc = int(trees.slot_arc[slot])
        while arc >= 0:
            assert arc not in found, "the arcs of a slot run in a circle"
            found.add(arc)
            arc = int(trees.arc_next[arc])
        assert found == arcs, "an arc is in the wrong list, or in none"

"""Links: every topic on them once, dialled from child to parent; brokers in an order with few early links."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.overlays import interest_of, overlay_on
from naive.tree_cases import served
from topicloom.mesh.model.topic_trees import PlannedLink, TopicTrees
from topicloom.mesh.topic_trees.check import check_links
from topicloom.mesh.topic_trees.dialing import forest_links, start_order, tree_links, turn_links
from topicloom.mesh.topic_trees.packing import class_edges, pack_forests
from topicloom.mesh.topic_trees.spanning import build_topic_trees


@examples(40)
@given(case=served())
def test_links_carry_the_trees(case):
    interest, overlay = case
    trees = build_topic_trees(interest, overlay)
    arcs = set(zip(trees.child.tolist(), trees.parent.tolist(), strict=True))
    plain = tree_links(trees)
    assert check_links(interest, plain, classes=False) == []
    assert len(plain) == len({frozenset(arc) for arc in arcs})
    split = tree_links(trees, by_direction=True)
    assert check_links(interest, split, classes=False) == []
    assert {(link.dialer, link.acceptor) for link in split} == arcs
    assert sum(len(link.topics) for link in plain) == sum(len(link.topics) for link in split)


@examples(15)
@given(case=served(max_nodes=7, max_topics=4))
def test_links_carry_the_classes(case):
    interest, overlay = case
    packing = pack_forests(interest, overlay)
    links = forest_links(packing)
    assert check_links(interest, links, classes=True) == []
    assert len(links) == len(class_edges(packing)[0])
    assert all(int(packing.class_of[topic]) == link.topic_class for link in links for topic in link.topics)


def trees_by_hand(interest, arcs_of_topics):
    """Trees from the (child, parent) pairs of each topic."""
    flat = [arc for arcs in arcs_of_topics for arc in arcs]
    starts = np.concatenate(([0], np.cumsum([len(arcs) for arcs in arcs_of_topics])))
    children = [{child for child, _ in arcs} for arcs in arcs_of_topics]
    roots = [
        next(node for node in interest.nodes_of(topic).tolist() if node not in children[topic])
        for topic in range(len(arcs_of_topics))
    ]
    child, parent = np.array(flat, np.int32).T
    return TopicTrees(interest, starts, child.copy(), parent.copy(), np.array(roots, np.int32))


def test_the_child_of_most_topics_dials():
    interest = interest_of([{0, 1, 2}, {0, 1, 2}])
    trees = trees_by_hand(interest, [[(0, 1)], [(1, 0)], [(0, 1)]])
    assert tree_links(trees) == [PlannedLink(0, 1, (0, 1, 2))]
    assert tree_links(trees, by_direction=True) == [PlannedLink(0, 1, (0, 2)), PlannedLink(1, 0, (1,))]


def test_of_as_many_the_one_that_is_less_often_a_parent_dials():
    interest = interest_of([{0, 1}, {0, 1, 2}, {2}])
    trees = trees_by_hand(interest, [[(0, 1)], [(1, 0)], [(1, 2)]])
    assert PlannedLink(0, 1, (0, 1)) in tree_links(trees) or PlannedLink(1, 0, (0, 1)) in tree_links(trees)
    more = trees_by_hand(interest, [[(0, 1)], [(1, 0)], [(2, 1)]])
    assert PlannedLink(0, 1, (0, 1)) in tree_links(more), "node 1 is a parent twice, so it accepts"


def test_the_doc_example_of_a_path_keeps_one_link_per_edge():
    interest = interest_of([{0}, {0, 1}, {1}])
    trees = build_topic_trees(interest, overlay_on(interest, [(0, 1), (1, 2)]))
    assert {frozenset((x.dialer, x.acceptor)) for x in tree_links(trees)} == {
        frozenset((0, 1)),
        frozenset((1, 2)),
    }


NODES = 7


def early(order: list[int], links: list[PlannedLink]) -> tuple[int, int]:
    """How many links are dialled before their acceptor runs: of those with backups, of the others."""
    found = [link for link in links if order.index(link.dialer) < order.index(link.acceptor)]
    return sum(bool(link.backups) for link in found), sum(not link.backups for link in found)


def moves(order: list[int]) -> list[list[int]]:
    """All orders that differ in the place of one node."""
    found = []
    for node in order:
        rest = [other for other in order if other != node]
        found += [[*rest[:at], node, *rest[at:]] for at in range(len(order))]
    return found


@st.composite
def dialled(draw) -> list[PlannedLink]:
    """Links between any nodes, also both ways and several of a pair, some of them with a backup."""
    node = st.integers(0, NODES - 1)
    pairs = draw(st.lists(st.tuples(node, node, st.booleans()).filter(lambda x: x[0] != x[1]), max_size=20))
    return [PlannedLink(a, b, (0,), backups=(NODES,) if safe else ()) for a, b, safe in pairs]


@given(links=dialled())
def test_no_single_node_has_a_better_place(links):
    """Otherwise links would turn to backups at the start that need not."""
    order = start_order(NODES, links)
    assert sorted(order) == list(range(NODES))
    assert early(order, links) == min(early(other, links) for other in moves(order))


@given(links=dialled(), rank=st.permutations(range(NODES)))
def test_where_nobody_dials_in_circles_all_acceptors_run_first(links, rank):
    down = [
        PlannedLink(
            max(link.dialer, link.acceptor, key=rank.index),
            min(link.dialer, link.acceptor, key=rank.index),
            link.topics,
            backups=link.backups,
        )
        for link in links
    ]
    assert early(start_order(NODES, down), down) == (0, 0)


def test_in_a_circle_only_one_dials_too_early():
    links = [
        PlannedLink(0, 1, (0,)),
        PlannedLink(1, 2, (1,)),
        PlannedLink(2, 0, (2,)),
        PlannedLink(3, 0, (3,)),
    ]
    assert early(start_order(4, links), links) == (0, 1)


def test_in_a_circle_the_one_without_backups_dials_too_early():
    """It waits for its acceptor; the others would turn to their backups."""
    links = [
        PlannedLink(0, 1, (0,), backups=(3,)),
        PlannedLink(1, 2, (1,)),
        PlannedLink(2, 0, (2,), backups=(3,)),
    ]
    assert early(start_order(4, links), links) == (0, 1)


@examples(20)
@given(links=dialled())
def test_the_order_of_links_plays_no_part(links):
    assert start_order(NODES, links) == start_order(NODES, links[::-1])


@given(st.integers(0, 10**6))
def test_turning_links_keeps_who_is_linked_and_saves_dialers(seed: int) -> None:
    """A link with a backup leads to the root of its topics: turned, its backup would be another link's."""
    draw = random.Random(seed)
    pairs = {tuple(sorted(draw.sample(range(8), 2))) for _ in range(12)}
    links = [
        PlannedLink(a, b, tuple(draw.sample(range(5), draw.randint(1, 4))), -1, (8,) * (draw.random() < 0.3))
        for a, b in sorted(pairs)
    ]
    turned = turn_links(links)

    def dialers(own: list[PlannedLink]) -> int:
        return len({(link.dialer, topic) for link in own for topic in link.topics})

    def told(own: list[PlannedLink]) -> set[tuple[frozenset[int], tuple[int, ...]]]:
        return {(frozenset((link.dialer, link.acceptor)), link.topics) for link in own}

    assert dialers(turned) <= dialers(links) and told(turned) == told(links)
    assert [link for link in turned if link.backups] == [link for link in links if link.backups]
    for link in (one for one in turned if not one.backups):
        other = replace(link, dialer=link.acceptor, acceptor=link.dialer)
        assert dialers([one for one in turned if one != link] + [other]) >= dialers(turned), "one more helps"

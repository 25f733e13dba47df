"""The order to start brokers in, judged by counting the links that are dialled too early."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from topicloom.mesh.model.topic_trees import PlannedLink
from topicloom.mesh.topic_trees.order import start_order

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

"""Repair is greedy and exact: every edge it adds joins the most that any allowed pair could join then.

If it missed a pair, moves that save an edge would be given up as impossible, and nobody would see it.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.overlay_trees import (
    check_overlay_trees,
    check_repair,
    contributions,
    edge_set,
    is_connected,
    ordered,
)
from naive.overlay_trees_cases import laid, list_removed, scratch, some_edges, tree_cases
from parts import called
from topicloom.overlay.kernels import edge_removal
from topicloom.overlay.kernels import repair as repairing
from topicloom.overlay.kernels.edge_removal import ADDED
from topicloom.overlay.model.interest import Interest

remove_edges, undo, keep = map(called, (edge_removal.remove_edges, edge_removal.undo, edge_removal.keep))
repair, pair_price = map(called, (repairing.repair, repairing.pair_price))

# Without the compiler random numbers are numpy's, which warn of the wrap-around that is meant.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


def drawn_caps(draw, case):
    """Caps around the degrees that the nodes have, so that some are full and some take one or two edges."""
    spare = draw(st.lists(st.integers(-1, 2), min_size=len(case.trees.degree), max_size=100))
    caps = case.trees.degree.copy()
    for node in range(len(caps)):
        caps[node] = max(caps[node] + spare[node], 0)
    return caps


def shared(interest, a, b):
    return set(interest.topics_of(a).tolist()) & set(interest.topics_of(b).tolist())


def alike(interest):
    """Does no node want more than one and a half times the average number of topics?"""
    sizes = [len(interest.topics_of(node)) for node in range(interest.n_nodes)]
    return 2 * max(sizes) * len(sizes) <= 3 * sum(sizes)


def pairs_added(trees, removal):
    added = removal.added[: removal.counts[ADDED]].tolist()
    return [ordered(int(trees.edge_u[edge]), int(trees.edge_v[edge])) for edge in added]


@examples(300)
@given(case=tree_cases(priced=True), data=st.data(), most=st.integers(0, 6), ban=st.booleans())
def test_every_edge_joins_the_most_that_was_allowed_and_nothing_is_given_up_early(case, data, most, ban):
    """Caps, forbidden pairs (an infinite price) and the banned pair are kept to, and so is `most`."""
    trees, removal, interest = case.trees, case.removal, case.interest
    before = edge_set(trees)
    removed = some_edges(data.draw, case, most=4)
    caps = drawn_caps(data.draw, case)
    list_removed(trees, removal, removed)
    if not removed or not remove_edges(trees, removal):
        undo(trees, removal)
        return
    banned = removed[0] if ban else (-1, -1)
    if data.draw(st.booleans()):
        banned = banned[::-1]
    barred = case.forbidden | {ordered(*banned)}
    left = edge_set(trees)
    done = repair(trees, removal, caps, most, *banned)
    added = pairs_added(trees, removal)
    assert edge_set(trees) == left | set(added)
    check_repair(interest, left, added, done=done, caps=caps.tolist(), most=most, barred=barred)
    if added:
        allowed = contributions(interest, left, caps.tolist(), barred)
        equal = [pair for pair in allowed if allowed[pair] == allowed[added[0]]]
        cheapest = min(case.costs.get(pair, 1.0) for pair in equal)
        assert case.costs.get(added[0], 1.0) == cheapest, "costs do not break the tie"
        if alike(interest):
            cheap = [pair for pair in equal if case.costs.get(pair, 1.0) == cheapest]
            most = max(len(shared(interest, *pair)) for pair in cheap)
            assert len(shared(interest, *added[0])) == most, "shared topics do not break the tie"
    if done:
        keep(trees, removal)
        assert is_connected(interest, edge_set(trees))
    else:
        undo(trees, removal)
        assert edge_set(trees) == before
    check_overlay_trees(trees, interest)


def test_an_edge_between_two_nodes_that_are_both_off_is_found():
    """a comes off in one topic and c in two others: together they join three, and nothing else does."""
    topics = {"a": "xyz", "b": "xy", "c": "xyz"}
    interest = Interest.from_pairs([(node, topic) for node, wanted in topics.items() for topic in wanted])
    for edges in ([(0, 1), (0, 2)], [(0, 1), (2, 0)]):
        trees, removal = laid(interest, edges), scratch(interest)
        list_removed(trees, removal, [(0, 2)])
        assert remove_edges(trees, removal)
        assert repair(trees, removal, trees.degree + 2, 1, -1, -1)
        assert pairs_added(trees, removal) == [(0, 2)]
        keep(trees, removal)
        check_overlay_trees(trees, interest)


@pytest.mark.parametrize(("large", "expected"), [("", (0, 3)), ("123456", (0, 1))])
def test_where_nodes_are_alike_equal_pairs_are_judged_by_all_they_share(large, expected):
    """a came off in x: c has the fewer edges, d shares y too. With a node of many topics edges decide."""
    topics = {"a": "xyz", "b": "x" if large else "xvw", "c": "xst", "d": "xyu", "e": "yzu" + large}
    topics |= {"c": "xs", "b": "xv"} if large else {}
    interest = Interest.from_pairs([(node, topic) for node, wanted in topics.items() for topic in wanted])
    edges = [(0, 2), (1, 2), (2, 3), (0, 4), (3, 4)]
    trees, removal = laid(interest, edges), scratch(interest)
    list_removed(trees, removal, [(0, 2)])
    assert remove_edges(trees, removal)
    assert repair(trees, removal, trees.degree + 2, 1, 0, 2)
    assert alike(interest) == (not large)
    assert pairs_added(trees, removal) == [expected]
    keep(trees, removal)
    check_overlay_trees(trees, interest)


def test_prices_are_found_in_both_directions():
    interest = Interest.from_pairs([(node, "x") for node in "abcde"])
    removal = scratch(interest, {(0, 3): 2.5, (1, 3): 0.5, (3, 4): float("inf")})
    table = removal.price_ptr, removal.price_other, removal.price
    assert [pair_price(*table, 3, other) for other in (0, 1, 2, 4)] == [2.5, 0.5, 1.0, float("inf")]
    assert [pair_price(*table, other, 3) for other in (0, 1, 2, 4)] == [2.5, 0.5, 1.0, float("inf")]


# --- the checker itself ------------------------------------------------------------------------------------

TWO_TOPICS = Interest.from_pairs([*((node, topic) for node in "abc" for topic in "xy"), ("d", "x")])


@pytest.mark.parametrize(
    ("added", "options"),
    [
        ([(0, 3)], {"done": True}),  # joins one topic where two could be joined
        ([(0, 1), (0, 2), (0, 3)], {"done": True, "most": 2}),  # too many
        ([(0, 1)], {"done": True}),  # not done
        ([(0, 1)], {"done": False, "most": 5}),  # given up though edges were left
        ([(0, 1), (0, 2), (0, 3)], {"done": True, "caps": [2, 9, 9, 9]}),  # above a cap
        ([(0, 1), (0, 2), (0, 3)], {"done": True, "barred": {(0, 2)}}),  # a forbidden pair
    ],
)
def test_the_checker_rejects_a_wrong_repair(added, options):
    check_repair(TWO_TOPICS, set(), [(0, 1), (0, 2), (0, 3)], done=True, caps=[9] * 4, most=3)
    check_repair(TWO_TOPICS, set(), [(0, 1)], done=False, caps=[9] * 4, most=2)
    with pytest.raises(AssertionError):
        check_repair(TWO_TOPICS, set(), added, **{"caps": [9] * 4, "most": 4} | options)

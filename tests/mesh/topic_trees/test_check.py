"""The checker: every kind of broken value must be named, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from drawing import examples
from naive.backups import unsafe_choice
from naive.overlays import interest_of, overlay_on
from naive.tree_cases import served
from topicloom.mesh.model.topic_trees import ForestPacking, PlannedLink, TopicTrees
from topicloom.mesh.topic_trees.backups import with_backups
from topicloom.mesh.topic_trees.check import check_links, check_packing, check_topic_trees
from topicloom.mesh.topic_trees.dialing import forest_links, tree_links
from topicloom.mesh.topic_trees.packing import pack_forests
from topicloom.mesh.topic_trees.spanning import build_topic_trees
from topicloom.overlay.builders.baselines import build_full_mesh

SETS = [{0, 1}, {0, 1}, {0, 1, 2}, {0, 2}, {2}]


@pytest.fixture
def case():
    interest = interest_of(SETS)
    overlay = overlay_on(interest, [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)])
    return interest, overlay, build_topic_trees(interest, overlay)


def changed(trees, at, *, child=None, parent=None):
    """The trees with one end of one edge put elsewhere."""
    children, parents = trees.child.copy(), trees.parent.copy()
    children[at] = children[at] if child is None else child
    parents[at] = parents[at] if parent is None else parent
    return TopicTrees(trees.interest, trees.starts, children, parents, trees.roots)


# --- trees -------------------------------------------------------------------------------------------------


def test_a_dropped_edge_leaves_a_topic_split(case):
    interest, overlay, trees = case
    starts = trees.starts.copy()
    starts[1:] -= 1
    less = TopicTrees(interest, starts, trees.child[1:].copy(), trees.parent[1:].copy(), trees.roots)
    faults = check_topic_trees(interest, overlay, less)
    assert len(faults) == 1
    assert "topic 't000'" in faults[0] and "not connected" in faults[0]


def test_a_parent_that_does_not_want_the_topic_is_a_stray(case):
    interest, overlay, trees = case
    at = int(trees.starts[1])  # topic 1 is not wanted by node 3
    assert any(
        "'n003', which does not want it" in x
        for x in check_topic_trees(interest, overlay, changed(trees, at, parent=3))
    )


def test_an_edge_that_the_overlay_does_not_have(case):
    interest, overlay, trees = case
    sparse = overlay_on(interest, [(0, 1), (1, 2), (2, 3), (3, 4)])
    missing = check_topic_trees(interest, sparse, build_topic_trees(interest, overlay))
    expected = {(0, 2), (2, 4)} & {
        (min(a, b), max(a, b)) for a, b in zip(trees.child.tolist(), trees.parent.tolist(), strict=True)
    }
    assert expected
    assert sum("no edge of the overlay" in fault for fault in missing) >= len(expected)
    assert check_topic_trees(interest, sparse, build_topic_trees(interest, sparse)) == []


def test_a_cycle_is_named_and_who_it_cuts_off(case):
    """Node 3's edge in topic 0 is replaced by one that closes a triangle."""
    interest, overlay, _ = case
    child, parent = np.array([1, 2, 0], np.int32), np.array([0, 1, 2], np.int32)
    rest = build_topic_trees(interest, overlay)
    broken = TopicTrees(
        interest,
        rest.starts,
        np.concatenate((child, rest.child[3:])),
        np.concatenate((parent, rest.parent[3:])),
        np.concatenate((np.array([3], np.int32), rest.roots[1:])),
    )
    faults = check_topic_trees(interest, overlay, broken)
    assert any("cycle" in fault for fault in faults)
    assert any("'n003' is not connected" in fault for fault in faults)


@pytest.mark.parametrize(("root", "words"), [(4, "does not want it"), (1, "has a parent"), (9, "number 9")])
def test_a_wrong_root(root, words):
    interest = interest_of(SETS)
    overlay = overlay_on(interest, [(0, 1), (1, 2), (2, 3), (3, 4)])
    starts = np.array([0, 3, 5, 7])
    child = np.array([1, 2, 3, 1, 2, 3, 4], np.int32)
    parent = np.array([0, 1, 2, 0, 1, 2, 3], np.int32)
    good = TopicTrees(interest, starts, child, parent, np.array([0, 0, 2], np.int32))
    assert check_topic_trees(interest, overlay, good) == []
    bad = TopicTrees(interest, starts, child, parent, np.array([root, 0, 2], np.int32))
    assert any("its root" in fault and words in fault for fault in check_topic_trees(interest, overlay, bad))
    turned = TopicTrees(
        interest,
        starts,
        np.array([1, 1, 3, 1, 2, 3, 4], np.int32),
        np.array([0, 2, 2, 0, 1, 2, 3], np.int32),
        good.roots,
    )
    assert check_topic_trees(interest, overlay, turned) == ["topic 't000': node 'n001' has several parents"]


def test_too_few_trees(case):
    interest, overlay, trees = case
    less = TopicTrees(interest, trees.starts[:-1].copy(), trees.child, trees.parent, trees.roots[:-1].copy())
    assert check_topic_trees(interest, overlay, less) == ["there are 2 trees for 3 topics"]


@examples(60)
@given(made=served(8, 4), data=st.data())
def test_no_change_of_one_end_goes_unseen(made, data):
    """Another end makes another edge set; it is fine only if it is a spanning tree of subscribers again."""
    interest, overlay = made
    trees = build_topic_trees(interest, overlay)
    assume(len(trees.child))
    at = data.draw(st.integers(0, len(trees.child) - 1))
    node = data.draw(st.integers(0, interest.n_nodes - 1))
    topic = int(np.searchsorted(trees.starts, at, side="right")) - 1
    broken = changed(trees, at, parent=node)
    child, parent = broken.edges_of(topic)
    tree = dict(zip(child.tolist(), parent.tolist(), strict=True))
    edges = set(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))
    sound = all((min(a, b), max(a, b)) in edges for a, b in tree.items())
    sound &= node in interest.nodes_of(topic)
    for start in list(tree):  # climbing always ends at the root
        steps = 0
        while start in tree and steps <= len(tree):
            start, steps = tree[start], steps + 1
        sound &= steps <= len(tree)
    assert (check_topic_trees(interest, overlay, broken) == []) == sound


# --- packings ----------------------------------------------------------------------------------------------


def test_two_classes_put_together_close_a_cycle():
    interest = interest_of([{0, 1}, {0}, {0, 1}, {1}])
    overlay = overlay_on(interest, [(0, 1), (1, 2), (2, 3), (0, 3)])
    packing = pack_forests(interest, overlay)
    assert check_packing(interest, overlay, packing) == []
    merged = ForestPacking(packing.trees, np.zeros(2, np.int32))
    faults = check_packing(interest, overlay, merged)
    assert len(faults) == 1
    assert faults[0].startswith("class 0: its edges hold a cycle")


def test_a_topic_without_a_class(case):
    interest, overlay, trees = case
    assert check_packing(interest, overlay, ForestPacking(trees, np.array([0, 1, -1], np.int32)))
    short = check_packing(interest, overlay, ForestPacking(trees, np.array([0, 1], np.int32)))
    assert short == ["2 topics have a class, of 3"]


# --- links -------------------------------------------------------------------------------------------------


def test_faults_of_single_links():
    interest = interest_of([{0}, {0}, {0, 1}, {1}])
    good = [PlannedLink(1, 0, (0,)), PlannedLink(2, 0, (0,)), PlannedLink(3, 2, (1,))]
    assert check_links(interest, good, classes=False) == []

    def faults(*links, classes=False):
        return " | ".join(check_links(interest, links, classes=classes))

    assert "'n003' does not want" in faults(*good[:2], PlannedLink(3, 2, (0, 1)))
    assert "'t000': 'n001' is not connected" in faults(*good[1:])
    assert "'t001': 'n003' is not connected" in faults(*good[:2])
    assert "hold a cycle" in faults(*good, PlannedLink(2, 1, (0,)))
    assert "hold a cycle" in faults(*good, PlannedLink(0, 1, (0,))), "a second link over an edge"
    assert "itself" in faults(*good, PlannedLink(1, 1, (0,)))
    assert "no topic" in faults(*good, PlannedLink(1, 2, ()))
    assert "twice" in faults(PlannedLink(1, 0, (0, 0)), *good[1:])
    assert "topic number 7" in faults(*good, PlannedLink(1, 0, (7,)))
    assert "node number 9" in faults(*good, PlannedLink(9, 0, (0,)))
    assert "has no class" in faults(*good, classes=True)


def test_faults_of_classes():
    interest = interest_of([{0, 1}, {0}, {0, 1}, {1}])
    cycle = [
        PlannedLink(1, 0, (0,), 0),
        PlannedLink(2, 1, (0,), 0),
        PlannedLink(3, 0, (1,), 0),
        PlannedLink(2, 3, (1,), 0),
    ]
    assert check_links(interest, cycle, classes=False) == []
    assert any("class 0: its links hold a cycle" in x for x in check_links(interest, cycle, classes=True))
    apart = [replace(link, topic_class=link.topics[0]) for link in cycle]
    assert check_links(interest, apart, classes=True) == []
    torn = [replace(apart[0], topic_class=2), *apart[1:]]
    assert check_links(interest, torn, classes=True) == ["topic 't000': it is carried in several classes"]


def test_a_node_that_dials_two_links_of_a_class():
    """It would not pass on between them: NATS does so only between servers that dial it, and clients."""
    interest = interest_of([{0}, {0}, {0}])
    good = [PlannedLink(0, 1, (0,), 0), PlannedLink(1, 2, (0,), 0)]
    assert check_links(interest, good, classes=True) == []
    bad = [PlannedLink(0, 1, (0,), 0), PlannedLink(0, 2, (0,), 0)]
    assert check_links(interest, bad, classes=True) == ["class 0: 'n000' dials several links of it"]
    assert check_links(interest, bad, classes=False) == []


def test_unsafe_backups():
    interest = interest_of([{0}] * 4 + [{1}, {1}])
    path = [
        PlannedLink(1, 0, (0,)),
        PlannedLink(2, 1, (0,)),
        PlannedLink(3, 2, (0,)),
        PlannedLink(5, 4, (1,)),
    ]

    def faults(at, backups):
        links = [replace(link, backups=backups) if i == at else link for i, link in enumerate(path)]
        return " | ".join(check_links(interest, links, classes=False))

    assert faults(2, (0,)) == faults(2, (1, 0)) == faults(1, (0,)) == ""
    assert "not safe" in faults(1, (3,)), "a descendant"
    assert "not safe" in faults(0, (2,)), "a descendant"
    assert "backup 'n004' does not want" in faults(2, (4,))
    assert "one of its ends" in faults(1, (1,))
    assert "one of its ends" in faults(1, (2,))
    assert "another backup" in faults(2, (0, 0))
    assert "node number 8" in faults(2, (8,))


def test_backups_that_are_safe_alone_and_not_together():
    interest = interest_of([{0}] * 3)
    star = [PlannedLink(1, 0, (0,)), PlannedLink(2, 0, (0,))]
    one, other = replace(star[0], backups=(2,)), replace(star[1], backups=(1,))
    assert check_links(interest, [one, star[1]], classes=False) == []
    assert check_links(interest, [star[0], other], classes=False) == []
    assert any("not safe" in fault for fault in check_links(interest, [one, other], classes=False))


def test_a_node_that_dials_two_links_that_may_move():
    interest = interest_of([{0}] * 4)
    links = [
        PlannedLink(0, 1, (0,), backups=(3,)),
        PlannedLink(0, 2, (0,), backups=(3,)),
        PlannedLink(3, 1, (0,)),
    ]
    assert unsafe_choice(interest, links, classes=False)
    assert any("dials two" in fault for fault in check_links(interest, links, classes=False))


@examples(60)
@given(made=served(6, 3), classes=st.booleans(), data=st.data())
def test_no_backup_that_can_do_harm_goes_unseen(made, classes, data):
    """One arbitrary backup more: if some choice is unsafe now, the checker says so."""
    interest, overlay = made
    trees = build_topic_trees(interest, overlay)
    if classes:
        own = ForestPacking(trees, np.arange(interest.n_topics, dtype=np.int32))
        links = with_backups(interest, forest_links(own), classes=True, most=1)
    else:
        links = with_backups(interest, tree_links(trees, by_direction=True), most=1)
    assume(links)
    at = data.draw(st.integers(0, len(links) - 1))
    backup = data.draw(st.integers(0, interest.n_nodes - 1))
    links[at] = replace(links[at], backups=(*links[at].backups, backup))
    if unsafe_choice(interest, links, classes=classes):
        assert check_links(interest, links, classes=classes)


def test_what_is_made_is_proven():
    interest = interest_of(SETS)
    overlay = build_full_mesh(interest).overlay
    links = forest_links(pack_forests(interest, overlay))
    assert check_links(interest, with_backups(interest, links, classes=True), classes=True) == []

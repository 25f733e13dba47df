"""Backups: whatever any of the dialers does at any time, no topic gets a cycle; and they heal."""

from __future__ import annotations

from collections import Counter

import pytest
from benchmarks.mesh_figures import Healing, measure_healing
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.backups import unsafe_choice
from naive.connectivity import components
from naive.overlays import interest_of
from naive.tree_cases import served
from topicloom.mesh.model.topic_trees import PlannedLink
from topicloom.mesh.topic_trees import packing
from topicloom.mesh.topic_trees.backups import with_backups
from topicloom.mesh.topic_trees.check import check_links
from topicloom.mesh.topic_trees.dialing import forest_links, tree_links
from topicloom.mesh.topic_trees.packing import pack_forests
from topicloom.mesh.topic_trees.spanning import build_topic_trees
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options


def carried(links):
    """How many links carry each topic over each edge."""
    return Counter((min(x.dialer, x.acceptor), max(x.dialer, x.acceptor), t) for x in links for t in x.topics)


@examples(40)
@given(case=served(7, 4), by_direction=st.booleans(), split=st.integers(1, 3), most=st.integers(0, 2))
def test_no_choice_of_backups_closes_a_cycle(case, by_direction, split, most):
    """All choices of all links of each topic are tried."""
    interest, overlay = case
    links = tree_links(build_topic_trees(interest, overlay), by_direction=by_direction)
    backed = with_backups(interest, links, most=most, split=split)
    assert unsafe_choice(interest, backed, classes=False) is None
    assert check_links(interest, backed, classes=False) == []
    assert carried(backed) == carried(links)
    assert all(len(link.backups) <= most for link in backed)
    if split == 1:
        assert [(x.dialer, x.acceptor, x.topics) for x in backed] == sorted(
            (x.dialer, x.acceptor, x.topics) for x in links
        )


@examples(20)
@given(case=served(6, 4))
def test_no_choice_of_backups_closes_a_cycle_in_a_class(case):
    interest, overlay = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "WORK_PER_LOOK", 100)
        links = forest_links(pack_forests(interest, overlay))
    backed = with_backups(interest, links, classes=True)
    assert unsafe_choice(interest, backed, classes=True) is None
    assert check_links(interest, backed, classes=True) == []
    assert len(backed) == len(links)


@examples(30)
@given(case=served(7, 4), split=st.integers(1, 2))
def test_healing_is_counted_by_letting_each_node_die(case, split):
    interest, overlay = case
    links = tree_links(build_topic_trees(interest, overlay), by_direction=True)
    backed = with_backups(interest, links, split=split)
    counts = Counter()
    for topic in range(interest.n_topics):
        members = interest.nodes_of(topic).tolist()
        for dead in members if len(members) > 2 else ():
            left = {str(node) for node in members if node != dead}
            own = [link for link in backed if topic in link.topics and link.dialer != dead]
            before = [(str(link.dialer), str(link.acceptor)) for link in own]
            after = [
                (str(link.dialer), str(next((e for e in (link.acceptor, *link.backups) if e != dead), dead)))
                for link in own
            ]
            if len(components(left, before)) == 1:
                counts["whole"] += 1
            else:
                counts["healed" if len(components(left, after)) == 1 else "broken"] += 1
    assert measure_healing(interest, backed) == Healing(counts["whole"], counts["healed"], counts["broken"])


def test_children_of_a_dead_root_turn_to_one_of_them():
    interest = interest_of([{0}] * 4)
    star = [PlannedLink(1, 0, (0,)), PlannedLink(2, 0, (0,)), PlannedLink(3, 0, (0,))]
    backed = with_backups(interest, star)
    assert measure_healing(interest, star) == Healing(3, 0, 1)
    assert measure_healing(interest, backed) == Healing(3, 1, 0)
    assert sum(not link.backups for link in backed) == 1, "one of them is the new root"


def test_a_grandparent_is_taken_and_a_descendant_never():
    interest = interest_of([{0}] * 4)
    path = [PlannedLink(1, 0, (0,)), PlannedLink(2, 1, (0,)), PlannedLink(3, 2, (0,))]
    backed = {link.dialer: link.backups for link in with_backups(interest, path)}
    assert backed == {1: (), 2: (0,), 3: (0, 1)}


def test_a_backup_wants_all_topics_of_the_link():
    interest = interest_of([{0, 1}, {0, 1}, {0, 1}, {0}])
    links = [PlannedLink(0, 1, (0, 1)), PlannedLink(2, 0, (0, 1)), PlannedLink(3, 0, (0,))]
    for link in with_backups(interest, links):
        assert 3 not in link.backups or link.topics == (0,)


def test_an_edge_used_both_ways_gets_backups_only_as_two_links():
    """Topic 0 goes 0 -> 1 -> 2, topic 1 goes 1 -> 0 -> 3: nobody wants both but 0 and 1."""
    interest = interest_of([{0, 1}, {0, 1}, {0}, {1}])
    one = with_backups(
        interest, [PlannedLink(0, 1, (0, 1)), PlannedLink(1, 2, (0,)), PlannedLink(0, 3, (1,))]
    )
    assert not any(link.backups for link in one)
    assert measure_healing(interest, one) == Healing(4, 0, 2)
    two = with_backups(
        interest,
        [PlannedLink(0, 1, (0,)), PlannedLink(1, 0, (1,)), PlannedLink(1, 2, (0,)), PlannedLink(0, 3, (1,))],
    )
    assert measure_healing(interest, two) == Healing(4, 2, 0)


def test_links_that_got_no_backup_are_one_again():
    interest = interest_of([{0, 1}, {0, 1}])
    links = with_backups(interest, [PlannedLink(0, 1, (0,)), PlannedLink(1, 0, (1,))], split=2)
    assert links == [PlannedLink(1, 0, (0, 1))]


def test_what_splitting_buys_on_a_mesh_of_fifty():
    """The more links an edge may have, the more is healed: all of it with two in each direction, here."""
    interest = generate_interest(workload_from_options(50, 40, "4:12", "zipf:1", 1))
    trees = build_topic_trees(interest, build_gm(interest).overlay)
    plain = with_backups(interest, tree_links(trees))
    ways = with_backups(interest, tree_links(trees, by_direction=True))
    split = with_backups(interest, tree_links(trees, by_direction=True), split=3)
    shares = [measure_healing(interest, links).share for links in (plain, ways, split)]
    assert 0 < shares[0] < shares[1] < shares[2]
    assert shares[2] > 0.95
    assert len(plain) < len(ways) < len(split)
    assert check_links(interest, split, classes=False) == []

"""Improving regions side by side must keep every connection that there was, whatever made the overlay."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.connectivity import components
from naive.overlays import measured, overlay_on, random_interest
from naive.regions import dealt_regions, improve_regions
from topicloom.overlay.builders.dcb_m import build_dcbr_m
from topicloom.overlay.builders.divide.polish import polish_group
from topicloom.overlay.builders.divide.regions import improve_region, topic_parts
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.measures.connectivity import check_overlay


def parts_of(interest, pairs):
    """The components of every topic, as sets of node numbers."""
    found = {}
    for topic in range(interest.n_topics):
        members = {str(node) for node in interest.nodes_of(topic).tolist()}
        ends = [(str(u), str(v)) for u, v in pairs]
        found[topic] = sorted(sorted(part) for part in components(members, ends))
    return found


@examples(60)
@given(measured(), st.integers(1, 4), st.integers(0, 3), st.integers(0, 2**16))
def test_no_part_of_a_topic_is_split_no_edge_more_no_degree_above(case, count, rounds, seed):
    # Split topics, empty overlays and lonely nodes are among these; regions are drawn, not dealt.
    interest, overlay = case
    region = np.random.default_rng(seed).integers(count, size=interest.n_nodes)
    before = list(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))
    after = improve_regions(interest, overlay, region, rounds=rounds, seed=seed)
    assert len(after) == len(set(after)) <= len(before)
    for topic, parts in parts_of(interest, before).items():
        joined = parts_of(interest, after)[topic]
        assert all(any(set(part) <= set(whole) for whole in joined) for part in parts)
    degrees = [np.bincount(np.array(pairs, int).ravel(), minlength=1).max() for pairs in (before, after)]
    assert degrees[1] <= degrees[0]


def test_a_group_whose_topics_are_whole_is_polished_as_in_a_build():
    interest = random_interest(60, 10, 3, seed=1)
    overlay = build_gm(interest).overlay
    asked = (overlay.degrees(), 6, 3, 5)
    one = improve_region(interest, (overlay.u, overlay.v), *asked)
    other = polish_group(interest, (overlay.u, overlay.v), *asked)
    assert [end.tolist() for end in one] == [end.tolist() for end in other]


def test_parts_are_numbered_by_topic_and_first_node():
    interest = random_interest(4, 2, 2)  # all want both
    found = topic_parts(interest, (np.array([1, 2], np.int32), np.array([3, 3], np.int32)))
    assert [found.topics_of(node).tolist() for node in range(4)] == [[0, 2], [1, 3], [1, 3], [1, 3]]


def test_the_groups_of_a_build_lose_edges():
    interest = random_interest(400, 30, 5, seed=2)
    built = build_dcbr_m(interest, kernel_nodes=120, seed=9)
    region = dealt_regions(interest, built.report["groups"], seed=9)
    after = improve_regions(interest, built.overlay, region, rounds=10, seed=1)
    assert len(after) < built.overlay.n_edges
    assert check_overlay(interest, overlay_on(interest, after)).topic_connected

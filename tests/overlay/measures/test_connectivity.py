"""The judge in memory against the definition, on sound and on broken overlays."""

from __future__ import annotations

import itertools

import networkx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.connectivity import verdict as naive_verdict
from topicloom.base.summaries import plain
from topicloom.overlay.measures.connectivity import check_overlay, sound_edges
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

NODES, TOPICS = "abcdefgh", "rstuv"
PAIRS = st.sets(st.tuples(st.sampled_from(NODES), st.sampled_from(TOPICS)), min_size=1, max_size=30)
EDGES = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=20)


@examples(300)
@given(pairs=PAIRS, rows=EDGES)
def test_the_verdict_is_the_definition(pairs: set[tuple[str, str]], rows: list[tuple[str, str]]) -> None:
    """Any difference from one search per topic is a false proof or a false alarm."""
    interest = Interest.from_pairs(pairs)
    names = sorted({*NODES})
    number = {name: i for i, name in enumerate(names)}
    u, v = (np.array([number[row[end]] for row in rows], dtype=np.int32) for end in (0, 1))
    raw = Overlay(pa.array(names), u, v)  # not canonical: loops, repeats and strangers included
    assert plain(check_overlay(interest, raw, n_witnesses=None).summary()) == naive_verdict(pairs, rows)


def tree_overlay(interest: Interest) -> list[tuple[int, int]]:
    """A path through the subscribers of every topic."""
    edges = set()
    for topic in range(interest.n_topics):
        nodes = interest.nodes_of(topic).tolist()
        edges |= set(itertools.pairwise(nodes))
    return sorted(edges)


def test_an_edge_taken_from_a_tree_is_missed_and_the_witness_is_true() -> None:
    """A judge that overlooks one missing edge proves nothing."""
    interest = Interest.from_pairs([(f"n{i:02}", "only") for i in range(30)] + [("n03", "x"), ("n17", "x")])
    edges = [(i, i + 1) for i in range(29)] + [(3, 17)]
    assert check_overlay(
        interest, Overlay.from_edges(interest.node_ids, *zip(*edges, strict=False))
    ).topic_connected
    edges = [edge for edge in edges if edge not in ((20, 21), (3, 17))]
    overlay = Overlay.from_edges(interest.node_ids, *zip(*edges, strict=True))
    verdict = check_overlay(interest, overlay)
    assert not verdict.topic_connected
    assert (verdict.topics, verdict.topics_partitioned, verdict.topic_components) == (2, 2, 4)
    graph = overlay.to_networkx()
    for witness in verdict.witnesses:
        members = interest.nodes_of(interest.topic_ids.to_pylist().index(witness.topic))
        induced = graph.subgraph(interest.node_ids.take(pa.array(members)).to_pylist())
        assert not networkx.has_path(induced, *witness.nodes)
        sizes = sorted(map(len, networkx.connected_components(induced)), reverse=True)
        assert list(witness.component_sizes) == sizes


def test_every_single_removed_edge_of_a_minimal_overlay_is_noticed() -> None:
    """Paths per topic with no common edge: each edge is needed."""
    interest = generate_interest(workload_from_options(60, 30, 3, "uniform", seed=3))
    edges = tree_overlay(interest)
    assert check_overlay(
        interest, Overlay.from_edges(interest.node_ids, *zip(*edges, strict=False))
    ).topic_connected
    noticed = 0
    for left_out in range(len(edges)):
        rest = edges[:left_out] + edges[left_out + 1 :]
        overlay = Overlay.from_edges(interest.node_ids, *zip(*rest, strict=True))
        pairs = [(row["node"], row["topic"]) for row in interest.to_arrow().to_pylist()]
        named = [(row["u"], row["v"]) for row in overlay.to_arrow().to_pylist()]
        verdict = check_overlay(interest, overlay, n_witnesses=None)
        assert plain(verdict.summary()) == naive_verdict(pairs, named)
        noticed += not verdict.topic_connected
    assert noticed > len(edges) / 2


def test_no_edges_at_all() -> None:
    """Topics with one subscriber are connected, all others are as many components as subscribers."""
    interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("b", "y"), ("c", "z")])
    verdict = check_overlay(interest, Overlay.from_edges(interest.node_ids, [], []))
    assert [(w.topic, w.component_sizes, w.nodes) for w in verdict.witnesses] == [
        ("x", (1, 1, 1), ("a", "b")),
        ("y", (1, 1), ("a", "b")),
    ]
    assert verdict.topic_components == 6
    assert verdict.clean


def test_an_empty_interest_is_connected() -> None:
    """Nothing to connect is no failure and no crash."""
    interest = Interest.from_pairs([])
    verdict = check_overlay(interest, Overlay.from_edges(interest.node_ids, [], []))
    assert verdict.topic_connected
    assert (verdict.topics, verdict.edges) == (0, 0)


def test_the_number_of_witnesses_is_kept() -> None:
    """The worst come first, and no more than asked for."""
    interest = Interest.from_pairs([(f"n{i}", f"t{t}") for t in range(1, 8) for i in range(t)])
    verdict = check_overlay(interest, Overlay.from_edges(interest.node_ids, [], []), n_witnesses=3)
    assert [witness.topic for witness in verdict.witnesses] == ["t7", "t6", "t5"]
    assert verdict.topics_partitioned == 6


@pytest.mark.parametrize("n_nodes", [2, 70_000])
def test_pairs_do_not_overflow(n_nodes: int) -> None:
    """70,000 squared is more than 32 bits: keys of pairs must be wider."""
    last = n_nodes - 1
    found = sound_edges(
        np.array([last, 0, last - 1, -1], dtype=np.int32), np.array([0, last, last, 0], np.int32), n_nodes
    )
    assert sorted(zip(found.low.tolist(), found.high.tolist(), strict=True)) == sorted(
        {(0, last), (last - 1, last)}
    )
    assert (found.unknown, found.loops) == (1, 0)
    assert found.duplicates == 3 - len(found.low)

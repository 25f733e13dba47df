"""Where nodes are drawn, what is sampled, and how numbers are packed."""

from __future__ import annotations

from base64 import b64decode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from report_pages import small_interest
from topicloom.overlay.graphs.layout import place_nodes
from topicloom.overlay.model.overlay import Overlay
from topicloom.report.drawing import graph as graphs
from topicloom.report.drawing.graph import choose_nodes, draw_overlays, pack


@given(st.lists(st.integers(0, 2**32 - 1)))
@examples(30)
def test_packed_numbers_are_read_back(values: list[int]) -> None:
    packed = pack(values)
    assert np.frombuffer(b64decode(packed.data), f"<u{packed.bits // 8}").tolist() == values


@pytest.mark.parametrize(("n", "edges"), [(0, []), (1, []), (3, []), (2, [(0, 1)]), (6, [(0, 1), (2, 3)])])
def test_every_graph_has_places_within_the_square(n: int, edges: list[tuple[int, int]]) -> None:
    u, v = np.array(edges, dtype=np.int32).reshape(-1, 2).T
    points = place_nodes(n, u, v)
    assert points.shape == (n, 2) and np.isfinite(points).all()
    assert ((points >= 0) & (points <= 1)).all()


def test_the_layout_is_the_same_every_time_and_shows_what_is_near() -> None:
    """Two rings with one edge between them: neighbors are nearer than the rest, in every run."""
    half = 30
    ring = [(i, (i + 1) % half) for i in range(half)]
    pairs = np.array([*ring, *((a + half, b + half) for a, b in ring), (0, half)], dtype=np.int32)
    one, other = (place_nodes(2 * half, pairs[:, 0], pairs[:, 1]) for _ in range(2))
    assert (one == other).all()
    linked = np.linalg.norm(one[pairs[:, 0]] - one[pairs[:, 1]], axis=1).mean()
    apart = np.linalg.norm(one[:half].mean(0) - one[half:].mean(0))
    assert linked < 0.5 * apart


def test_too_many_nodes_are_sampled_and_the_page_says_so(monkeypatch) -> None:
    monkeypatch.setattr(graphs, "MOST_NODES", 12)
    interest = small_interest(40)
    star = Overlay.from_edges(interest.node_ids, [7] * 5 + [20], [1, 2, 3, 4, 5, 21])
    chosen = choose_nodes(star).tolist()
    assert len(chosen) == 12 and {7, 1, 2, 3, 4, 5} <= {*chosen}
    drawing = draw_overlays(interest, [("star", star)])
    assert drawing.sampled and "12 of 40 nodes are drawn" in drawing.note
    assert drawing.nodes == [interest.node_ids[node].as_py() for node in chosen]


def test_of_a_dense_overlay_fewer_nodes_are_drawn(monkeypatch) -> None:
    """A single build is drawn at any density: as many nodes as have few enough edges among them."""
    monkeypatch.setattr(graphs, "MOST_EDGES", 10)
    interest = small_interest(30)
    u, v = np.triu_indices(30, 1)
    everybody = Overlay.from_edges(interest.node_ids, u, v)
    drawing = draw_overlays(interest, [("full", everybody)])
    assert drawing.sampled and len(drawing.nodes) == 5 and "5 of 30 nodes are drawn" in drawing.note
    assert len(drawing.graphs) == 1 and len(b64decode(drawing.graphs[0].u.data)) == 10


def test_overlays_with_too_many_edges_are_named_not_drawn(monkeypatch) -> None:
    monkeypatch.setattr(graphs, "MOST_EDGES", 3)
    interest = small_interest(10)
    few = Overlay.from_edges(interest.node_ids, [0], [1])
    many = Overlay.from_edges(interest.node_ids, [0, 0, 0, 0], [1, 2, 3, 4])
    drawing = draw_overlays(interest, [("few", few), ("many", many)])
    assert [graph.name for graph in drawing.graphs] == ["few"]
    assert "too many edges: many" in drawing.note

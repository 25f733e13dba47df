"""The whole summary: the promised keys, plain values, odd sizes, wrong overlays, progress and stopping."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from naive.overlays import interest_of, overlay_on, random_interest, random_overlay, star_per_topic
from topicloom.base.progress import Silent
from topicloom.errors import InputError, Interrupted
from topicloom.overlay.measures.load import topic_rates
from topicloom.overlay.measures.registry import MEASURES, measure_overlay
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

PROMISED = [
    "nodes",
    "topics",
    "subscriptions",
    "edges",
    "degree_max",
    "degree_avg",
    "topic_components",
    "topics_partitioned",
    "topic_connected",
    "degree_percentiles",
    "diameter_overlay",
    "diameter_topic_max",
    "diameter_topic_avg",
    "topics_per_edge_avg",
    "filtering_cost",
]


class Recorder(Silent):
    """Adds up what is advanced in each phase; stops after so many advances."""

    def __init__(self, stop_after: int | None = None) -> None:
        super().__init__()
        self.totals: dict[str, float | None] = {}
        self.done: dict[str, float] = {}
        self.current = ""
        self.left = stop_after

    def phase(self, name: str, total: float | None = None) -> None:
        self.current = name
        self.totals[name], self.done[name] = total, 0.0

    def advance(self, amount: float = 1) -> None:
        self.done[self.current] += amount
        if self.left is not None:
            self.left -= 1

    def should_stop(self) -> bool:
        return self.left is not None and self.left <= 0


def test_all_promised_keys_are_there_and_go_into_json() -> None:
    interest = random_interest(60, 6, 2)
    found = measure_overlay(interest, star_per_topic(interest))
    assert set(PROMISED) <= set(found)
    assert json.loads(json.dumps(found)) == found
    assert found["topic_connected"] is True
    assert found["diameter_topic_max"] <= 2
    assert found["filtering_cost"] == 0


def test_every_measure_gives_the_keys_its_line_promises() -> None:
    interest = random_interest(40, 5, 2)
    found = measure_overlay(interest, random_overlay(interest, 20))
    for name, measure in MEASURES.items():
        assert {figure.key for figure in measure.figures} <= set(found), name
    promised = [figure.key for measure in MEASURES.values() for figure in measure.figures]
    assert set(promised) == set(found)
    assert len(promised) == len(set(promised)), "two measures give the same key"


def test_the_smallest_interests_are_measured_too() -> None:
    nobody = Interest.from_pairs([])
    empty = measure_overlay(nobody, overlay_on(nobody, []))
    assert (empty["nodes"], empty["edges"], empty["degree_avg"], empty["topic_connected"]) == (
        0,
        0,
        0.0,
        True,
    )
    one = interest_of([{0}])
    single = measure_overlay(one, overlay_on(one, []))
    assert (single["topic_components"], single["diameter_overlay"], single["diameter_topic_max"]) == (1, 0, 0)
    json.dumps([empty, single])


def test_an_overlay_of_other_nodes_is_refused_by_name() -> None:
    interest = interest_of([{0}, {0}])
    with pytest.raises(InputError, match="not the interest's 2 nodes"):
        measure_overlay(interest, Overlay.from_edges(pa.array(["a", "b"]), [0], [1]))


def test_a_broken_overlay_shows_in_the_figures() -> None:
    """Taking any edge of a star away must be seen: a summary that still says connected proves nothing."""
    interest = interest_of([{0, 1}, {0}, {0}, {1}])
    whole = star_per_topic(interest)
    for gone in range(whole.n_edges):
        keep = np.arange(whole.n_edges) != gone
        found = measure_overlay(interest, Overlay.from_edges(whole.node_ids, whole.u[keep], whole.v[keep]))
        assert found["topic_connected"] is False
        assert found["topic_components"] == interest.n_topics + 1
        assert found["filtering_unreachable"] == 1


def test_progress_ends_where_it_promised_and_a_stop_is_honoured() -> None:
    interest = random_interest(300, 20, 4)
    overlay = random_overlay(interest, 300)
    told = Recorder()
    measure_overlay(interest, overlay, progress=told)
    assert {"topic components", "topic diameters", "filtering cost", "topics per edge"} <= set(told.done)
    for name in ("topic components", "topic diameters", "filtering cost", "topics per edge"):
        assert told.done[name] == pytest.approx(told.totals[name])
    with pytest.raises(Interrupted):
        measure_overlay(interest, overlay, progress=Recorder(stop_after=3))


def test_load_weighs_topics_by_what_their_publishers_send() -> None:
    plain = interest_of([{0, 1}, {0, 1}, {0}])
    overlay = overlay_on(plain, [(0, 1), (1, 2)])
    nodes, topics = plain.pair_nodes(), plain.node_topics
    rated = Interest.from_codes(
        plain.node_ids,
        plain.topic_ids,
        nodes,
        topics,
        roles=np.array([1, 0, 0, 2, 0], dtype=np.uint8),
        rates=np.array([5.0, 100.0, 100.0, 0.5, np.nan]),
    )
    assert topic_rates(plain) is None
    found = topic_rates(rated)
    assert found is not None
    assert found.tolist() == [5.0, 0.5]
    assert measure_overlay(plain, overlay)["load_max"] == 3.0
    loaded = measure_overlay(rated, overlay)
    assert (loaded["load_max"], loaded["load_unit"]) == (10.5, "messages")


def test_long_and_short_topic_lists_meet_correctly() -> None:
    """One node with many topics takes the lookup path of the kernel instead of the merge."""
    interest = interest_of([set(range(200)), {0, 57, 199}, {300, 301}, {5, 300}])
    found = measure_overlay(interest, overlay_on(interest, [(0, 1), (0, 2), (0, 3)]))
    assert found["topics_per_edge_avg"] == pytest.approx((3 + 0 + 1) / 3)
    assert found["edges_unused"] == 1

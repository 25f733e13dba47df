"""The search for lower bounds as a whole: sound at every effort, sharp enough, and able to stop."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from drawing import examples
from naive.exact import fewest_edges, lowest_degree
from strategies import interests
from topicloom.base.progress import Silent
from topicloom.errors import Interrupted
from topicloom.overlay.builders.gm import build_gm, build_gm_m
from topicloom.overlay.measures.bounds import (
    BRIEF,
    COUNTS,
    FULL,
    OVERLAPS,
    SHORT,
    Effort,
    bound_overlays,
    choose_effort,
    rare_topics,
)
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

pytestmark = pytest.mark.slow

SMALL = Effort(
    "small", FULL.edge_rounds[:4], FULL.degree_rounds[:3], trees=True, cover_work=1e9, cover_sets=1000
)
EFFORTS = [SMALL, SHORT, BRIEF, OVERLAPS, COUNTS]


@pytest.mark.parametrize("effort", EFFORTS, ids=lambda effort: effort.name)
@examples(15)
@given(interest=interests(max_nodes=5, max_topics=5))
def test_no_effort_is_ever_above_the_optimum(effort, interest):
    """Small interests get the full search by themselves; the short ones must be sound as well."""
    if interest.n_nodes > 6:
        return
    found = bound_overlays(interest, effort=effort)
    assert found.edges_bound <= fewest_edges(interest)
    assert found.degree_max_bound <= lowest_degree(interest)[0]


@pytest.mark.parametrize("effort", EFFORTS, ids=lambda effort: effort.name)
def test_at_300_nodes_the_bound_is_below_every_overlay_and_not_by_far(effort):
    """Many twins, topics of one subscriber, two parts: what hides mistakes in small cases."""
    base = generate_interest(workload_from_options(200, 40, "3:12", "zipf:1", 5)).to_arrow().to_pylist()
    pairs = [(row["node"], row["topic"]) for row in base]
    pairs += [(f"twin{node}", topic) for node, topic in pairs[: len(pairs) // 3]]
    pairs += [(f"far{i}", f"far{j}") for i in range(30) for j in (i // 3, i % 3)]
    pairs += [(f"n{i:04}", f"own{i}") for i in range(1, 20)]
    interest = Interest.from_pairs(pairs)
    found = bound_overlays(interest, effort=effort)
    gm, gm_m = build_gm(interest).overlay, build_gm_m(interest).overlay
    assert found.edges_bound <= gm.n_edges
    assert found.degree_max_bound <= gm_m.degrees().max()
    sharp = {"small": 0.85, "prices, short search": 0.8, "prices, brief search": 0.8}
    assert found.edges_bound >= sharp.get(effort.name, 0.6) * gm.n_edges
    assert found.details["components"] == 2


def test_parts_are_bounded_one_by_one():
    """Side by side, two interests need the edges of both, and the larger of the two degrees."""
    one = [("a", "w"), ("b", "w"), ("b", "x"), ("c", "x"), ("c", "y"), ("a", "y")]  # a triangle: 3 edges
    two = [("d", "s"), ("e", "s"), ("e", "t"), ("f", "t")]  # a path: 2 edges
    found = bound_overlays(Interest.from_pairs(one + two))
    assert (found.edges_bound, found.degree_max_bound) == (5, 2)


def test_nothing_to_connect():
    """No nodes, or no topic that two of them want: nothing is needed and nothing fails."""
    for interest in (Interest.from_pairs([]), Interest.from_pairs([("a", "x"), ("b", "y")])):
        for effort in (None, *EFFORTS):
            found = bound_overlays(interest, effort=effort)
            assert (found.edges_bound, found.degree_max_bound) == (0, 0)


def popular(n_nodes: int) -> Interest:
    """One topic that everybody wants."""
    nodes = np.arange(n_nodes)
    empty = Interest.from_pairs([("n", "t")])
    names = np.char.add("n", np.char.zfill(nodes.astype(str), 7)).tolist()
    return Interest.from_codes(pa.array(names), empty.topic_ids, nodes, np.zeros(n_nodes, np.int64))


def test_the_effort_follows_from_the_size_alone():
    """Hours of work without a word would be no better than no bound."""
    names = [choose_effort(popular(n)).name for n in (100, 5_000, 20_000, 80_000, 150_000, 400_000)]
    assert names == ["prices and trees", "prices", SHORT.name, BRIEF.name, "overlaps", "components"]


def test_rare_topics_are_a_part_of_the_interest():
    """Leaving out topics may only take demands away."""
    interest = generate_interest(workload_from_options(100, 20, "3:6", "zipf:1", 1))
    sizes = interest.topic_sizes()
    rare = rare_topics(interest, float((np.sort(sizes)[:10] ** 2).sum()))
    kept = rare.topic_sizes()
    assert (kept[kept > 0] == sizes[kept > 0]).all()
    assert 0 < np.count_nonzero(kept) <= 11
    assert kept.max() <= sizes[kept == 0].min()


def test_the_user_may_stop_it():
    class Stopping(Silent):
        def should_stop(self) -> bool:
            return True

    interest = generate_interest(workload_from_options(60, 12, "3", "uniform", 2))
    with pytest.raises(Interrupted):
        bound_overlays(interest, progress=Stopping(None))


def test_the_published_workload_is_bounded_as_sharply_as_before():
    """1,000 nodes, 100 topics, 10 subscriptions, zipf:0.5: 4.66 on average was reached, 5 at most."""
    interest = generate_interest(workload_from_options(1000, 100, "10", "zipf:0.5", 1))
    found = bound_overlays(interest)
    assert found.method == "prices and trees"
    assert 2 * found.edges_bound / 1000 > 4.62
    assert found.degree_max_bound == 5

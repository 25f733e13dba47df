"""The numbers of [Chockler2007b], printed and reproduced; larger sizes are in benchmarks/."""

from __future__ import annotations

import pytest

from spidercast.simulator.worlds import rss, run
from topicloom.overlay.model.interest import Interest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("nodes", "expected"), [(1_000, 10.84), (2_000, 10.13)])
def test_average_degree_of_figure_12(nodes: int, expected: float) -> None:
    """(3,0)-coverage with full views: were a rule of the protocol read wrongly, degrees would differ."""
    outcome = run(rss(nodes))
    last = outcome.snapshots[-1]
    assert outcome.settled
    assert last["degree_avg"] == pytest.approx(expected, rel=0.02)
    assert last["topics_partitioned"] == 0
    assert last["diameter_overlay"] <= 6, "the diameters that the paper prints are those of the overlay"
    assert last["diameter_topic_max"] <= 11


@pytest.mark.parametrize(
    ("protocol", "settings", "expected"),
    [
        ("similarity", ("similar=10",), 10.1),
        ("similarity", ("similar=9", "random=1"), 10.3),
        ("similarity", ("similar=8", "random=2"), 10.3),
        ("similarity", ("similar=7", "random=3"), 10.3),
        ("similarity", ("similar=20",), 20.1),
        ("random", ("random=10",), 10.1),
    ],
)
def test_other_rows_of_figure_12(protocol: str, settings: tuple[str, ...], expected: float) -> None:
    last = run(rss(1_000), *settings, protocol=protocol).snapshots[-1]
    assert last["degree_avg"] == pytest.approx(expected, rel=0.03)
    assert last["topics_partitioned"] > 0, "only coverage connects every topic"


def test_fewer_similar_links_leave_more_parts() -> None:
    """Figure 13: random links in place of similar ones make it worse, unlike in SpiderCast."""
    parts = [
        run(rss(1_000), f"similar={similar}", f"random={10 - similar}", protocol="similarity").snapshots[-1]
        for similar in (10, 7, 0)
    ]
    components = [last["topic_components"] for last in parts]
    assert components == sorted(components)


def test_views_of_five_percent_keep_every_topic_connected() -> None:
    """Section 3.7; it costs 27% to 35% more links."""
    full, part = (
        run(rss(4_000), f"view={share}", "settle=3", "diameters=never").snapshots[-1] for share in (1, 0.05)
    )
    assert part["topics_partitioned"] == 0
    assert 1.25 <= part["degree_avg"] / full["degree_avg"] <= 1.37


def test_gossip_finds_views_by_itself() -> None:
    """From three known nodes each, with no view given, every topic ends up connected."""
    outcome = run(rss(300), "view=gossip", "seconds=25")
    assert outcome.snapshots[-1]["topics_partitioned"] == 0


def test_orderly_churn_keeps_every_snapshot_connected() -> None:
    """Section 3.8, shorter: every node leaves and comes back with other topics about twice."""
    outcome = run(rss(400), "life=100", "seconds=250", "snapshot=25", "diameters=never")
    assert [row["topics_partitioned"] for row in outcome.snapshots] == [0] * 10
    last = outcome.snapshots[-1]
    assert last["departures"] > 600
    assert last["crashes"] == 0
    assert last["nodes"] == pytest.approx(320, abs=40), "a fifth of the nodes is away at any time"


def test_adaptive_random_coverage_where_interests_are_alike() -> None:
    """Section 3.3.1: where all want the same, three greedy links cover everything and random ones are added
    until a node has as many links as topics; interests like RSS need none."""
    same = Interest.from_pairs([(f"n{node}", f"t{topic}") for node in range(60) for topic in range(10)])
    plain, adaptive = (run(same, f"kr={kr}").snapshots[-1] for kr in ("0", "adaptive"))
    assert 3 <= plain["degree_avg"] < 5
    assert plain["degree_avg"] + 1 < adaptive["degree_avg"] <= 10
    assert adaptive["diameter_overlay"] <= plain["diameter_overlay"]
    assert run(rss(1_000), "kr=adaptive").snapshots[-1]["degree_avg"] == pytest.approx(10.84, rel=0.02)

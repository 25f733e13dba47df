"""Crashes without LEAVE: what the paper does not survive, we do (docs/spidercast.md)."""

from __future__ import annotations

import pytest

from spidercast.simulator.worlds import rss, run

pytestmark = pytest.mark.slow

CRASHES = ("life=60", "crash=1", "until=60", "seconds=68", "snapshot=1", "diameters=never")


def partitioned(*settings: str) -> tuple[int, list[float]]:
    """Partitioned topics in all snapshots from the fifth second on, and the times of those after the end."""
    rows = run(rss(500), *CRASHES, *settings).snapshots
    late = [row["time"] for row in rows if row["time"] > 63 and row["topics_partitioned"]]
    return sum(row["topics_partitioned"] for row in rows if row["time"] >= 5), late


def test_topics_are_whole_again_when_crashes_end() -> None:
    """The last crash is noticed at 63 s at the latest; from there on nothing may be in parts for long."""
    total, late = partitioned()
    assert late == []
    assert total <= 12, "a rare thing among 6,400 topics in snapshots"


def test_doubting_silent_neighbors_is_what_helps() -> None:
    """The check of the check: counting on dead neighbors until they are given up, many topics break."""
    with_doubt, without = partitioned("root=off")[0], partitioned("root=off", "doubt=3")[0]
    assert without > 3 * with_doubt + 10


def test_every_event_reaches_every_subscriber_that_stayed() -> None:
    """Whoever was there and wanted the topic gets the event, over repaired links if need be."""
    outcome = run(rss(400), *CRASHES, "publish=10")
    last = outcome.snapshots[-1]
    assert last["published"] > 500
    assert last["crashes"] > 300
    assert last["missing"] == 0
    assert last["expected"] > 20_000
    assert last["repaired"] > 0, "otherwise nothing was tested"
    assert last["longest_wait"] < 10


def test_trees_stay_short_under_crashes() -> None:
    """A tree is for all publishers, so a path in it may be twice as long as the shortest one; after
    hundreds of its links broke it is not much more."""
    words = ("life=100", "crash=1", "until=60", "seconds=68", "publish=10", "diameters=end")
    last = run(rss(400), *words).snapshots[-1]
    assert last["crashes"] > 150
    assert last["diameter_topic_max"] == 6
    assert last["hops_avg"] <= 4.4
    assert last["hops_max"] <= 14


def test_events_arrive_in_spite_of_losses() -> None:
    outcome = run(rss(200), "loss=0.05", "latency=0.005:0.05", "seconds=30", "publish=10")
    last = outcome.snapshots[-1]
    assert last["messages_lost"] > 0
    assert last["topics_partitioned"] == 0
    assert last["published"] > 200
    assert last["missing"] == 0

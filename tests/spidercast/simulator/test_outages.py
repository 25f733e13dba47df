"""Cuts of the network, closed groups, paused processes: after each of them every topic must be whole."""

from __future__ import annotations

import pytest

from spidercast.simulator.worlds import departments, mixed, run

FAST = "diameters=never"


@pytest.mark.parametrize("view", ["view=1", "view=gossip"])
@pytest.mark.parametrize("seconds", [5, 60])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_cut_heals_within_five_seconds(view: str, seconds: int, seed: int) -> None:
    end = 20 + seconds
    outcome = run(mixed(60, seed), view, f"cut=20:{end}", f"seconds={end + 10}", FAST, seed=seed)
    assert outcome.healed_after is not None
    assert outcome.healed_after <= 5
    assert outcome.snapshots[-1]["topics_partitioned"] == 0


@pytest.mark.parametrize("view", ["view=1", "view=gossip"])
@pytest.mark.parametrize(("nodes", "size"), [(60, 4), (60, 12), (200, 4), (200, 40)])
def test_departments_with_a_common_topic_are_whole(view: str, nodes: int, size: int) -> None:
    last = run(departments(nodes, size), view, "seconds=40", FAST).snapshots[-1]
    assert last["topics_partitioned"] == 0
    assert last["degree_avg"] <= 3.2 * 1.3


def test_a_cut_keeps_the_two_sides_apart_while_it_lasts() -> None:
    """The check of the check: a cut that lets something through would make healing look easy."""
    outcome = run(mixed(60), "cut=20:40", "seconds=41", "snapshot=1", FAST)
    split = {row["time"]: row["topics_partitioned"] for row in outcome.snapshots}
    assert split[19] == 0
    assert split[30] == split[39] > 5
    assert outcome.snapshots[-1]["messages_lost"] > 0


def test_without_a_cut_there_is_nothing_to_heal() -> None:
    assert run(mixed(60), "seconds=5", FAST).healed_after is None

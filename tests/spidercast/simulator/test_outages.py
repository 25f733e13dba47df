"""Cuts of the network, closed groups, paused processes: after each of them every topic must be whole."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from spidercast.simulator.worlds import departments, mixed, rss, run
from topicloom.spidercast.simulator.outages import Outages
from topicloom.spidercast.simulator.scenario import Scenario
from topicloom.spidercast.simulator.world import World

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
@pytest.mark.parametrize(
    ("nodes", "size"),
    [
        (60, 4),
        (60, 12),
        pytest.param(200, 4, marks=pytest.mark.slow),
        pytest.param(200, 40, marks=pytest.mark.slow),
    ],
)
def test_departments_with_a_common_topic_are_whole(view: str, nodes: int, size: int) -> None:
    last = run(departments(nodes, size), view, "seconds=40", FAST).snapshots[-1]
    assert last["topics_partitioned"] == 0
    assert last["degree_avg"] <= 3.2 * 1.3


@pytest.mark.slow
@pytest.mark.parametrize("view", ["view=1", "view=gossip"])
def test_a_cut_of_ten_minutes_heals_within_five_seconds(view: str) -> None:
    """After so long nobody remembers a node of the other side."""
    outcome = run(mixed(60), view, "cut=20:620", "seconds=628", FAST)
    assert outcome.healed_after is not None
    assert outcome.healed_after <= 5


@pytest.mark.slow
@pytest.mark.parametrize(("view", "seconds"), [("view=1", 5), ("view=1", 60), ("view=gossip", 60)])
def test_a_cut_of_200_nodes_heals_within_five_seconds(view: str, seconds: int) -> None:
    end = 20 + seconds
    outcome = run(mixed(200), view, f"cut=20:{end}", f"seconds={end + 6}", FAST)
    assert outcome.healed_after is not None
    assert outcome.healed_after <= 5


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [60, 200])
@pytest.mark.parametrize("size", [8, 20, 40])
def test_departments_take_at_most_30_percent_more_links_than_without_roots(nodes: int, size: int) -> None:
    interest = departments(nodes, size)
    off = run(interest, "root=off", FAST).snapshots[-1]
    on = run(interest, FAST).snapshots[-1]
    assert on["topics_partitioned"] == 0
    assert on["degree_avg"] <= 1.3 * off["degree_avg"]


@pytest.mark.slow
def test_gossip_at_a_thousand_nodes_needs_no_more_than_13_links() -> None:
    last = run(rss(1_000), "view=gossip", "seconds=25", FAST).snapshots[-1]
    assert last["topics_partitioned"] == 0
    assert last["degree_avg"] <= 13


def test_a_cut_keeps_the_two_sides_apart_while_it_lasts() -> None:
    """The check of the check: a cut that lets something through would make healing look easy."""
    outcome = run(mixed(60), "cut=20:40", "seconds=41", "snapshot=1", FAST)
    split = {row["time"]: row["topics_partitioned"] for row in outcome.snapshots}
    assert split[19] == 0
    assert split[30] == split[39] > 5
    assert outcome.snapshots[-1]["messages_lost"] > 0


def test_without_a_cut_there_is_nothing_to_heal() -> None:
    assert run(mixed(60), "seconds=5", FAST).healed_after is None


def test_half_of_the_nodes_paused_for_ten_seconds_do_no_lasting_harm() -> None:
    """Whoever wakes up excuses its own stall, and those it lost are found again."""
    last = run(mixed(60), "freeze=20:30:0.5", "seconds=45", FAST).snapshots[-1]
    assert last["topics_partitioned"] == 0


def test_three_cuts_in_a_row_heal() -> None:
    outcome = run(mixed(60), "cut=10:15,18:40:0.3,42:50", "seconds=60", FAST)
    assert outcome.healed_after is not None
    assert outcome.healed_after <= 5


def test_connections_with_order_set_up_time_and_bandwidth_change_nothing_in_the_end() -> None:
    words = ("fifo=true", "setup=0.05", "bandwidth=20000", "slow=0.1:5", "latency=0.005:0.05")
    last = run(mixed(60), *words, "seconds=30", FAST).snapshots[-1]
    assert last["topics_partitioned"] == 0


def test_a_trace_cuts_nodes_off_and_freezes_them(tmp_path: Path) -> None:
    rows = ["time,node,change", "10,n0001,cut", "10,n0002,freeze", "20,n0001,heal", "20,n0002,thaw"]
    (tmp_path / "trace.csv").write_text("\n".join(rows) + "\n")
    interest = departments(12, 4)
    outcome = run(interest, f"trace={tmp_path / 'trace.csv'}", "snapshot=9", "seconds=36", FAST)
    split = {row["time"]: row["topics_partitioned"] for row in outcome.snapshots}
    assert split[18] > 0
    assert split[36] == 0
    assert outcome.healed_after is not None, "a cut of a trace heals as any other"
    assert outcome.healed_after <= 5


def test_a_cut_of_a_trace_that_never_ends_does_not_heal(tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text("time,node,change\n1,n0002,cut\n2,n0002,heal\n10,n0001,cut\n")
    outcome = run(departments(12, 4), f"trace={tmp_path / 'trace.csv'}", FAST)
    assert outcome.healed_after is None


def test_entry_points_lie_on_both_sides_of_two_cuts() -> None:
    """Also where the only one across the first cut stands in the place that the second one would take."""
    interest = mixed(60)
    scenario = Scenario.of("spidercast", ["view=gossip", "cut=20:30,20:30", "seconds=40"], seed=1)
    outages = Outages(World(scenario.links(interest)), interest, scenario)
    (_, first), (_, second) = outages._cuts
    groups: dict[tuple[bool, bool], list[int]] = {}
    for node in range(60):
        groups.setdefault((node in first, node in second), []).append(node)
    assert len(groups) == 4
    here = list(range(60))
    for known in itertools.product(*[[nodes[0] for nodes in groups.values()]] * 3):
        chosen = outages.both_sides(list(known), here)
        for sides in (first, second):
            assert len({node in sides for node in chosen}) == 2, (known, chosen)


def test_a_trace_slows_connections_down(tmp_path: Path) -> None:
    """A node whose messages take a minute is lost to the others until it is as fast as before."""
    rows = ["time,node,change,value", "10,n0001,slow,6000", "10,n0002,bandwidth,1", "20,n0001,slow,1"]
    (tmp_path / "trace.csv").write_text("\n".join(rows) + "\n")
    outcome = run(departments(12, 4), f"trace={tmp_path / 'trace.csv'}", "snapshot=9", "seconds=36", FAST)
    split = {row["time"]: row["topics_partitioned"] for row in outcome.snapshots}
    assert split[9] == 0
    assert split[18] > 0


def test_the_paper_to_the_letter_does_not_heal() -> None:
    """The check of the check: without roots the same cut leaves topics split for ever."""
    outcome = run(mixed(60), "root=off", "cut=20:25", "seconds=40", FAST)
    assert outcome.healed_after is None
    assert set(outcome.messages).isdisjoint({"Probe", "AskInterest"})

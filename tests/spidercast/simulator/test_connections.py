"""What a driver would tell nodes of their connections: lost, refused, congested, closed."""

from __future__ import annotations

from pathlib import Path
from random import Random

from spidercast.simulator.worlds import mixed, run
from topicloom.overlay.model.interest import Interest
from topicloom.simulation.links import Links
from topicloom.simulation.shaping import Shape
from topicloom.spidercast.protocol.membership import PlainView
from topicloom.spidercast.protocol.messages import Topics
from topicloom.spidercast.protocol.node import Node
from topicloom.spidercast.simulator.run import SimulationOutcome
from topicloom.spidercast.simulator.world import World

X: Topics = frozenset((7,))
FAST = "diameters=never"


def world_of(names: range, *, reset: bool = True, shape: Shape | None = None) -> World:
    """Nodes that want one topic and know each other, five seconds old."""
    world = World(Links(lambda one, other: 0.01, None if shape else 0.01, shape), reset=reset)
    for name in names:
        others = {other: X for other in names if other != name}
        world.enter(
            name, Node(name, X, membership=lambda context, known=others: PlainView(known), rng=Random(name))
        )
    world.run(5.0)
    return world


def crashed(tmp_path: Path, *words: str) -> SimulationOutcome:
    """Three nodes of 60 crash at 10.05 s; a look every tenth of a second."""
    names = mixed(60).node_ids.to_pylist()
    rows = ["time,node,change", *(f"10.05,{name},crash" for name in names[:3])]
    (tmp_path / "trace.csv").write_text("\n".join(rows) + "\n")
    words = (f"trace={tmp_path / 'trace.csv'}", "seconds=12", "snapshot=0.1", FAST, *words)
    return run(mixed(60), *words)


def test_after_a_reset_neighbors_act_at_once_and_after_silence_they_do_not(tmp_path: Path) -> None:
    silent, reset = crashed(tmp_path), crashed(tmp_path, "reset=true")
    ended = [
        {round(row["time"], 1): row["links_ended"] for row in outcome.snapshots}
        for outcome in (silent, reset)
    ]
    assert ended[0][10.1] == ended[0][10.5], "the dead ends alone"
    dead_ends = ended[0][10.1] - ended[0][10.0]
    assert ended[1][10.1] - ended[1][10.0] >= 2 * dead_ends - 6, "both ends, but of links among the three"
    assert silent.connections == {"closed": 0, "lost": 0, "refused": 0, "congested": 0}
    assert reset.connections["lost"] > 0
    assert reset.connections["refused"] > 0, "a given view names the dead until the detectors notice"
    assert reset.snapshots[-1]["topics_partitioned"] == 0


def test_nodes_that_begin_in_the_same_moment_refuse_nothing() -> None:
    outcome = run(mixed(60), "reset=true", FAST)
    assert outcome.connections["refused"] == 0
    assert outcome.settled


def test_a_cut_keeps_a_reset_away() -> None:
    world = world_of(range(3))
    world.cuts.append({0: True})
    world.crash(0)
    world.run(5.5)
    assert world.connections.told["lost"] == 0


def test_a_paused_node_hears_of_a_reset_when_it_goes_on() -> None:
    world = world_of(range(3))
    world.freeze(1)
    world.crash(0)
    world.run(5.5)
    assert world.present(1).has_link(0)
    assert not world.present(2).has_link(0)
    world.thaw(1)
    assert not world.present(1).has_link(0)


def test_close_ends_the_link_of_the_other_end_too() -> None:
    world = world_of(range(3), reset=False)
    assert world.present(1).has_link(0)
    world.hand(0, 1, "no message of ours")  # type: ignore[arg-type]
    world.run(5.02)
    assert world.connections.told == {"closed": 1, "lost": 1}
    assert not world.present(1).has_link(0)


def test_a_slow_link_that_fills_up_is_congested_until_it_is_empty() -> None:
    shape = Shape(bandwidth=50_000.0, size_of=lambda message: len(getattr(message, "payload", b"")) + 50)
    world = world_of(range(2), shape=shape)
    for _ in range(20):
        world.publish(0, 7, {0, 1}, bytes(5_000))
    world.run(5.01)
    full = world.present(0)._dissemination._congested
    assert full == {1}
    assert world.connections.told["congested"] == 1
    world.run(12.0)
    assert not full
    assert world.connections.pending == 0
    assert world.counters.missing == 0


def test_a_run_with_little_bandwidth_counts_congestion() -> None:
    interest = Interest.from_pairs([(f"n{node}", "t") for node in range(6)])
    words = ("bandwidth=3000", "publish=200", "seconds=9", FAST)
    assert run(interest, *words).connections["congested"] > 0


def test_links_that_end_close_their_connections() -> None:
    """Whoever comes back, or is linked to again, opens a connection anew."""
    shape = Shape(setup=0.05)
    world = world_of(range(4), reset=False, shape=shape)
    assert any(0 in pair for pair in shape._open)
    world.crash(0)
    assert not any(0 in pair for pair in shape._open)
    world.tell(1, lambda node: node.lost(2, world.now))
    assert not {(1, 2), (2, 1)} & set(shape._open)

"""The course of a simulation: the same for a seed, changes in their time, snapshots that tell the truth."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from spidercast.simulator.worlds import rss, run
from topicloom.base.progress import Silent
from topicloom.errors import Interrupted, UsageError
from topicloom.overlay.model.interest import Interest
from topicloom.spidercast.protocol.messages import EventId
from topicloom.spidercast.protocol.node import Node
from topicloom.spidercast.simulator.run import SimulationRun, simulate
from topicloom.spidercast.simulator.scenario import Scenario
from topicloom.spidercast.simulator.world import Counters

pytestmark = pytest.mark.slow

BUSY = (
    "life=40", "crash=0.5", "seconds=30", "snapshot=3", "publish=5", "latency=0.005:0.02", "loss=0.01",
    "view=0.3",
)  # fmt: skip
FINGERPRINT = """
import hashlib, sys
from spidercast.simulator.worlds import rss, run
outcome = run(rss(120), *sys.argv[1:])
told = repr((outcome.snapshots, outcome.partitioned, outcome.messages, outcome.occurrences))
edges = outcome.moment.overlay.u.tobytes() + outcome.moment.overlay.v.tobytes()
print(hashlib.sha256(told.encode() + edges).hexdigest())
"""


def fingerprint(*settings: str, hash_seed: str = "0") -> str:
    environment = os.environ | {
        "PYTHONHASHSEED": hash_seed,
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    done = subprocess.run(
        [sys.executable, "-c", FINGERPRINT, *settings],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("more", [(), ("view=gossip",)], ids=["given views", "gossip"])
def test_a_seed_gives_the_same_run_in_every_process(more: tuple[str, ...]) -> None:
    """Byte for byte, whatever Python's hash seed: otherwise nobody could repeat a finding."""
    assert fingerprint(*BUSY, *more, hash_seed="1") == fingerprint(*BUSY, *more, hash_seed="2")


def test_another_seed_gives_another_run() -> None:
    one, other = (run(rss(120), seed=seed) for seed in (1, 2))
    assert one.moment.overlay.u.tolist() != other.moment.overlay.u.tolist()


def test_a_snapshot_on_the_way_does_not_change_the_course() -> None:
    plain, watched = (run(rss(200), "life=50", "seconds=20", *more) for more in ((), ("snapshot=1",)))
    assert len(watched.snapshots) == 20
    assert plain.snapshots[-1] == watched.snapshots[-1]
    assert plain.messages == watched.messages


@pytest.mark.parametrize("words", [(), ("root=off",), ("root=off", "kr=1"), ("root=off", "kr=adaptive")])
def test_a_run_ends_when_no_node_will_act_any_more(words: tuple[str, ...]) -> None:
    """However long it went on, no link would come or go."""
    first = run(rss(300), *words)
    later = run(rss(300), *words, f"seconds={first.moment.time + 30}")
    assert first.settled
    assert first.moment.time < 12, "it did not wait for a time without changes"
    assert later.moment.overlay.u.tolist() == first.moment.overlay.u.tolist()
    assert later.moment.overlay.v.tolist() == first.moment.overlay.v.tolist()


def test_a_run_in_which_somebody_always_acts_ends_after_a_while_without_changes() -> None:
    """Gossip never rests."""
    first = run(rss(60), "view=gossip", "settle=5")
    before = run(rss(60), "view=gossip", f"seconds={first.moment.time - 5}")
    assert first.settled
    assert before.moment.overlay.u.tolist() == first.moment.overlay.u.tolist()
    assert before.moment.overlay.v.tolist() == first.moment.overlay.v.tolist()


@pytest.mark.parametrize("latency", ["0.2", "0.3"])
def test_long_delays_do_not_keep_nodes_from_settling(latency: str) -> None:
    """Neighbors asked to part one after the other, before the first has answered, would all be missed."""
    near, far = (run(rss(200), f"latency={seconds}", "seconds=60") for seconds in ("0.01", latency))
    assert far.settled
    assert far.snapshots[-1]["links"] <= 1.1 * near.snapshots[-1]["links"]
    assert far.snapshots[-1]["topics_partitioned"] == 0


def test_departed_nodes_are_not_kept() -> None:
    """A long run with churn would otherwise fill the memory with the dead."""
    runner = SimulationRun(
        rss(100), Scenario.of("spidercast", ["life=5", "seconds=60", "crash=0.5", "publish=5"])
    )
    gc.collect()
    gc.disable()
    try:
        runner.finish()
        alive = sum(isinstance(thing, Node) for thing in gc.get_objects())
    finally:
        gc.enable()
    assert runner.population.departures > 500
    assert alive <= 110


def trace(tmp_path: Path, *rows: str) -> str:
    path = tmp_path / "trace.csv"
    path.write_text("\n".join(["time,node,change,topics", *rows]) + "\n")
    return f"trace={path}"


def home() -> Interest:
    wants = {"a": "xy", "b": "xy", "c": "xz", "d": "yz", "e": "x"}
    return Interest.from_pairs([(node, topic) for node, topics in wants.items() for topic in topics])


def test_a_trace_is_followed(tmp_path: Path) -> None:
    """d comes late, c leaves, a crashes, b wants another topic; e publishes before and after."""
    outcome = run(
        home(),
        trace(
            tmp_path,
            "2,e,publish,x",
            "5,d,join,",
            "6,c,leave,",
            "8,a,crash,",
            "10,b,subscribe,z",
            "15,e,publish,x",
        ),
        "snapshot=1",
    )
    nodes = {row["time"]: row["nodes"] for row in outcome.snapshots}
    assert nodes[4.0] == 4
    assert nodes[5.0] == 4, "who joined a moment ago is left out"
    assert nodes[8.0] == 3
    last = outcome.snapshots[-1]
    assert outcome.moment.time == 15 + 12
    assert last["nodes"] == 3
    assert last["published"] == 2
    assert last["expected"] == 4 + 2, "a, b, c, e at first; then b and e"
    assert last["missing"] == 0
    names = outcome.moment.interest.to_arrow().to_pylist()
    assert {"node": "b", "topic": "z"} in names
    assert {row["node"] for row in names} == {"b", "d", "e"}
    assert last["topics_partitioned"] == 0
    assert last["crashes"] == 1
    assert last["departures"] == 2


def test_one_sided_and_dead_links_do_not_count() -> None:
    """Just after a crash no link to the dead node is shown, though its neighbors still believe in it."""
    runner = SimulationRun(rss(100), Scenario.of("spidercast", ["seconds=5"], seed=1))
    runner.population.begin()
    runner.world.run(5.0)
    victim = max(range(100), key=lambda node: len(runner.world.present(node).neighbors))
    before = runner._snapshot()
    runner.world.crash(victim)
    del runner.population.joined[victim]
    after = runner._snapshot()
    assert any(node.has_link(victim) for _, node in runner.world.here())
    degree = int(before.overlay.degrees()[victim])
    assert degree > 0
    assert after.overlay.n_edges == before.overlay.n_edges - degree
    assert victim not in after.present


def test_a_run_can_be_stopped() -> None:
    class Impatient(Silent):
        def should_stop(self) -> bool:
            return True

    with pytest.raises(Interrupted):
        simulate(rss(100), Scenario.of("spidercast", []), progress=Impatient())


@pytest.mark.parametrize("view", ["1", "0.5", "gossip"])
def test_a_lonely_node_and_an_empty_interest_end(view: str) -> None:
    """Nobody to talk to is no reason to run for ever."""
    lonely = run(Interest.from_pairs([("a", "x")]), f"view={view}")
    assert lonely.settled
    assert lonely.snapshots[-1]["degree_max"] == 0
    nobody = run(Interest.from_pairs([]), f"view={view}")
    assert nobody.snapshots[-1]["nodes"] == 0


def test_links_are_counted_at_both_ends() -> None:
    last = run(rss(150), "life=30", "crash=1", "until=40", "seconds=50", "diameters=never").snapshots[-1]
    assert last["crashes"] > 50
    assert last["links_made"] - last["links_ended"] == 2 * last["links"]


def test_a_node_that_leaves_and_comes_back_at_once_is_known_again(tmp_path: Path) -> None:
    outcome = run(home(), trace(tmp_path, "0,a,leave,", "0,a,join,"))
    assert outcome.moment.overlay.degrees()[0] > 0


def test_a_trace_that_goes_on_after_the_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it goes on until 9 s, after the end of the run"):
        run(home(), trace(tmp_path, "9,a,leave,"), "seconds=5")


def test_closed_groups_are_opened_by_random_links() -> None:
    """Four nodes each that share a topic of their own cover all they want: greedy links never leave them.
    Roots would open them too (test_outages.py)."""
    pairs = [(f"n{n:03}", topic) for n in range(80) for topic in (f"t{n % 20}", "all")]
    parts = {
        kr: run(Interest.from_pairs(pairs), f"kr={kr}", "root=off").snapshots[-1]
        for kr in ("0", "1", "adaptive")
    }
    assert parts["0"]["topic_components"] == 21 + 19
    assert parts["1"]["topics_partitioned"] == parts["adaptive"]["topics_partitioned"] == 0


def deliveries(
    monkeypatch: pytest.MonkeyPatch, *settings: str
) -> dict[tuple[int, object, object], list[int]]:
    """The numbers of the events that each node got of each stream, in order."""
    got: dict[tuple[int, object, object], list[int]] = {}
    deliver = Counters.deliver

    def record(self: Counters, node: int, event: EventId, hops: int, now: float) -> None:
        got.setdefault((node, event.publisher, event.topic), []).append(event.number)
        deliver(self, node, event, hops, now)

    interest = Interest.from_pairs([(f"n{n}", topic) for n in range(12) for topic in "xy"])
    settings += ("latency=0.001:0.2", "seconds=30", "publish=50", "order_wait=4")
    with monkeypatch.context() as patch:
        patch.setattr(Counters, "deliver", record)
        assert run(interest, *settings).snapshots[-1]["missing"] == 0
    return got


def test_order_is_kept_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first part is the check of the check: without the option events do overtake each other."""
    plain = deliveries(monkeypatch)
    assert any(numbers != sorted(numbers) for numbers in plain.values())
    ordered = deliveries(monkeypatch, "ordered=true")
    assert all(numbers == sorted(numbers) for numbers in ordered.values())
    for numbers in (*plain.values(), *ordered.values()):
        assert len(numbers) == len(set(numbers)), "an event came twice"

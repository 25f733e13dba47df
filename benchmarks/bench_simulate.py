"""SpiderCast in the simulator: the numbers of [Chockler2007b], churn, crashes, and the time they take.

The time of a case is that of the whole command, start of Spark and ingest included; `simulate` is the
simulation alone.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from functools import partial
from math import inf
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time
from typing import Any

from benchmarks.harness import (
    Figure,
    NotRun,
    Options,
    Row,
    attempt,
    checked,
    fit_exponent,
    in_child,
    json_of,
    run_command,
    topicloom_command,
)

TITLE = "SpiderCast simulated"
DEGREES = {1_000: 10.84, 2_000: 10.13, 4_000: 9.59, 6_000: 9.32, 8_000: 9.14, 10_000: 9.02}
PRINTED = {1_000: 10.81, 2_000: 10.11, 4_000: 9.53, 6_000: 9.24, 8_000: 9.08, 10_000: 8.95}
ROWS = {  # Figure 12: average degrees that reproduce, at every number of nodes
    "similarity(10,0)": (("similarity", "similar=10", "random=0"), 10.1),
    "similarity(9,1)": (("similarity", "similar=9", "random=1"), 10.3),
    "similarity(8,2)": (("similarity", "similar=8", "random=2"), 10.3),
    "similarity(7,3)": (("similarity", "similar=7", "random=3"), 10.3),
    "similarity(20,0)": (("similarity", "similar=20", "random=0"), 20.1),
    "random(10)": (("random", "random=10"), 10.1),
}
SETTLED = {"off": 6.0, "on": 8.0}  # seconds asked for with 10,000 nodes; roots may cost a third more
ROOTS_COST = 1.33  # processor time with roots, as a multiple of that without
LARGE = {"off": (90.0, 2_500.0), "on": (120.0, 3_300.0)}  # 100,000 nodes: seconds, megabytes
CRASHES = ("life=100", "crash=1", "until=300", "seconds=309", "snapshot=1", "diameters=end")
RATE, BURST_NODES, BURST_START = 5_000, 20, 8.0
# Events, bytes of each, `keep_bytes`: a memory that is not filled, and one for 1.6 heartbeats.
BURSTS = ((3_000, 0, 64 << 20), (9_000, 200, 3_900_000))
WHOLE_AGAIN = 308.0  # the last crash is noticed at 303 s

Cells = Mapping[str, Figure | str]


def run(options: Options) -> Iterator[Row]:
    sizes = list(DEGREES)[: 2 if options.quick else None]
    for root in ("off", "on"):
        table = f"spidercast (3,0), full views, root={root}, T=100 s=10 rss, until settled"
        seconds: dict[int, float] = {}
        for count in sizes:
            yield attempt(table, f"V={count:,}", partial(_degree_cells, options, count, root, seconds))
        if not options.quick:
            grown = partial(_growth_cells, seconds)
            yield attempt("growth of the time, seconds ~ V^e", f"until settled, root={root}", grown)
    table = "what roots cost: processor time of the simulation alone until settled, best of three by turns"
    for count in (4_000,) if options.quick else (4_000, 10_000):
        yield attempt(table, f"V={count:,}", partial(_ratio_cells, options, count))
    table = "Figure 12: average degree and its distance from the value that reproduces; topics split"
    for name, (words, expected) in ROWS.items():
        for count in (1_000,) if options.quick else (1_000, 4_000):
            yield attempt(table, f"{name} V={count:,}", partial(_row_cells, options, count, words, expected))
    table = "partial views"
    for count, share, root in (
        (4_000, 0.05, "on"),
        (8_000, 0.05, "on"),
        (100_000, 0.01, "off"),
        (100_000, 0.01, "on"),
    ):
        case = f"V={count:,} view={share:g} root={root}"
        yield attempt(table, case, partial(_view_cells, options, count, share, root))
    yield attempt(table, "V=1,000 view=gossip", partial(_gossip_cells, options))
    table = "seconds from the end of a cut until no topic is split"
    for count, view, cut in (
        (1_000, "1", 5), (1_000, "1", 60), (200, "1", 5), (200, "1", 60), (200, "1", 600),
        (200, "gossip", 60), (60, "gossip", 600),
    ):  # fmt: skip
        yield attempt(
            table, f"V={count:,} view={view}, {cut} s", partial(_cut_cells, options, count, view, cut)
        )
    table = "churn of 3.8: V=1,250, 1,000 simulated seconds, snapshots every 200 s"
    for life in (100, 500):
        for root in ("on", "off"):
            yield attempt(table, f"life={life} s root={root}", partial(_churn_cells, options, life, root))
    table = "crashes without LEAVE: V=1,250, life=100 s for 300 s, 3 s detector, a snapshot every second"
    for name, more in (
        ("without doubt", ("doubt=3",)),
        ("topicloom", ()),
        ("root=off", ("root=off",)),
        ("with kg=4", ("kg=4",)),
    ):
        yield attempt(table, name, partial(_crash_cells, options, more))
    yield attempt("events under the same crashes, 5 per second", "topicloom", partial(_event_cells, options))
    table = "5,000 events per second on one topic, 20 nodes, three crash at once"
    for events, size, keep in BURSTS:
        case = f"{events:,} events of {size} bytes, keep_bytes={keep:,}"
        yield attempt(table, case, partial(_burst_cells, events, size, keep))


def _simulate(
    options: Options, nodes: int, *words: str, protocol: str = "spidercast"
) -> tuple[dict[str, Any], Any]:
    path = _table(options, nodes)
    settings = [f"--set={word}" for word in words]
    command = ["simulate", str(path), "--protocol", protocol, *settings, "--seed", "1", "--json", "--quiet"]
    done = checked(run_command(topicloom_command(*command)))
    return json_of(done), done


def _table(options: Options, nodes: int) -> Path:
    path = options.scratch / f"simulate-{nodes}.parquet"
    if not path.exists():
        shape = ["--topics", "100", "--subscriptions", "10", "--popularity", "rss", "--seed", "1"]
        checked(
            run_command(topicloom_command("generate", str(path), "--nodes", str(nodes), *shape, "--quiet"))
        )
    return path


def _degree_cells(options: Options, count: int, root: str, seconds: dict[int, float]) -> Cells:
    summary, done = _simulate(options, count, f"root={root}")
    seconds[count] = summary["seconds"]["simulate"]
    return {
        "average degree": f"{summary['degree_avg']:.2f}",
        "off (expected)": _off(summary["degree_avg"], DEGREES[count], 2.0),
        "off (printed)": f"{100 * (summary['degree_avg'] / PRINTED[count] - 1):+.1f}%",
        "maximum": str(summary["degree_max"]),
        "topics split": Figure(summary["topics_partitioned"], "", 0),
        "diameter": f"{summary['diameter_overlay']}, in topics {summary['diameter_topic_max']}",
        "messages per node": f"{summary['messages_per_node']:.1f}",
        "simulate": Figure(seconds[count], "s", SETTLED[root] if count == 10_000 else None),
        "time": f"{done.seconds:.0f} s",
    }


def _ratio_cells(options: Options, count: int) -> Cells:
    path, best = str(_table(options, count)), {"off": inf, "on": inf}
    for _ in range(3):
        for root in best:
            found = in_child("bench_simulate:measure_settling", path=path, root=root)
            best[root] = min(best[root], found["seconds"])
    return {
        "root=off": f"{best['off']:.1f} s",
        "with roots": f"{best['on']:.1f} s",
        "roots : off": Figure(best["on"] / best["off"], "", ROOTS_COST),
    }


def measure_settling(path: str, root: str) -> dict[str, float]:
    import topicloom
    from topicloom.spidercast.simulator.run import simulate
    from topicloom.spidercast.simulator.scenario import Scenario

    interest = topicloom.read(path)
    scenario = Scenario.of("spidercast", [f"root={root}", "diameters=never"], seed=1)
    # Machine code is loaded by a small run before.
    simulate(topicloom.Interest.from_pairs([("a", "x"), ("b", "x")]), scenario)
    before = process_time()
    simulate(interest, scenario)
    return {"seconds": process_time() - before}


def _off(measured: float, expected: float, allowed: float) -> Figure:
    return Figure(100 * abs(measured / expected - 1), f"% of {expected}", allowed)


def _growth_cells(seconds: Mapping[int, float]) -> Cells:
    if len(seconds) < len(DEGREES):
        raise NotRun("not every size was run")
    return {"e": f"{fit_exponent(list(seconds), list(seconds.values())):.2f}"}


def _row_cells(options: Options, count: int, words: tuple[str, ...], expected: float) -> Cells:
    summary, _ = _simulate(options, count, *words[1:], protocol=words[0])
    return {
        "average degree": f"{summary['degree_avg']:.2f}",
        "off": _off(summary["degree_avg"], expected, 3.0),
        "topics split": str(summary["topics_partitioned"]),
        "components": str(summary["topic_components"]),
    }


def _view_cells(options: Options, count: int, share: float, root: str) -> Cells:
    large = count == 100_000
    if large and options.quick:
        raise NotRun("left out by --quick")
    words = [f"view={share}", f"root={root}", *(["diameters=never"] if large else [])]
    summary, done = _simulate(options, count, *words)
    asked = LARGE[root] if large else (None, None)
    return {
        "average degree": f"{summary['degree_avg']:.2f}",
        "maximum": str(summary["degree_max"]),
        "topics split": Figure(summary["topics_partitioned"], "", 0),
        "simulate": Figure(summary["seconds"]["simulate"], "s", asked[0]),
        "time": f"{done.seconds:.0f} s",
        "memory of all processes": Figure(done.megabytes, "MB", asked[1]),
    }


def _gossip_cells(options: Options) -> Cells:
    summary, _ = _simulate(options, 1_000, "view=gossip")
    return {
        "average degree": Figure(summary["degree_avg"], "", 13.0),
        "maximum": str(summary["degree_max"]),
        "topics split": Figure(summary["topics_partitioned"], "", 0),
        "simulate": f"{summary['seconds']['simulate']:.1f} s",
    }


def _cut_cells(options: Options, count: int, view: str, cut: int) -> Cells:
    words = (f"view={view}", f"cut=20:{20 + cut}", f"seconds={40 + cut}", "diameters=never")
    summary, _ = _simulate(options, count, *words)
    healed = summary["healed_after"]
    return {
        "healed after": Figure(inf if healed is None else healed, "s", 5.0),
        "topics split at the end": Figure(summary["topics_partitioned"], "", 0),
    }


def _churn_cells(options: Options, life: int, root: str) -> Cells:
    if options.quick:
        raise NotRun("left out by --quick")
    summary, _ = _simulate(options, 1_250, f"life={life}", f"root={root}", "seconds=1000", "snapshot=200")
    return {
        "snapshots with a topic split": Figure(summary["snapshots_partitioned"], "", 0),
        "average degree": f"{summary['degree_avg']:.2f}",
        "messages per join or leave": f"{summary['messages_per_change']:.1f}",
        "simulate": Figure(summary["seconds"]["simulate"], "s", 120.0),
    }


def _crash_cells(options: Options, more: tuple[str, ...]) -> Cells:
    if options.quick:
        raise NotRun("left out by --quick")
    summary, _ = _simulate(options, 1_250, *CRASHES, *more)
    return {
        "topics split at the end": Figure(summary["topics_partitioned"], "", None if more else 0),
        "snapshots with one": f"{summary['snapshots_partitioned']} of {summary['snapshots']}",
        "last one at": Figure(summary["last_partitioned"] or 0.0, "s", None if more else WHOLE_AGAIN),
        "splits over all snapshots": str(summary["topics_partitioned_sum"]),
        "average degree": f"{summary['degree_avg']:.2f}",
        "messages per join or crash": f"{summary['messages_per_change']:.1f}",
    }


def _event_cells(options: Options) -> Cells:
    if options.quick:
        raise NotRun("left out by --quick")
    summary, _ = _simulate(options, 1_250, *CRASHES, "publish=5")
    events = summary["events"]
    return {
        "events": str(events["published"]),
        "deliveries due": str(events["expected"]),
        "missing": Figure(events["missing"], "", 0),
        "slowest": f"{events['longest_wait']:.2f} s",
        "messages per delivery": f"{events['messages'] / events['delivered']:.1f}",
        "duplicates per delivery": f"{events['duplicates'] / events['delivered']:.2f}",
        "hops on average": Figure(events["hops_avg"], "", float(summary["diameter_topic_max"])),
        "hops at most": Figure(events["hops_max"], "", 2.5 * summary["diameter_topic_max"]),
    }


def _burst_cells(events: int, size: int, keep: int) -> Cells:
    found = in_child("bench_simulate:measure_burst", events=events, size=size, keep=keep)
    return {
        "missing": Figure(found["missing"], "", 0),
        "slowest": f"{found['waited']:.2f} s",
        "largest memory of a node": Figure(found["held"] / 1e6, "MB", keep / 1e6),
        "memory of the process": f"{found['megabytes']:.0f} MB",
        "processor time": f"{found['seconds']:.1f} s",
    }


def measure_burst(events: int, size: int, keep: int) -> dict[str, float]:
    before = process_time()
    world = burst(events / RATE, f"keep_bytes={keep}", crash=(3, 7, 11), payload=bytes(size)).world
    return {
        "missing": world.counters.missing,
        "waited": world.counters.waited,
        "held": max(node.event_counts.held_bytes for _, node in world.here()),
        "megabytes": getrusage(RUSAGE_SELF).ru_maxrss / 1024,
        "seconds": process_time() - before,
    }


def burst(seconds: float, *settings: str, crash: tuple[int, ...] = (), payload: bytes = b"") -> Any:
    """Run 20 nodes that publish by turns on one topic for `seconds`; in the middle some crash at once.

    Those publish nothing in their last tenth of a second: what nobody else has got would die with them.
    """
    from topicloom.overlay.model.interest import Interest
    from topicloom.spidercast.simulator.node_changes import ChangeKind, NodeChange
    from topicloom.spidercast.simulator.run import SimulationRun
    from topicloom.spidercast.simulator.scenario import Scenario

    interest = Interest.from_pairs([(f"n{node:02}", "x") for node in range(BURST_NODES)])
    runner = SimulationRun(interest, Scenario.of("spidercast", settings, seed=1))
    world, people = runner.world, runner.population
    people.begin()
    middle = BURST_START + seconds / 2

    def publish(now: float) -> None:
        here = [node for node in people.joined if now <= middle - 0.1 or node not in crash]
        world.publish(here[round(now * RATE) % len(here)], 0, set(people.joined), payload)

    for number in range(round(seconds * RATE)):
        world.call_at(BURST_START + number / RATE, publish)
    for node in crash:
        change = NodeChange(middle, node, ChangeKind.CRASH, None)
        world.call_at(middle, lambda now, change=change: people.carry_out(change))
    gc.disable()  # as in every simulation
    try:
        world.run(BURST_START + seconds + 5.0)
    finally:
        gc.enable()
    return runner

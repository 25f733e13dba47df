"""Tasks on protocols: nodes that find an overlay by themselves [Chockler2007b]."""

from __future__ import annotations

from collections.abc import Callable

from topicloom.base.progress import Silent
from topicloom.experiments.model import Figures, Settings
from topicloom.experiments.tasks.overlays import interest_of
from topicloom.spidercast.simulator.run import simulate
from topicloom.spidercast.simulator.scenario import Scenario

LAST = ("degree_avg", "degree_max", "topics_partitioned", "topic_components")
DIAMETERS = ("diameter_overlay", "diameter_topic_max")


def run_simulation(settings: Settings, seed: int, clock: Callable[[], float]) -> Figures:
    """Run a protocol with the parameters `set`; figures of the last snapshot, and of all of them."""
    interest = interest_of(settings, seed)
    scenario = Scenario.of(settings.get("protocol", "spidercast"), settings.get("set", ()), seed)
    outcome = simulate(interest, scenario, threads=1, progress=Silent(clock))
    last, snapshots = outcome.snapshots[-1], outcome.snapshots
    found = {key: float(last[key]) for key in LAST}
    found |= {key: float(last[key]) for key in DIAMETERS if last[key] is not None}
    changes = last["joins"] + last["departures"]
    return found | {
        "degree_p90": float(last["degree_percentiles"]["90"]),
        "snapshots_split": float(sum(row["topics_partitioned"] > 0 for row in snapshots)),
        "degree_avg_all": sum(row["degree_avg"] for row in snapshots) / len(snapshots),
        "messages_per_change": last["control_messages"] / max(changes, 1),
    }

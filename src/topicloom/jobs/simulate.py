"""Simulate a protocol on a user's interest, and say what came of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from topicloom.files.atomic import replacing
from topicloom.files.build_folder import check_replaceable
from topicloom.files.simulation_folder import write_simulation
from topicloom.jobs.inputs import LoadedInterest, Notice, SparkChoice, load_interest, no_notice
from topicloom.measures.digest import interest_digest
from topicloom.model.progress import SILENT, Progress
from topicloom.model.summaries import FORMAT
from topicloom.simulate.run import Outcome, simulate
from topicloom.simulate.scenario import Scenario
from topicloom.tables.source import TableSource
from topicloom.version import __version__

EVENT_KEYS = (
    "published", "expected", "delivered", "missing", "duplicates", "repaired", "hops_avg", "hops_max",
    "longest_wait",
)  # fmt: skip
Extras = Callable[[dict[str, Any], Outcome, Path], None]


def simulate_source(
    source: TableSource,
    scenario: Scenario,
    *,
    out: Path | None,
    spark: SparkChoice,
    subscribers_only: bool = False,
    strict: bool = False,
    threads: int | None = None,
    extras: Extras | None = None,
    notice: Notice = no_notice,
    progress: Progress = SILENT,
) -> tuple[dict[str, Any], Outcome]:
    """Read the interest, run the scenario, keep the course in `out`; the summary and the outcome.

    `extras` may add files to the folder before it takes its place.
    """
    if out is not None:
        check_replaceable(out, simulation=True)
    start = progress.now()
    with spark.workspace() as work:
        loaded = load_interest(
            source,
            spark=spark,
            work=work,
            subscribers_only=subscribers_only,
            strict=strict,
            notice=notice,
            progress=progress,
        )
    ingested = progress.now()
    outcome = simulate(loaded.interest, scenario, threads=threads, progress=progress)
    simulated = progress.now()
    summary = summarise_simulation(loaded, scenario, outcome)
    summary["seconds"] = {
        "ingest": ingested - start,
        "simulate": simulated - ingested,
        "total": progress.now() - start,
    }
    if out is not None:
        progress.phase("write")
        with replacing(out) as folder:
            moment = outcome.moment
            write_simulation(
                folder,
                summary,
                outcome.snapshots,
                outcome.partitioned,
                summarise_last(summary, outcome),
                moment.interest,
                moment.overlay,
            )
            if extras is not None:
                extras(summary, outcome, folder)
    return summary, outcome


def summarise_last(summary: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
    """The last moment as the summary of a build, so that every command takes it for one."""
    interest, last = outcome.moment.interest, outcome.snapshots[-1]
    return {
        "format": FORMAT,
        "kind": "build",
        "version": __version__,
        "algorithm": summary["protocol"],
        "engine": "simulation",
        "parameters": summary["parameters"],
        "seed": summary["seed"],
        "nodes": len(outcome.moment.present),
        "topics": int((interest.topic_sizes() > 0).sum()),
        "subscriptions": interest.n_subscriptions,
        "duplicates": 0,
        "rejected": 0,
        "interest_digest": interest_digest(interest),
        "edges": last["links"],
        "degree_max": last["degree_max"],
        "degree_avg": last["degree_avg"],
        "topic_components": last["topic_components"] - int((interest.topic_sizes() == 0).sum()),
        "topics_partitioned": last["topics_partitioned"],
        "topic_connected": last["topics_partitioned"] == 0,
        "phases": {},
        "report": {},
        "seconds": summary["seconds"],
    }


def summarise_simulation(loaded: LoadedInterest, scenario: Scenario, outcome: Outcome) -> dict[str, Any]:
    """The content of summary.json: figures of the last moment, totals of the run."""
    last, interest = outcome.snapshots[-1], loaded.interest
    changes = last["joins"] + last["departures"]
    split = [row for row in outcome.snapshots if row["topics_partitioned"]]
    return {
        "format": FORMAT,
        "kind": "simulation",
        "version": __version__,
        "protocol": scenario.protocol,
        "parameters": dict(scenario.values),
        "seed": scenario.seed,
        "nodes": interest.n_nodes,
        "topics": interest.n_topics,
        "subscriptions": interest.n_subscriptions,
        "duplicates": loaded.duplicates,
        "rejected": loaded.rejected,
        "interest_digest": loaded.digest,
        "nodes_present": last["nodes"],
        "links": last["links"],
        "degree_avg": last["degree_avg"],
        "degree_max": last["degree_max"],
        "degree_percentiles": last["degree_percentiles"],
        "topic_components": last["topic_components"],
        "topics_partitioned": last["topics_partitioned"],
        "topic_connected": last["topics_partitioned"] == 0,
        "diameter_overlay": last["diameter_overlay"],
        "diameter_topic_max": last["diameter_topic_max"],
        "messages_per_node": last["control_messages"] / max(interest.n_nodes, 1),
        "messages_per_change": last["control_messages"] / max(changes, 1),
        "heartbeats_per_node": last["heartbeats"] / max(interest.n_nodes, 1),
        "messages": outcome.messages,
        "messages_lost": last["messages_lost"],
        "joins": last["joins"],
        "departures": last["departures"],
        "crashes": last["crashes"],
        "events": {key: last[key] for key in EVENT_KEYS}
        | {"messages": last["event_messages"], "copies": outcome.messages.get("Event", 0)},
        "snapshots": len(outcome.snapshots),
        "snapshots_partitioned": len(split),
        "topics_partitioned_sum": sum(row["topics_partitioned"] for row in split),
        "last_partitioned": split[-1]["time"] if split else None,
        "settled": outcome.settled,
        "simulated_seconds": outcome.moment.time,
        "occurrences": outcome.occurrences,
    }

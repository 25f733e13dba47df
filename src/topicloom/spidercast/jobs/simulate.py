"""Simulate a protocol on a table of interest, summarise the run and write its folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from topicloom.base.atomic_write import replacing
from topicloom.base.summaries import Figures, Parameters, ResultSummary, Seconds, Summary
from topicloom.overlay.jobs.interest_table import InterestTable, LoadedInterest
from topicloom.overlay.measures.digest import interest_digest
from topicloom.overlay.model.build import BuildSummary
from topicloom.overlay.model.build_folder import check_replaceable
from topicloom.spidercast.simulator.folder import write_simulation
from topicloom.spidercast.simulator.run import LINKS_NODES, SimulationOutcome, simulate
from topicloom.spidercast.simulator.scenario import Scenario


class EventsSummary(Summary, frozen=True, kw_only=True):
    """What became of published events; None where nothing was published or delivered."""

    published: int
    expected: int
    delivered: int
    missing: int
    duplicates: int
    repaired: int
    hops_avg: float | None
    hops_max: int | None
    longest_wait: float | None
    messages: int
    copies: int


class OutageSummary(Summary, frozen=True):
    """A cut or a freeze: from when to when, and how many nodes it struck."""

    kind: str
    start: float
    end: float
    nodes: int


class ConnectionsSummary(Summary, frozen=True):
    """How often nodes were told that a connection was lost, refused or congested, or closed one."""

    closed: int
    lost: int
    refused: int
    congested: int


class SimulationSummary(ResultSummary, frozen=True, kw_only=True):
    """The content of summary.json: figures of the last moment, totals of the run."""

    kind: str = "simulation"
    protocol: str
    parameters: Parameters
    seed: int
    nodes: int
    topics: int
    subscriptions: int
    duplicates: int
    rejected: int
    interest_digest: str
    nodes_present: int
    links: int
    degree_avg: float
    degree_max: int
    degree_percentiles: dict[str, float]
    topic_components: int
    topics_partitioned: int
    topic_connected: bool
    diameter_overlay: int | None
    diameter_topic_max: int | None
    messages_per_node: float
    messages_per_change: float
    heartbeats_per_node: float
    messages: dict[str, int]
    messages_lost: int
    joins: int
    departures: int
    crashes: int
    events: EventsSummary
    snapshots: int
    snapshots_partitioned: int
    topics_partitioned_sum: int
    last_partitioned: float | None
    healed_after: float | None
    outages: list[OutageSummary]
    connection_changes: ConnectionsSummary
    settled: bool
    simulated_seconds: float
    occurrences: int
    seconds: Seconds


Extras = Callable[[SimulationSummary, SimulationOutcome, Path], None]


def simulate_table(
    table: InterestTable,
    scenario: Scenario,
    *,
    out: Path | None,
    threads: int | None = None,
    watched: bool = False,
    extras: Extras | None = None,
) -> SimulationSummary:
    """Read the interest, run the scenario, write the folder `out`; return the summary.

    `watched`: take snapshots of what happens, as many as show it, unless there are too many nodes.
    `extras` may add files to the folder before it takes its place.
    """
    if out is not None:
        check_replaceable(out, simulation=True)
    progress = table.progress
    start = progress.now()
    loaded = table.load()
    ingested = progress.now()
    if watched and loaded.interest.n_nodes <= LINKS_NODES:
        scenario = scenario.watched(loaded.interest)
    outcome = simulate(loaded.interest, scenario, threads=threads, progress=progress)
    simulated = progress.now()
    seconds = {"ingest": ingested - start, "simulate": simulated - ingested, "total": progress.now() - start}
    summary = summarise_simulation(loaded, scenario, outcome, seconds)
    if out is not None:
        progress.phase("write")
        with replacing(out) as folder:
            write_simulation(folder, summary, outcome, summarise_last(summary, outcome))
            if extras is not None:
                extras(summary, outcome, folder)
    return summary


def summarise_last(summary: SimulationSummary, outcome: SimulationOutcome) -> BuildSummary:
    """Return the summary of the last moment as a build: every command takes it for one."""
    interest, last = outcome.moment.interest, outcome.snapshots[-1]
    return BuildSummary(
        algorithm=summary.protocol,
        engine="simulation",
        parameters=summary.parameters,
        seed=summary.seed,
        nodes=len(outcome.moment.present),
        topics=int((interest.topic_sizes() > 0).sum()),
        subscriptions=interest.n_subscriptions,
        duplicates=0,
        rejected=0,
        interest_digest=interest_digest(interest),
        edges=last["links"],
        degree_max=last["degree_max"],
        degree_avg=last["degree_avg"],
        topic_components=last["topic_components"] - int((interest.topic_sizes() == 0).sum()),
        topics_partitioned=last["topics_partitioned"],
        topic_connected=last["topics_partitioned"] == 0,
        phases={},
        report={},
        seconds=summary.seconds,
    )


def summarise_simulation(
    loaded: LoadedInterest, scenario: Scenario, outcome: SimulationOutcome, seconds: Seconds
) -> SimulationSummary:
    """Return the figures of the last moment and the totals of the run."""
    last, interest = outcome.snapshots[-1], loaded.interest
    changes = last["joins"] + last["departures"]
    split = [row for row in outcome.snapshots if row["topics_partitioned"]]
    figures = {key: last[key] for key in SimulationSummary.__struct_fields__ if key in last}
    figures |= {  # these are of the whole table or run, not of the last moment
        "nodes": interest.n_nodes,
        "topics": interest.n_topics,
        "duplicates": loaded.duplicates,
    }
    return SimulationSummary(
        protocol=scenario.protocol,
        parameters=dict(scenario.values),
        seed=scenario.seed,
        subscriptions=interest.n_subscriptions,
        rejected=loaded.rejected,
        interest_digest=loaded.digest,
        nodes_present=last["nodes"],
        topic_connected=last["topics_partitioned"] == 0,
        messages_per_node=last["control_messages"] / max(interest.n_nodes, 1),
        messages_per_change=last["control_messages"] / max(changes, 1),
        heartbeats_per_node=last["heartbeats"] / max(interest.n_nodes, 1),
        messages=outcome.messages,
        events=_events(last, outcome),
        snapshots=len(outcome.snapshots),
        snapshots_partitioned=len(split),
        topics_partitioned_sum=sum(row["topics_partitioned"] for row in split),
        last_partitioned=split[-1]["time"] if split else None,
        healed_after=outcome.healed_after,
        outages=[OutageSummary(*one) for one in outcome.outages],
        connection_changes=ConnectionsSummary(**outcome.connections),
        settled=outcome.settled,
        simulated_seconds=outcome.moment.time,
        occurrences=outcome.occurrences,
        seconds=seconds,
        **figures,
    )


def _events(last: Figures, outcome: SimulationOutcome) -> EventsSummary:
    copies, messages = outcome.messages.get("Event", 0), last["event_messages"]
    counted = {key: last[key] for key in EventsSummary.__struct_fields__ if key in last}
    return EventsSummary(**counted, messages=messages, copies=copies)

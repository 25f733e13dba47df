"""`topicloom simulate`: nodes that find an overlay by themselves, in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topicloom.base.counts import counted, proved_told
from topicloom.cli.console import Screen
from topicloom.cli.option_names import in_options
from topicloom.cli.options import EngineOptions, InterestOptions, ReportFile, Seed, Settings, Threads
from topicloom.cli.reports import result_folder, write_page
from topicloom.spidercast.simulator.registry import PROTOCOLS

if TYPE_CHECKING:
    from topicloom.spidercast.jobs.simulate import ConnectionsSummary, EventsSummary, SimulationSummary
    from topicloom.spidercast.simulator.run import SimulationOutcome

EXAMPLES = """
topicloom simulate table.csv
topicloom simulate table.csv --set kg=3 --set kr=adaptive --set view=0.05 --out course
topicloom simulate table.csv --set view=gossip --set latency=0.005:0.08 --set loss=0.01
topicloom simulate table.csv --set life=100 --set crash=1 --set seconds=300 --set publish=5 --out churn
topicloom simulate table.csv --set cut=20:80 --set seconds=100 --report cut.html
topicloom simulate table.csv --protocol similarity --set similar=9 --set random=1
topicloom simulate --list          (all protocols and parameters)
topicloom simulate --rules         (the rules of links, gossip and events, as tables)
"""
DEGREES_PLOT, COURSE_PLOT = "degrees.png", "course.png"


def simulate(
    table: InterestOptions,
    spark: EngineOptions,
    screen: Screen,
    protocol: Annotated[str, f"{', '.join(PROTOCOLS)} (see --list)."] = "spidercast",
    set_: Settings = None,
    seed: Seed = 0,
    out: Annotated[
        Path | None, "Folder for snapshots (about fifty, up to 5,000 nodes), charts and the last overlay."
    ] = None,
    report: ReportFile = None,
    threads: Threads = None,
    list_: Annotated[bool, "List protocols and leave."] = False,
    rules: Annotated[bool, "Print the rules of links, gossip and events and leave."] = False,
) -> None:
    """Let every node of the table run a protocol that finds an overlay without a planner, in virtual time.

    The same seed gives the same run. Exit 0 whether or not every topic ends up connected: that is a finding.
    """
    from topicloom.cli.listings import protocol_listing, rule_listing
    from topicloom.spidercast.jobs.simulate import simulate_table
    from topicloom.spidercast.protocol.all_rules import all_tables
    from topicloom.spidercast.simulator.scenario import Scenario

    if list_:
        return screen.report(*protocol_listing(), always=True)
    if rules:
        return screen.report(*rule_listing(all_tables()), always=True)
    table.source()  # a missing table is told first
    scenario = Scenario.of(protocol, set_ or [], seed=seed)
    with screen.working() as progress, result_folder(out, report, protocol) as folder:
        summary = simulate_table(
            table.ready(spark, screen, progress),
            scenario,
            out=folder,
            threads=threads,
            watched=folder is not None and not any(word.startswith("snapshot=") for word in set_ or ()),
            extras=_draw if out else None,
        )
        write_page(report, [folder], out, screen, progress)
    screen.report(summary, *_told(summary, out))


def _draw(summary: SimulationSummary, outcome: SimulationOutcome, folder: Path) -> None:
    """The charts of an --out folder."""
    from topicloom.base.charts import degree_chart, save_chart
    from topicloom.spidercast.charts import course_chart

    last = outcome.snapshots[-1]
    name = f"{summary.protocol}, {counted(summary.nodes_present, 'node')}"
    save_chart(
        degree_chart({summary.protocol: last["degree_histogram"]}, f"Degrees after a simulation of {name}"),
        folder / DEGREES_PLOT,
    )
    if len(outcome.snapshots) > 1:
        save_chart(
            course_chart(outcome.snapshots, f"A simulation of {name}", outcome.outages, outcome.crash_times),
            folder / COURSE_PLOT,
        )


def _told(summary: SimulationSummary, out: Path | None) -> list[str]:
    present = "" if summary.nodes_present == summary.nodes else f", {summary.nodes_present:,} present"
    if not summary.nodes_present:
        proof = "nobody is present at the end"
    elif summary.topics_partitioned:
        split = summary.topics_partitioned
        components = summary.topic_components - summary.topics + split
        topics = "topic is" if split == 1 else "topics are"
        advice = PROTOCOLS[summary.protocol].advice
        proof = f"NOT topic-connected: {split:,} {topics} split into {counted(components, 'component')}"
        proof += f"; {in_options(advice)}" if advice else ""
    else:
        proof = proved_told(summary.topics)
    lines = [
        f"{counted(summary.nodes, 'node')}{present}, {counted(summary.topics, 'topic')}, "
        f"{counted(summary.subscriptions, 'subscription')}",
        f"{summary.protocol} {_ending(summary)} "
        f"({summary.seconds['simulate']:.1f} s, {summary.occurrences:,} occurrences)",
        f"{counted(summary.links, 'link')}, average degree {summary.degree_avg:.2f}, "
        f"maximum {summary.degree_max:,}",
        proof,
    ]
    if summary.diameter_overlay is not None:
        inside = summary.diameter_topic_max
        topics = "no topic is connected" if inside is None else f"at most {inside} inside a connected topic"
        lines.append(f"diameter: overlay {summary.diameter_overlay}, {topics}")
    lines.append(
        f"messages per node: {summary.messages_per_node:.1f} to find and keep links, "
        f"{summary.heartbeats_per_node:,.0f} heartbeats"
    )
    lines += (
        _churn_told(summary)
        + _connections_told(summary.connection_changes)
        + _healing_told(summary)
        + _events_told(summary.events)
    )
    lines.append(
        f"written to {out}; next: topicloom measure {out}/last {out}/last"
        if out
        else "--out DIR keeps snapshots, charts and the overlay"
    )
    return lines


def _ending(summary: SimulationSummary) -> str:
    seconds = f"{summary.simulated_seconds:,.1f} simulated seconds"
    if summary.parameters["seconds"] or summary.parameters["trace"]:
        return f"ran for {seconds}"
    return f"settled after {seconds}" if summary.settled else f"did not settle within {seconds}"


def _churn_told(summary: SimulationSummary) -> list[str]:
    lines = []
    if summary.departures:
        lines.append(
            f"{counted(summary.joins, 'join')} (those at the start included), "
            f"{counted(summary.departures, 'departure')} ({counted(summary.crashes, 'crash', 'crashes')}); "
            f"{summary.messages_per_change:.1f} messages for each"
        )
    if summary.snapshots > 1:
        last = summary.last_partitioned
        lines.append(
            f"{counted(summary.snapshots, 'snapshot')}: {summary.snapshots_partitioned:,} with a split topic "
            f"({summary.topics_partitioned_sum:,} of {summary.snapshots * summary.topics:,} topics"
            + ("" if last is None else f"; the last at {last:,.1f} s")
            + ")"
        )
    return lines


def _connections_told(changes: ConnectionsSummary) -> list[str]:
    if not (changes.closed or changes.lost or changes.refused or changes.congested):
        return []
    return [
        f"connections: {changes.lost:,} lost, {changes.refused:,} refused, {changes.congested:,} times "
        f"congested, {changes.closed:,} closed for a fault of the other end"
    ]


def _healing_told(summary: SimulationSummary) -> list[str]:
    ends = [outage.end for outage in summary.outages if outage.kind == "cut"]
    after = summary.healed_after
    if not ends:
        return []
    if after is None and max(ends) >= summary.simulated_seconds:
        return ["the last cut lasted until the end of the run"]
    whole = "some topic stayed split" if after is None else f"no topic was split {after:.1f} s later"
    return [f"after the last cut ended: {whole}"]


def _events_told(events: EventsSummary) -> list[str]:
    if not events.published:
        return []
    due, missing = events.expected, events.missing
    return [
        f"{counted(events.published, 'event')}: {due - missing:,} of {due:,} deliveries due were made, "
        f"the slowest after {events.longest_wait:.2f} s; {events.hops_avg or 0:.1f} hops on average, "
        f"at most {events.hops_max or 0}",
        f"per delivery: {events.copies / max(events.delivered, 1):.1f} copies sent and "
        f"{(events.messages - events.copies) / max(events.delivered, 1):.1f} announcements; "
        f"{events.repaired:,} deliveries by repair",
    ]

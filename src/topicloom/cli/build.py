"""`topicloom build`: a table in, a proved overlay out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import asdict

from topicloom.base.addresses import is_address
from topicloom.base.counts import counted, proved_told
from topicloom.base.summaries import UNSET, Report
from topicloom.cli.console import Screen
from topicloom.cli.deaths_told import deaths_missed, deaths_told
from topicloom.cli.hops_told import hops_missed, hops_told
from topicloom.cli.objectives_told import UNITS, loads_missed, objective_told
from topicloom.cli.options import (
    Certify,
    EngineOptions,
    InterestOptions,
    LimitOptions,
    Seed,
    Settings,
    Threads,
)
from topicloom.errors import UsageError

if TYPE_CHECKING:
    from topicloom.overlay.model.build import BuildSummary

EXAMPLES = """
topicloom build table.csv --out my-overlay
topicloom build table.tsv --no-header --algorithm gm-m --out my-overlay --json
topicloom build table.parquet --algorithm gm --set redundancy=2 --out robust
topicloom build table.csv --caps caps.csv --forbid firewall.csv --start my-overlay --out limited
topicloom build table.csv --max-hops 16 --max-degree 8 --out my-overlay
topicloom build table.csv --survive 1 --out sturdy
topicloom build table.csv --extra-edges 10% --out my-overlay
topicloom build table.csv --out my-overlay --certify
topicloom build --sql "SELECT node, topic FROM sales.wants WHERE active" --out my-overlay
topicloom build huge.parquet --algorithm dcbr-m --engine spark --out huge-overlay
topicloom build huge.parquet --algorithm dcbr-m --engine spark --out huge-overlay --resume
topicloom build --list
"""
CONSTRAINTS = {
    "caps": "node{s} with a cap",
    "forbid": "forbidden pair{s}",
    "require": "required pair{s}",
    "costs": "pair{s} with a cost",
    "start": "existing edge{s}",
    "load": "node{s} with a cap on loads",
    "rates": "rate{s}",
    "rtt": "pair{s} with a round-trip time",
}
SHOWN = 5  # topics or nodes that are named on the screen; the report in summary.json names more


def _builders() -> str:
    """Return all builders, and those that run when none is named."""
    from topicloom.overlay.builders.default import DEFAULT, FALLBACK, QUICKER
    from topicloom.overlay.builders.registry import BUILDERS

    others = ", ".join(way.name for way in QUICKER)
    return (
        f"{', '.join(BUILDERS)} (see --list). Without it {DEFAULT}, or the first of {others} and {FALLBACK}"
    )


def build(
    table: InterestOptions,
    limits: LimitOptions,
    spark: EngineOptions,
    screen: Screen,
    out: Annotated[
        str | None, "Folder for the result (needed); also behind an address such as s3a://bucket/folder."
    ] = None,
    algorithm: Annotated[str | None, f"Builder: {_builders()} that takes at most ten minutes."] = None,
    set_: Settings = None,
    max_hops: Annotated[
        str | None,
        "The most hops inside a topic: a number, auto (about 2 log2 of the largest topic) or none.",
    ] = None,
    max_degree: Annotated[
        str | None,
        "The most edges of a node to aim at: a number or auto. For a limit that holds use --caps.",
    ] = None,
    survive: Annotated[
        str | None, "Every topic stays connected when any so many nodes die: 1 or 2; 0: none need."
    ] = None,
    extra_edges: Annotated[
        str | None,
        typer.Option(metavar="P%", help="Add so many edges where they save the most splits by a death."),
    ] = None,
    max_edges: Annotated[
        str | None,
        "Stop at so many edges, with as many joins as they can make (gm): topics may stay split.",
    ] = None,
    seed: Seed = 0,
    resume: Annotated[bool, "Go on with the unfinished Spark build in --out."] = False,
    threads: Threads = None,
    certify: Certify = False,
    allow_rejects: Annotated[bool, "Exit 0 also if much of the table was refused."] = False,
    list_: Annotated[bool, "List all builders and leave."] = False,
) -> None:
    """Build an overlay in which every topic's subscribers are connected, prove it, and write it to a folder.

    Exit 0: built and proved. Exit 1: not every topic is connected, because of constraints or a fault, or not
    within the hops asked for, or does not survive the deaths asked for, or has to forward more than a cap on
    loads, or more than a tenth of the rows was refused, or a node or topic occurs in refused rows only (the
    folder is written all the same). With --max-edges topics may stay split: that is no reason to exit 1.
    """
    from topicloom.cli.calibrate import calibrate
    from topicloom.overlay.builders.default import DEFAULT
    from topicloom.overlay.jobs.build import build_to_folder
    from topicloom.overlay.jobs.build_place import place_of
    from topicloom.overlay.jobs.build_request import BuildRequest, BuildTask
    from topicloom.overlay.jobs.missing_rows import missing_told

    if list_:
        from topicloom.cli.listings import builder_listing

        return screen.report(*builder_listing(), always=True)
    table.source()  # a missing table is told first
    if out is None:
        raise UsageError("--out is missing; name the folder for the result")
    out = out.rstrip("/") if is_address(out) else str(Path(out))
    request = BuildRequest.of(
        algorithm,
        set_ or [],
        max_hops=max_hops,
        max_degree=max_degree,
        survive=survive,
        extra_edges=extra_edges,
        max_edges=max_edges,
        seed=seed,
        threads=threads,
        certify=certify,
    )
    with screen.working() as progress:
        interest = table.ready(spark, screen, progress)
        task = BuildTask(
            interest,
            place_of(out, interest.spark, progress),
            request,
            limits=limits.files(table.encoding),
            resume=resume,
            remark=screen.say,
        )
        if request.algorithm == DEFAULT:
            task.check()  # what is refused is refused before anything is measured
            calibrate()
        summary = build_to_folder(task)
    if summary.rejected:
        screen.notice(f"{out}/{_rejects(summary)} lists every refused row with its reason")
    missing = [] if allow_rejects else missing_told(summary)
    lines = _told(summary, out)
    if not screen.quiet and "topics_split" not in summary.report and not missing:
        lines.append(f"next: topicloom measure {out} {out}")
    why = [
        *_split_told(summary),
        *loads_missed(summary),
        *deaths_missed(summary),
        *hops_missed(summary),
        *missing,
    ]
    screen.report(summary, *lines, holds=_promised(summary) and not why, why=why)


def _told(summary: BuildSummary, out: str) -> list[str]:
    from topicloom.overlay.jobs.certify import certificate_told
    from topicloom.overlay.model.verdict import survival_told

    if summary.topic_connected:
        of_what = " for the rows that were read" if summary.rejected else ""
        proof = proved_told(summary.topics, of_what)
        if summary.survival is not UNSET and summary.survival.survives:
            proof += f"; {survival_told(summary.survival)}"
    else:
        proof = f"NOT topic-connected: {counted(summary.topics_partitioned, 'topic is', 'topics are')} split"
        if "joins_open" in summary.report:
            proof += "; with --max-edges that was not asked for"
    seconds = summary.seconds
    return [
        f"{counted(summary.nodes, 'node')}, {counted(summary.topics, 'topic')}, "
        f"{counted(summary.subscriptions, 'subscription')} "
        f"({summary.duplicates:,} duplicate and {summary.rejected:,} refused rows)",
        f"{summary.algorithm}: {counted(summary.edges, 'edge')}, average degree {summary.degree_avg:.2f}, "
        f"maximum {summary.degree_max:,}",
        *_taken_told(summary.report),
        *hops_told(summary),
        *deaths_told(summary),
        *_objective_told(summary),
        *_joins_told(summary.report),
        *_constraints_told(summary),
        proof,
        *certificate_told(summary.certificate, {**asdict(summary), **summary.report}),
        f"ingest {seconds['ingest']:.1f} s, build {seconds['build']:.1f} s, verify {seconds['verify']:.1f} s",
        *_phases_told(summary),
        f"written to {out}",
    ]


def _promised(summary: BuildSummary) -> bool:
    """Is every topic connected, or was that not asked for?"""
    return summary.topic_connected or "joins_open" in summary.report


def _joins_told(report: Report) -> list[str]:
    """Return what a number of edges could join, where one was given."""
    if "joins_open" not in report:
        return []
    weight = ""
    if "weight_joined" in report:
        total = report["weight_joined"] + report["weight_open"]
        weight = f"; by rates {report['weight_joined']:,.6g} of {total:,.6g}"
    return [f"{counted(report['joins'], 'join')} of {report['joins'] + report['joins_open']:,} made{weight}"]


def _objective_told(summary: BuildSummary) -> list[str]:
    """Return what a build was improved by, if it was."""
    report = summary.report
    if "objective_start" not in report:
        return []
    asked = summary.parameters["objective"]
    counted_by = asked if asked in UNITS else "edges"  # of "both" the search for caps on loads counts edges
    told = [objective_told(counted_by, report["objective_start"], report["objective"])]
    if "edges_for_loads" in report:
        told.append(f"{counted(report['edges_for_loads'], 'edge')} more, for the caps on loads")
    return told


def _rejects(summary: BuildSummary) -> str:
    """Return where in the result the refused rows are."""
    name = "rejects.parquet"
    return name if summary.tables is UNSET else summary.tables[name]


def _taken_told(report: Report) -> list[str]:
    """Return why another builder's overlay was taken, if one was."""
    if "taken_from" not in report:
        return []
    return [f"taken from {report['taken_from']}: {report['taken_because']}"]


def _phases_told(summary: BuildSummary) -> list[str]:
    """Return where the time of a build on Spark went, longest first, and who had to know how many nodes."""
    if summary.engine != "spark":
        return []
    times: dict[str, float] = {}
    for name, seconds in summary.phases.items():
        shown = "choose representatives" if name.startswith("represent-") else name.replace("-", " ")
        times[shown] = times.get(shown, 0.0) + seconds
    total = summary.seconds["total"] or 1.0
    times["start of Spark and the rest"] = max(total - sum(times.values()), 0.0)
    longest = sorted(times.items(), key=lambda item: -item[1])
    shares = ", ".join(f"{name} {seconds:.1f} s ({seconds / total:.0%})" for name, seconds in longest)
    return [f"where {total:.1f} s went: {shares}", *map(_level_told, summary.report.get("levels", ()))]


def _level_told(level: Report) -> str:
    known = level["nodes_known"]
    groups = "1 group"
    if level["groups"] != 1:
        groups = f"{level['groups']:,} groups of up to {level['largest_group']:,}"
    return (
        f"{level['phase']}: {level['nodes']:,} nodes in {groups}, {level['edges']:,} edges; so far a node "
        f"had to know {known['avg']:,.0f} nodes, at most {known['max']:,}"
    )


def _constraints_told(summary: BuildSummary) -> list[str]:
    """Return one line about the constraints of a build, if it had any."""
    counts = summary.parameters.get("constraints")
    if not counts:
        return []
    told = ", ".join(
        f"{count:,} {CONSTRAINTS[kind].format(s='' if count == 1 else 's')}" for kind, count in counts.items()
    )
    cost = summary.report.get("cost_total")
    return [f"constraints: {told}" + ("" if cost is None else f"; total cost {cost:,.6g}")]


def _split_told(summary: BuildSummary) -> list[str]:
    """Return why topics stayed split under constraints, and what to do next; nothing if none were given."""
    report = summary.report
    if "topics_split" not in report:
        return []
    proof = report["impossible"]
    lines = [
        "no overlay was found that connects every topic under these constraints (there may be one)"
        if proof is None
        else f"no overlay connects every topic under these constraints: {proof}",
        f"topics that stay split: {_listed(report, 'topics_split')}",
    ]
    if report["nodes_at_cap_count"]:
        lines.append(f"nodes at their cap: {_listed(report, 'nodes_at_cap')}")
    return [*lines, f"next: {_advice(report)}"]


def _advice(report: Report) -> str:
    if report["topics_cut_by_forbidden_count"]:
        return f"allow a pair across {_listed(report, 'topics_cut_by_forbidden')}; no cap helps there"
    cap = report["smallest_cap"]
    if cap is None:
        return "try another builder or fewer constraints"
    return f"raise every cap to at least {cap}, with which this builder connects every topic"


def _listed(report: Report, key: str) -> str:
    names, count = report[key][:SHOWN], report[f"{key}_count"]
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    return ", ".join(map(repr, names)) + more

"""`topicloom improve`: an overlay in, a better one out; whatever made it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec.structs import asdict

from topicloom.base.addresses import is_address
from topicloom.base.counts import counted, proved_told
from topicloom.base.summaries import UNSET
from topicloom.cli.console import Screen
from topicloom.cli.deaths_told import deaths_missed
from topicloom.cli.hops_told import hops_missed, hops_told
from topicloom.cli.objectives_told import UNITS, loads_missed, objective_told
from topicloom.cli.options import (
    Certify,
    EdgeOptions,
    EngineOptions,
    InterestOptions,
    LimitOptions,
    Seed,
    Threads,
    in_turn,
)
from topicloom.errors import UsageError

if TYPE_CHECKING:
    from topicloom.overlay.model.build import BuildSummary

EXAMPLES = """
topicloom improve my-overlay my-overlay --out better --time-limit 60
topicloom improve table.csv edges.csv --out better --objective max-degree
topicloom improve table.csv edges.csv --out better --objective cost --costs prices.csv --caps caps.csv
topicloom improve table.csv edges.csv --out quick --objective rate-ms --rates rates.csv --rtt times.csv
topicloom improve my-overlay my-overlay --out sturdy --survive 1
topicloom improve my-overlay my-overlay --out better --time-limit 600 --resume
topicloom improve huge-overlay huge-overlay --out better --engine spark --rounds 20
"""

SECONDS = 60  # to search, by default: what help says of `improve_overlay`


def improve(
    interest: InterestOptions,
    edges: EdgeOptions,
    limits: LimitOptions,
    spark: EngineOptions,
    screen: Screen,
    out: Annotated[
        str | None, "Folder for the result (needed); with --engine spark also behind an address."
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0, help="Seconds to search.", show_default=str(SECONDS))
    ] = None,
    objective: Annotated[str, f"What is to become less: {', '.join(UNITS)}."] = "edges",
    survive: Annotated[
        str | None, "Every topic is to stay connected when any so many nodes die: 1 or 2."
    ] = None,
    extra_edges: Annotated[
        str | None,
        typer.Option(metavar="P%", help="Add so many edges at the end where they save the most splits."),
    ] = None,
    max_hops: Annotated[
        str | None, "The most hops inside a topic: a number, auto (as many as there are) or none."
    ] = None,
    max_degree: Annotated[str | None, "The most edges of a node: a number, or auto (as there are)."] = None,
    max_edges: Annotated[
        str | None,
        "The most edges: a number, auto (as many as there are; for costs any number) or none.",
    ] = None,
    rounds: Annotated[str | None, "Rounds of search instead of a time: the same result each time."] = None,
    kernel_nodes: Annotated[
        int | None, typer.Option(min=1, help="The most nodes of a region, with --engine spark.")
    ] = None,
    seed: Seed = 0,
    resume: Annotated[bool, "Go on from what an earlier run has left in --out."] = False,
    threads: Threads = None,
    certify: Certify = False,
) -> None:
    """Search for a better overlay, from one that exists: a build, or any table of edges.

    It is never worse by the objective, and breaks nothing that held: neither the number of edges, nor the
    maximum degree, nor the most hops inside a topic grows, and topics that survive deaths still do. What is
    not in order is set right first: forbidden edges go, required ones come, topics that are split are joined.
    The best so far is kept in --out.

    With --engine spark an overlay of any size gets fewer edges, region by region: it must be topic-connected,
    and hops are not looked at.

    Exit 0: written and proved. Exit 1: caps or forbidden pairs leave a topic split, or a node above its cap,
    or what was asked for is not reached (the folder is written all the same).
    """
    from topicloom.base.parameters import check_values
    from topicloom.overlay.builders.improve import improve_parameters
    from topicloom.overlay.jobs.build_place import place_of
    from topicloom.overlay.jobs.improve import ImproveTask, improve_to_folder
    from topicloom.overlay.jobs.improve_spark import SparkImproveTask, check_asked, improve_there

    interest, edges = in_turn(interest, edges)
    interest.source()  # a missing table is told first
    if out is None:
        raise UsageError("--out is missing; name the folder for the result")
    out = out.rstrip("/") if is_address(out) else str(Path(out))
    if limits.start is not None:
        raise UsageError(f"--start {limits.start}: it starts from EDGES; --require names edges to keep")
    given = {
        "objective": objective,
        "survive": survive,
        "extra_edges": extra_edges and extra_edges.removesuffix("%"),
        "max_hops": max_hops,
        "max_degree": max_degree,
        "max_edges": max_edges,
        "time_limit": None if time_limit is None else f"{time_limit:g}",
        "rounds": rounds,
    }
    named = {key: value for key, value in given.items() if value is not None}
    settings: dict[str, Any] = check_values("improve", improve_parameters(), named)
    common: dict[str, Any] = {"seed": seed, "resume": resume, "certify": certify}
    there, files = spark.engine == "spark", limits.files(interest.encoding)
    if there:
        check_asked({key: settings[key] for key in named}, files)
        if threads is not None:
            raise UsageError(f"--threads {threads}: with --engine spark the cores are Spark's; leave it out")
        common |= {"rounds": settings["rounds"], "remark": screen.say}
        common |= {} if kernel_nodes is None else {"kernel_nodes": kernel_nodes}
    elif kernel_nodes is not None:
        raise UsageError("--kernel-nodes is the size of regions, which --engine spark makes: give that too")
    with screen.working() as progress:
        table, source = interest.ready(spark, screen, progress), edges.source()
        if there:
            place = place_of(out, table.spark, progress)
            summary = improve_there(SparkImproveTask(table, source, place, **common))
        else:
            task = ImproveTask(table, source, Path(out), settings, files, threads=threads, **common)
            summary = improve_to_folder(task)
    why = [*_broken(summary), *loads_missed(summary), *deaths_missed(summary), *hops_missed(summary)]
    screen.report(summary, *_told(summary, out), holds=summary.topic_connected and not why, why=why)


def _told(summary: BuildSummary, out: str) -> Iterator[str]:
    from topicloom.overlay.jobs.certify import certificate_told
    from topicloom.overlay.model.verdict import survival_told

    report = summary.report
    for count, what in (
        (report["edges_forbidden"], "that is forbidden taken out|that are forbidden taken out"),
        (report["edges_required"], "that is required put in|that are required put in"),
        (report["edges_joining"], "put in to join what was split|put in to join what was split"),
    ):
        if count:
            one, many = what.split("|")
            yield counted(count, f"edge {one}", f"edges {many}")
    yield objective_told(summary.parameters["objective"], report["objective_start"], report["objective"])
    yield (
        f"{counted(summary.edges, 'edge')} (given: {report['edges_start']:,}), average degree "
        f"{summary.degree_avg:.2f}, maximum {summary.degree_max:,} (given: {report['degree_start']:,})"
    )
    yield from hops_told(summary)
    if summary.topic_connected:
        lasting = "" if summary.survival is UNSET else f"; {survival_told(summary.survival)}"
        yield f"{proved_told(summary.topics, '')}{lasting}"
    else:
        yield f"NOT topic-connected: {counted(summary.topics_partitioned, 'topic is', 'topics are')} split"
    yield from certificate_told(summary.certificate, {**asdict(summary), **report})
    yield f"{summary.seconds['total']:.1f} s; written to {out}"


def _broken(summary: BuildSummary) -> list[str]:
    """Return what is not kept of constraints and of `max_edges`, or keeps topics split."""
    report, found = summary.report, []
    most = summary.parameters["max_edges"]
    if isinstance(most, int):
        most += math.ceil(float(summary.parameters["extra_edges"]) * most / 100 - 1e-9)
        if summary.edges > most:
            found.append(f"no overlay of {counted(most, 'edge')} was found: {summary.edges:,} are left")
    if not summary.topic_connected:
        found.append("caps or forbidden pairs leave topics split: `topicloom verify` names them")
    if "nodes_above_cap" in report:
        name, count = report["nodes_above_cap"][0], report["nodes_above_cap_count"]
        whose = f"nodes {name!r} and {count - 1:,} more have" if count > 1 else f"node {name!r} has"
        cap = "their caps" if count > 1 else "its cap"
        found.append(f"{whose} more edges than {cap}, and none could be moved away")
    return found

"""`topicloom verify`: proves an edge table topic-connected or not; judges brokers' configurations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topicloom.cli.console import Screen, table
from topicloom.cli.options import EdgeOptions, EngineOptions, InterestOptions
from topicloom.cli.verify_brokers import BrokerFolders, broker_options, verify_brokers

if TYPE_CHECKING:
    from topicloom.overlay.model.verdict import Verdict

EXAMPLES = """
topicloom verify my-overlay my-overlay
topicloom verify table.csv edges.tsv --edges-no-header --all split-topics.jsonl
topicloom verify --mosquitto /etc/our-brokers --hosts hosts.csv
"""
SHOWN_SIZES = 8


def option_groups() -> dict[str, type[Any]]:
    """Return the group of options that depends on the registry of brokers."""
    return {"brokers": broker_options()}


def verify(
    interest: InterestOptions,
    edges: EdgeOptions,
    spark: EngineOptions,
    screen: Screen,
    brokers: BrokerFolders,
    all_: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write every split topic there (.jsonl, .json, .parquet)."),
    ] = None,
    hosts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where the brokers are: columns node, host; otherwise told by file names and ports.",
            rich_help_panel=BrokerFolders.PANEL,
        ),
    ] = None,
) -> None:
    """Prove that for every topic the subscribers are connected through nodes that want it.

    Exit 0: topic-connected. Exit 1: not, with witnesses. Unknown nodes, self-loops and duplicate edges are
    counted and left out of the proof; with --strict they are errors (exit 2).

    With an option that names a kind of broker: read a folder of configurations and name loops, doubled and
    one-sided links and topics in parts that no link joins. Exit 0: nothing found. Exit 1: findings.
    """
    from topicloom.overlay.jobs.verify import verify_edges

    if brokers.given() or hosts is not None:
        return verify_brokers(screen, brokers.choice(), hosts, interest, edges, spark, all_)
    with screen.working() as progress:
        verdict = verify_edges(interest.table(spark, screen, progress), edges.source(), all_witnesses=all_)
    screen.report(verdict.summary(), *_told(verdict, all_), holds=verdict.topic_connected)


def _told(verdict: Verdict, all_witnesses: str | None) -> Iterator[object]:
    if verdict.topic_connected:
        yield f"topic-connected: all {verdict.topics:,} topics, {verdict.edges:,} edges"
    else:
        yield (
            f"NOT topic-connected: {verdict.topics_partitioned:,} of {verdict.topics:,} topics are split "
            f"({verdict.topic_components:,} components in all, {verdict.edges:,} edges)"
        )
        yield _witnesses(verdict)
        yield f"all of them: {all_witnesses}" if all_witnesses else "--all FILE writes all of them"
    unknown = ", ".join(map(repr, verdict.unknown_names))
    left_out = {
        f"edges name a node that the interest does not have: {unknown}": verdict.unknown_nodes,
        "self-loops": verdict.self_loops,
        "duplicate edges": verdict.duplicate_edges,
    }
    yield from (f"left out of the proof: {count:,} {what}" for what, count in left_out.items() if count)


def _witnesses(verdict: Verdict) -> object:
    lines = []
    for witness in verdict.witnesses:
        sizes = witness.component_sizes
        more = f", {len(sizes) - SHOWN_SIZES} more" if len(sizes) > SHOWN_SIZES else ""
        shown = ", ".join(map(str, sizes[:SHOWN_SIZES])) + more
        ends = f"{witness.nodes[0]}  |  {witness.nodes[1]}"
        lines.append([witness.topic, str(len(sizes)), shown, ends])
    columns = [("topic", "left"), ("components", "right"), ("sizes", "left"), ("not connected", "left")]
    return table("the worst topics", columns, lines)

"""`topicloom verify`: proves an edge table topic-connected or not; judges brokers' configurations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from topicloom.base.counts import counted, part_of
from topicloom.base.summaries import UNSET
from topicloom.cli.console import Screen, table
from topicloom.cli.option_names import in_options
from topicloom.cli.options import EdgeOptions, EngineOptions, InterestOptions, in_turn
from topicloom.errors import UsageError
from topicloom.mesh.audit.findings import Audit, Finding, several
from topicloom.mesh.jobs.audit import audit_folder
from topicloom.mesh.kinds.registry import KINDS, auditable

if TYPE_CHECKING:
    from topicloom.overlay.model.verdict import Verdict

EXAMPLES = """
topicloom verify my-overlay my-overlay
topicloom verify table.csv edges.tsv --edges-no-header --all split-topics.jsonl
topicloom verify my-overlay my-overlay --survive 1
topicloom verify --table sales.public.wants edges.parquet
topicloom verify --mosquitto /etc/our-brokers --hosts hosts.csv
"""
SHOWN_SIZES = 8
SHOWN_FINDINGS = 20  # of one sort


@dataclass(frozen=True, slots=True)
class BrokerFolders:
    """The options that name configurations, one for each kind of broker that can be audited."""

    PANEL: ClassVar[str] = "Brokers"

    def given(self) -> dict[str, Path]:
        """Return the folders by kind."""
        folders = {kind: getattr(self, _attribute(kind)) for kind in auditable()}
        return {kind: folder for kind, folder in folders.items() if folder is not None}

    def choice(self, named: str) -> tuple[str, Path]:
        """Return the kind of broker and the folder; `named` is an option that needs them."""
        given = self.given()
        if not given:
            raise UsageError(f"{named} goes with {' or '.join(f'--{kind}' for kind in auditable())} only")
        if len(given) > 1:
            raise UsageError(f"{' and '.join(f'--{kind}' for kind in given)}: give one of them")
        return given.popitem()


def option_groups() -> dict[str, type[Any]]:
    """Return the group of options that depends on the registry of brokers."""
    kinds = [
        (
            _attribute(kind),
            Annotated[
                Path | None,
                f"Judge the {auditing.link}s of {KINDS[kind].title} configurations instead; EDGES is left "
                "out, INTEREST may be.",
                "CONF_DIR",
            ],
            field(default=None),
        )
        for kind, auditing in auditable().items()
    ]
    return {"brokers": make_dataclass("BrokerOptions", kinds, bases=(BrokerFolders,), frozen=True)}


def _attribute(kind: str) -> str:
    return kind.replace("-", "_")


def verify(
    interest: InterestOptions,
    edges: EdgeOptions,
    spark: EngineOptions,
    screen: Screen,
    brokers: BrokerFolders,
    all_: Annotated[str | None, "Write every split topic there (.jsonl, .json, .parquet).", "FILE"] = None,
    hosts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where the brokers are: columns node, host; otherwise told by file names and ports.",
            rich_help_panel=BrokerFolders.PANEL,
        ),
    ] = None,
    survive: Annotated[
        int,
        typer.Option(min=0, max=2, help="Prove too that topics survive the death of so many nodes."),
    ] = 0,
    one_way_ok: Annotated[
        bool,
        typer.Option(
            help="Links that carry a topic in one direction only are meant so; by role, the column role of "
            "INTEREST says the same of single topics.",
            rich_help_panel=BrokerFolders.PANEL,
        ),
    ] = False,
) -> None:
    """Prove that for every topic the subscribers are connected through nodes that want it.

    Exit 0: topic-connected, and with --survive it stays so. Exit 1: not, with witnesses. Unknown nodes,
    self-loops and duplicate edges are counted and left out of the proof; with --strict they are errors
    (exit 2).

    With an option that names a kind of broker: read a folder of configurations and name loops, doubled and
    one-sided links and split topics. Exit 0: nothing found. Exit 1: findings.
    """
    from topicloom.overlay.jobs.verify import verify_edges

    if not brokers.given():
        interest, edges = in_turn(interest, edges)
    if brokers.given() or hosts is not None or one_way_ok:
        named = "--hosts" if hosts is not None else "--one-way-ok"
        return _verify_brokers(
            screen, brokers.choice(named), hosts, interest, edges, spark, all_, one_way_ok=one_way_ok
        )
    with screen.working() as progress:
        table = interest.ready(spark, screen, progress)
        verdict = verify_edges(table, edges.source(), all_witnesses=all_, survive=survive)
    screen.report(verdict.summary(), *_told(verdict, all_), holds=verdict.holds)


def _told(verdict: Verdict, all_witnesses: str | None) -> Iterator[object]:
    from topicloom.overlay.model.verdict import survival_told

    if verdict.topic_connected:
        topics = "the topic" if verdict.topics == 1 else f"all {verdict.topics:,} topics"
        yield f"topic-connected: {topics}, {counted(verdict.edges, 'edge')}"
    else:
        yield (
            f"NOT topic-connected: {part_of(verdict.topics_partitioned, verdict.topics, 'topic')} split "
            f"({counted(verdict.topic_components, 'component')} in all, {counted(verdict.edges, 'edge')})"
        )
        yield _witnesses(verdict)
        yield f"all of them: {all_witnesses}" if all_witnesses else "--all FILE writes all of them"
    if verdict.survival is not UNSET:
        yield f"{'proved' if verdict.survival.survives else 'NOT proved'}: {survival_told(verdict.survival)}"
    unknown = ", ".join(map(repr, verdict.unknown_names))
    strangers = "{} a node that the interest does not have: " + unknown
    left_out = (
        (verdict.unknown_nodes, f"edge {strangers.format('names')}", f"edges {strangers.format('name')}"),
        (verdict.self_loops, "self-loop", "self-loops"),
        (verdict.duplicate_edges, "duplicate edge", "duplicate edges"),
    )
    yield from (f"left out of the proof: {counted(*one)}" for one in left_out if one[0])


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


def _verify_brokers(
    screen: Screen,
    choice: tuple[str, Path],
    hosts: Path | None,
    interest: InterestOptions,
    edges: EdgeOptions,
    spark: EngineOptions,
    all_witnesses: str | None,
    *,
    one_way_ok: bool,
) -> None:
    """Judge a folder and show what was found; exit 1 if that is anything."""
    kind, folder = choice
    if all_witnesses is not None:
        raise UsageError(
            f"--all {all_witnesses}: with --{kind} no split topics are written; --json names all findings"
        )
    if edges.edges or edges.named:
        raise UsageError(f"EDGES {edges.edges}: with --{kind} the links are those of the configurations")
    with screen.working() as progress:
        wanted = interest.ready(spark, screen, progress).load().interest if interest.given else None
        audit = audit_folder(
            kind,
            folder,
            interest=wanted,
            hosts=hosts,
            one_way_ok=one_way_ok,
            notice=screen.notice,
            progress=progress,
        )
    screen.report(audit, *_audit_told(audit), holds=audit.sound)


def _audit_told(audit: Audit) -> Iterator[str]:
    words = auditable()[audit.kind]
    link, topic = words.link, words.topic
    counts = f"{_many(audit.brokers, 'broker')}, {_many(audit.links, link)}, {_many(audit.topics, topic)}"
    if audit.sound:
        proved = "; every node gets what it wants, and no broker anything else" if audit.covered else ""
        counts += f"; nothing goes round, comes twice or stays away{proved}"
    yield f"{'sound' if audit.sound else 'NOT sound'}: {counts}{_alone(audit, link)}"
    yield from _section("messages go round or come twice", audit.repeating)
    yield from _section("messages do not come where they should", audit.losing)
    yield from _section("brokers carry topics that their nodes do not want", audit.strays or ())


def _alone(audit: Audit, link: str) -> str:
    """Name the brokers without a link; whether that is meant, no file says."""
    if not audit.unlinked:
        return ""
    has = "has" if len(audit.unlinked) == 1 else "have"
    return f"; {_many(len(audit.unlinked), 'broker')} {has} no {link}: {several(audit.unlinked)}"


def _many(count: int, what: str) -> str:
    head, space, tail = what.partition(" of ")
    return f"{count:,} {head if count == 1 else head + 's'}{space}{tail}"


def _section(title: str, findings: tuple[Finding, ...]) -> Iterator[str]:
    if findings:
        yield from ("", f"{title}:", *(f"  {in_options(one.text)}" for one in findings[:SHOWN_FINDINGS]))
    if len(findings) > SHOWN_FINDINGS:
        yield f"  and {len(findings) - SHOWN_FINDINGS:,} more; --json names all"

"""`topicloom verify --mosquitto | --nats`: what is wrong with the configurations of real brokers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import typer

from topicloom.cli.console import Screen
from topicloom.cli.options import EdgeOptions, InterestOptions, SparkOptions, notices
from topicloom.errors import UsageError
from topicloom.jobs.audit import audit_folder
from topicloom.jobs.inputs import load_interest
from topicloom.mesh.audit.findings import Audit, Finding, several
from topicloom.model.interest import Interest
from topicloom.model.progress import Progress

SHOWN = 20  # findings of one sort


@dataclass(frozen=True, slots=True)
class Brokers:
    """The options that name configurations."""

    mosquitto: str | None
    nats: str | None
    hosts: str | None

    def choice(self) -> tuple[str, Path]:
        """The kind of broker and the folder."""
        if self.mosquitto is not None and self.nats is not None:
            raise UsageError("--mosquitto and --nats: give one of them")
        if self.mosquitto is not None:
            return "mosquitto", Path(self.mosquitto)
        if self.nats is not None:
            return "nats", Path(self.nats)
        raise UsageError("--hosts goes with --mosquitto or --nats only")


def verify_brokers(
    screen: Screen,
    brokers: Brokers,
    interest: InterestOptions,
    edges: EdgeOptions,
    spark: SparkOptions,
    all_witnesses: str | None = None,
) -> None:
    """Judge a folder and show what was found; exit 1 if that is anything."""
    kind, folder = brokers.choice()
    if all_witnesses is not None:
        raise UsageError(
            f"--all {all_witnesses}: with --{kind} no split topics are written; --json names all findings"
        )
    if edges.edges:
        raise UsageError(f"EDGES {edges.edges}: with --{kind} the links are those of the configurations")
    with screen.working() as progress:
        audit = audit_folder(
            kind,
            folder,
            interest=_interest(screen, interest, spark, progress),
            hosts=Path(brokers.hosts) if brokers.hosts is not None else None,
            progress=progress,
        )
    _show(screen, audit)
    screen.emit(audit.to_json())
    if not audit.sound:
        raise typer.Exit(1)


def _interest(
    screen: Screen, options: InterestOptions, spark: SparkOptions, progress: Progress
) -> Interest | None:
    if not options.interest:
        return None
    choice = spark.choice()
    with choice.workspace() as work:
        return load_interest(
            options.source(),
            spark=choice,
            work=work,
            subscribers_only=options.subscribers_only,
            strict=options.strict,
            notice=notices(screen),
            progress=progress,
        ).interest


def _show(screen: Screen, audit: Audit) -> None:
    link, topic = (
        ("bridge", "pattern of topics") if audit.kind == "mosquitto" else ("leaf node link", "account")
    )
    counts = f"{_many(audit.brokers, 'broker')}, {_many(audit.links, link)}, {_many(audit.topics, topic)}"
    if audit.sound:
        proved = "; every node gets what it wants, and no broker anything else" if audit.covered else ""
        screen.show(
            f"sound: {counts}; nothing goes round, comes twice or stays away{proved}{_alone(audit, link)}"
        )
        return
    screen.show(f"NOT sound: {counts}{_alone(audit, link)}")
    _section(screen, "messages go round or come twice", audit.repeating)
    _section(screen, "messages do not come where they should", audit.losing)
    _section(screen, "brokers carry topics that their nodes do not want", audit.strays)


def _alone(audit: Audit, link: str) -> str:
    """Brokers without a link: whether that is meant nobody says."""
    if not audit.unlinked:
        return ""
    has = "has" if len(audit.unlinked) == 1 else "have"
    return f"; {_many(len(audit.unlinked), 'broker')} {has} no {link}: {several(audit.unlinked)}"


def _many(count: int, what: str) -> str:
    head, space, tail = what.partition(" of ")
    return f"{count:,} {head if count == 1 else head + 's'}{space}{tail}"


def _section(screen: Screen, title: str, findings: tuple[Finding, ...]) -> None:
    if findings:
        screen.show("", f"{title}:")
        screen.show(*(f"  {finding.text}" for finding in findings[:SHOWN]))
        if len(findings) > SHOWN:
            screen.show(f"  and {len(findings) - SHOWN:,} more; --json names all")

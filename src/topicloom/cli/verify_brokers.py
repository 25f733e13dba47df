"""`topicloom verify --KIND DIR`: what is wrong with the configurations of real brokers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from topicloom.cli.console import Screen
from topicloom.cli.options import EdgeOptions, EngineOptions, InterestOptions
from topicloom.errors import UsageError
from topicloom.mesh.audit.findings import Audit, Finding, several
from topicloom.mesh.jobs.audit import audit_folder
from topicloom.mesh.kinds.registry import KINDS, auditable

SHOWN = 20  # findings of one sort


@dataclass(frozen=True, slots=True)
class BrokerFolders:
    """The options that name configurations, one for each kind of broker that can be audited."""

    PANEL: ClassVar[str] = "Brokers"

    def given(self) -> dict[str, Path]:
        """Return the folders by kind."""
        folders = {kind: getattr(self, _attribute(kind)) for kind in auditable()}
        return {kind: folder for kind, folder in folders.items() if folder is not None}

    def choice(self) -> tuple[str, Path]:
        """Return the kind of broker and the folder."""
        given = self.given()
        if not given:
            raise UsageError(f"--hosts goes with {' or '.join(f'--{kind}' for kind in auditable())} only")
        if len(given) > 1:
            raise UsageError(f"{' and '.join(f'--{kind}' for kind in given)}: give one of them")
        return given.popitem()


def broker_options() -> type[BrokerFolders]:
    """Make the group of options from the registry."""
    kinds = [
        (
            _attribute(kind),
            Annotated[
                Path | None,
                typer.Option(
                    metavar="CONF_DIR",
                    help=f"Judge the {auditing.link}s of {KINDS[kind].title} configurations instead; EDGES "
                    "is left out, INTEREST may be.",
                ),
            ],
            field(default=None),
        )
        for kind, auditing in auditable().items()
    ]
    return make_dataclass("BrokerOptions", kinds, bases=(BrokerFolders,), frozen=True)


def _attribute(kind: str) -> str:
    return kind.replace("-", "_")


def verify_brokers(
    screen: Screen,
    choice: tuple[str, Path],
    hosts: Path | None,
    interest: InterestOptions,
    edges: EdgeOptions,
    spark: EngineOptions,
    all_witnesses: str | None = None,
) -> None:
    """Judge a folder and show what was found; exit 1 if that is anything."""
    kind, folder = choice
    if all_witnesses is not None:
        raise UsageError(
            f"--all {all_witnesses}: with --{kind} no split topics are written; --json names all findings"
        )
    if edges.edges:
        raise UsageError(f"EDGES {edges.edges}: with --{kind} the links are those of the configurations")
    with screen.working() as progress:
        wanted = interest.table(spark, screen, progress).load().interest if interest.interest else None
        audit = audit_folder(kind, folder, interest=wanted, hosts=hosts, progress=progress)
    screen.report(audit, *_told(audit), holds=audit.sound)


def _told(audit: Audit) -> Iterator[str]:
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
        yield from ("", f"{title}:", *(f"  {finding.text}" for finding in findings[:SHOWN]))
    if len(findings) > SHOWN:
        yield f"  and {len(findings) - SHOWN:,} more; --json names all"

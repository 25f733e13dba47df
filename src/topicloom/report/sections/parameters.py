"""What was asked for, and the commands that make it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from topicloom.overlay.builders.registry import BUILDERS
from topicloom.report.command_lines import command_line, settings, shown
from topicloom.report.figures import Column, Command, Row, Section, Table
from topicloom.report.sections.words import overlay_of
from topicloom.report.sources.subject import BuildView, OverlaySubject, SimulationSubject, Subject
from topicloom.spidercast.simulator.registry import PROTOCOLS


def make_parameters(subject: Subject) -> Section | None:
    """Return the parameters of every build, and the commands."""
    found = overlay_of(subject)
    if found is None:
        return None
    if isinstance(subject, SimulationSubject):
        return _simulation(subject)
    commands = [_build_again(view) for view in found.builds]
    first = found.builds[0].folder
    commands += [
        Command("Prove it", command_line("verify", first, first)),
        Command("Measure it", command_line("measure", first, first, certify=True)),
    ]
    return Section(
        title="Make it again",
        lead="The same table, parameters and seed give the same overlay, on any machine.",
        notes=[
            "TABLE stands for the table of interest, which the folder of a build holds as interest.parquet. "
            "Parameters that are not in a command have their default."
        ],
        tables=[_table(found)],
        commands=commands,
    )


def _build_again(view: BuildView) -> Command:
    """Return the command that makes a build again; the table it was made of is not known any more."""
    summary = view.summary
    known = BUILDERS.get(summary.algorithm)
    line = command_line(
        "build",
        "TABLE",
        algorithm=summary.algorithm,
        set=settings(summary.parameters, known.parameters if known else {}),
        seed=summary.seed,
        out=view.folder,
    )
    return Command(f"Build {view.name} again", line)


def _simulation(subject: SimulationSubject) -> Section:
    values, seed = flat(subject.summary.parameters), subject.summary.seed
    rows = [Row([name, shown(value)]) for name, value in {**values, "seed": seed}.items()]
    protocol = subject.summary.protocol
    known = PROTOCOLS.get(protocol)
    line = command_line(
        "simulate",
        "TABLE",
        protocol=protocol,
        set=settings(values, known.parameters if known else {}),
        seed=seed,
        out=subject.folder,
    )
    return Section(
        title="Make it again",
        lead="The same table, parameters and seed give the same run, message for message.",
        notes=[
            "TABLE stands for the table of interest. Parameters that are not in the command have their "
            "default."
        ],
        tables=[
            Table(
                key="parameters",
                title="Parameters",
                columns=[Column("parameter"), Column("value")],
                rows=rows,
            )
        ],
        commands=[Command("Simulate again", line)],
    )


def _table(subject: OverlaySubject) -> Table:
    rows = []
    for view in subject.builds:
        summary = view.summary
        values: dict[str, Any] = {
            **flat(summary.parameters), "seed": summary.seed, "engine": summary.engine,
            "version": summary.version, "digest of the interest": summary.interest_digest,
        }  # fmt: skip
        rows += [Row([view.name, name, shown(value)], key=view.name) for name, value in values.items()]
    return Table(
        key="parameters",
        title="Parameters",
        columns=[Column("build"), Column("parameter"), Column("value")],
        rows=rows,
        link="build",
    )


def flat(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return nested parameters by dotted names."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{before}{name}.")
        else:
            found[f"{before}{name}"] = value
    return found

"""Parameters of a simulation of content brokers, and the command that makes it again."""

from __future__ import annotations

from topicloom.content.simulator.scenario import PARAMETERS
from topicloom.report.command_lines import command_line, settings, shown
from topicloom.report.figures import Column, Command, Row, Section, Table
from topicloom.report.sections.parameters import flat
from topicloom.report.sources.subject import RoundsSubject, Subject


def make_rounds_commands(subject: Subject) -> Section | None:
    """Return parameters and the command that simulates again."""
    if not isinstance(subject, RoundsSubject):
        return None
    values, seed = flat(subject.summary.parameters), subject.summary.seed
    rows = [Row([name, shown(value)]) for name, value in {**values, "seed": seed}.items()]
    line = command_line(
        "content", "simulate", "PROBLEM", set=settings(values, PARAMETERS), seed=seed, out=subject.folder
    )
    return Section(
        title="Make it again",
        lead="The same problem, parameters and seed give the same rounds.",
        notes=["PROBLEM stands for the folder of the content problem."],
        tables=[
            Table(
                key="rounds-parameters",
                title="Parameters",
                columns=[Column("parameter"), Column("value")],
                rows=rows,
            )
        ],
        commands=[Command("Simulate again", line)],
    )

"""Parameters of a content plan, and the command that makes it again."""

from __future__ import annotations

from topicloom.content.planners.registry import PLANNERS
from topicloom.report.command_lines import command_line, settings, shown
from topicloom.report.figures import (
    Column,
    Command,
    Row,
    Section,
    Table,
)
from topicloom.report.sections.parameters import flat
from topicloom.report.sections.words import seconds
from topicloom.report.sources.subject import PlanSubject, Subject


def make_plan_commands(subject: Subject) -> Section | None:
    """Return parameters, times and the command that makes the plan again."""
    if not isinstance(subject, PlanSubject):
        return None
    summary = subject.summary
    values = {
        **flat(summary.parameters),
        "seed": summary.seed,
        "core model": summary.figures.core_model,
        "version": summary.version,
    }
    times = {name: seconds(value) for name, value in summary.seconds.items()}
    rows = [Row([name, shown(value)]) for name, value in values.items()]
    rows += [Row([f"time: {name}", value]) for name, value in times.items()]
    known = PLANNERS.get(summary.algorithm)
    line = command_line(
        "content",
        "plan",
        subject.problem or "PROBLEM",
        algorithm=summary.algorithm,
        set=settings(summary.parameters, known.parameters if known else {}),
        core_model=summary.figures.core_model,
        seed=summary.seed,
        out=subject.folder,
    )
    return Section(
        title="Make it again",
        lead="The same problem, parameters and seed give the same plan.",
        tables=[
            Table(
                key="plan-parameters",
                title="Parameters",
                columns=[Column("parameter"), Column("value")],
                rows=rows,
            )
        ],
        commands=[Command("Plan again", line)],
    )

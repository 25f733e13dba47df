"""`topicloom content cost`: what an assignment costs, however it was made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli.content.plan import CoreModelName
from topicloom.cli.content.plan_figures import Problem, figure_lines, overflow_line
from topicloom.cli.options import OutputOptions, Seed, SparkOptions, notices
from topicloom.content.jobs.plan import measure_assignment
from topicloom.errors import UsageError

EXAMPLES = """
topicloom content cost problem plan
topicloom content cost problem today.csv --core-model unicast
"""


def cost(
    output: OutputOptions,
    spark: SparkOptions,
    problem: Problem = None,
    assignment: Annotated[
        Path | None,
        typer.Argument(
            metavar="ASSIGNMENT",
            help="A plan folder, or a table with columns user, broker.",
            show_default=False,
        ),
    ] = None,
    core_model: CoreModelName = "free",
    seed: Seed = 0,
) -> None:
    """Evaluate any assignment of a problem's users to its brokers, exactly.

    Exit 1 if the demand on a broker exceeds its capacity.
    """
    if problem is None or assignment is None:
        missing = "DIR" if problem is None else "ASSIGNMENT"
        raise UsageError(f"{missing} is missing; write topicloom content cost DIR ASSIGNMENT")
    screen = output.screen()
    with screen.working() as progress:
        summary = measure_assignment(
            problem,
            assignment,
            spark=spark.choice(str(assignment)),
            core_model=core_model,
            seed=seed,
            notice=notices(screen),
            progress=progress,
        )
    screen.show(*figure_lines(summary.figures, str(assignment)))
    screen.emit(summary)
    if summary.figures.overflow > 0:
        screen.say(overflow_line(summary.figures.overflow), always=True)
        raise typer.Exit(1)

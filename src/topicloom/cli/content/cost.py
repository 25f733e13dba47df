"""`topicloom content cost`: what an assignment costs, however it was made."""

from __future__ import annotations

from typing import Annotated

import typer

from topicloom.cli.console import Screen
from topicloom.cli.content.plan import CoreModelName, Problem, figure_lines, show_plan
from topicloom.cli.options import EngineOptions, Seed
from topicloom.content.jobs.plan import measure_assignment
from topicloom.errors import UsageError

EXAMPLES = """
topicloom content cost problem plan
topicloom content cost problem today.csv --core-model unicast
"""


def cost(
    screen: Screen,
    spark: EngineOptions,
    problem: Problem = None,
    assignment: Annotated[
        str | None,
        typer.Argument(
            help="A plan folder, or a table with columns user, broker; also table:NAME or sql:QUERY of Spark."
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
    with screen.working() as progress:
        summary = measure_assignment(
            problem,
            assignment,
            spark=spark.choice(assignment),
            core_model=core_model,
            seed=seed,
            notice=screen.notice,
            progress=progress,
        )
    show_plan(screen, summary, figure_lines(summary.figures, assignment))

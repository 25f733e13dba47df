"""`topicloom content plan`: which broker each user should connect to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topicloom.base.parameters import read_settings
from topicloom.base.registry import find
from topicloom.cli.console import Screen
from topicloom.cli.content.plan_figures import Problem, figure_lines, show_plan
from topicloom.cli.listings import planner_listing
from topicloom.cli.options import ReportFile, Seed, Settings
from topicloom.cli.reports import result_folder, write_page
from topicloom.content.jobs.plan import plan_content
from topicloom.content.planners.broker_trees import CODES
from topicloom.content.planners.registry import DEFAULT, PLANNERS
from topicloom.errors import UsageError

EXAMPLES = """
topicloom content plan problem --out plan
topicloom content plan problem --out plan --time-limit 60
topicloom content plan problem --algorithm greedy-packing --out packed
topicloom content plan problem --set start=greedy-packing --set work=0 --core-model shared --out tree
topicloom content plan --list      (all algorithms and parameters)
"""

CoreModelName = Annotated[
    str,
    f"How brokers carry messages: {', '.join(CODES)} (a tree per channel and publishing broker; one "
    "tree for all; a message for each broker; the best trees, for few brokers).",
]


def plan(
    screen: Screen,
    problem: Problem = None,
    algorithm: Annotated[str, f"{', '.join(PLANNERS)} (see --list)."] = DEFAULT,
    out: Annotated[Path | None, "Folder for the plan."] = None,
    core_model: CoreModelName = "free",
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="local-search: go on annealing for so long; exact: stop after so long."
        ),
    ] = None,
    set_: Settings = None,
    seed: Seed = 0,
    report: ReportFile = None,
    no_trees: Annotated[bool, "Do not write trees.parquet, the largest file."] = False,
    list_: Annotated[bool, "List algorithms and leave."] = False,
) -> None:
    """Assign every user of a content problem to one broker so that all traffic costs little.

    The cost counts access links (user to broker) and core links (among brokers) exactly. Without a time limit
    the same seed gives the same plan. Exit 1 if the demand on a broker exceeds its capacity.
    """
    if list_:
        return screen.report(*planner_listing())
    if problem is None:
        raise UsageError("DIR is missing; name the folder of a content problem")
    planner = find("algorithm", PLANNERS, algorithm)
    parameters = read_settings(algorithm, planner.parameters, set_ or [])
    with screen.working() as progress, result_folder(out, report, algorithm) as folder:
        summary = plan_content(
            problem,
            algorithm,
            parameters,
            out=folder,
            core_model=core_model,
            seed=seed,
            time_limit=time_limit,
            trees=not no_trees,
            notice=screen.notice,
            progress=progress,
        )
        write_page(report, [folder, problem], out, screen, progress)
    kept = f"written to {out}" if out else "--out DIR keeps the plan and its trees"
    lines = [*figure_lines(summary.figures, algorithm), f"planned in {summary.seconds['plan']:.1f} s; {kept}"]
    show_plan(screen, summary, lines, algorithm)

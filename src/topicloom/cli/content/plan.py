"""`topicloom content plan`: which broker each user should connect to, and how a plan is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topicloom.base.counts import counted
from topicloom.base.parameters import read_settings
from topicloom.base.registry import find
from topicloom.cli.console import Screen
from topicloom.cli.listings import planner_listing
from topicloom.cli.option_names import in_options
from topicloom.cli.options import ReportFile, Seed, Settings
from topicloom.cli.reports import result_folder, write_page
from topicloom.content.jobs.plan import AssignmentSummary, PlanFigures, PlanSummary, plan_content
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

Problem = Annotated[
    Path | None,
    typer.Argument(
        metavar="DIR",
        help="A content problem: brokers, prices, rates, wants and channels (see content generate, traffic).",
    ),
]
CoreModelName = Annotated[
    str,
    f"How brokers carry messages: {', '.join(CODES)} (a tree per channel and publishing broker; one "
    "tree for all; a message for each broker; the best trees, for few brokers).",
]

PROVED, LOOSE = 1e-9, 0.5  # gaps up to which a plan is called optimal, above which they are told as factors
LITTLE, MUCH = 0.05, 0.3  # shares of the core in the cost: below it hardly matters, above it decides
EVERYWHERE = 0.9  # share of (broker, channel) pairs in use above which a user's place hardly changes a tree


def plan(
    screen: Screen,
    problem: Problem = None,
    algorithm: Annotated[str, f"{', '.join(PLANNERS)} (see --list)."] = DEFAULT,
    out: Annotated[Path | None, "Folder for the plan."] = None,
    core_model: CoreModelName = "free",
    time_limit: Annotated[
        float | None, "local-search: go on annealing for so long; exact: stop after so long.", "SECONDS"
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
        return screen.report(*planner_listing(), always=True)
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


def show_plan(
    screen: Screen, summary: PlanSummary | AssignmentSummary, lines: list[str], algorithm: str = ""
) -> None:
    """Show what a plan costs; exit 1, and say what to do, if it does not fit."""
    overflow = summary.figures.overflow
    other = "" if algorithm == DEFAULT else f", or try --algorithm {DEFAULT}"
    why = (
        f"topicloom: the plan does not fit: {overflow:,.6g} messages per second exceed the capacities; add "
        f"capacity{other}"
    )
    screen.report(summary, *lines, holds=overflow <= 0, why=[why])


def figure_lines(figures: PlanFigures, name: str) -> list[str]:
    """Show core share and density first, then the cost, random plans beside it, and the proved bound."""
    random = f"{figures.random_cost:,.6g}" if figures.crr is None else f"{figures.crr:.2f} times as much"
    return [
        f"core share {figures.core_share:.1%}: "
        + in_options(advice(figures.core_share, figures.broker_density, figures.random_core_share)),
        f"density {figures.density:.1%} of the (user, channel) pairs are wanted; "
        f"{figures.broker_density:.1%} of the (broker, channel) pairs have a subscriber",
        f"{counted(figures.users, 'user')}, {figures.brokers_used:,} of {figures.brokers:,} brokers used, "
        f"{counted(figures.channels, 'channel')}; core model {figures.core_model}",
        f"{name}: cost {figures.cost:,.6g} = access {figures.access_cost:,.6g} + core "
        f"{figures.core_cost:,.6g}; random plans cost {random}",
        f"fullest broker at {figures.load_max_share:.0%} of its capacity"
        + (f", {figures.overflow:,.6g} too much in all" if figures.overflow else ""),
        f"no plan that fits costs less than {figures.bound:,.6g}{_within(figures.gap)}",
    ]


def _within(gap: float | None) -> str:
    if gap is None:
        return ""
    if gap <= PROVED:
        return ": this one is optimal"
    if gap > LOOSE:
        return f": this one costs at most {gap + 1.0:.1f} times the optimum"
    return f": this one is within {gap:.1%} of optimal"


def advice(core_share: float, broker_density: float, random_core_share: float) -> str:
    """Say in one sentence what the core's share of the cost means for the choice of an algorithm.

    `random_core_share` is the share in random plans: a good plan's own may be small because it avoids
    expensive links between brokers, for example by gathering all users on one broker.

    >>> advice(0.01, 1.0, 0.01).split(":")[0]
    'links between brokers hardly matter'
    >>> advice(0.0, 0.1, 0.4).split(":")[0]
    'this plan keeps off the links between brokers, which are 40% of what random plans cost'
    """
    if core_share < LITTLE <= random_core_share:
        return (
            f"this plan keeps off the links between brokers, which are {random_core_share:.0%} of what "
            "random plans cost: local-search weighs them against the users' links, greedy-packing does not "
            "look at them"
        )
    if core_share < LITTLE:
        return (
            "links between brokers hardly matter: greedy-packing is nearly as good as any, local-search gets "
            "the last percent where brokers are full"
        )
    if broker_density > EVERYWHERE:
        return (
            "nearly every broker has subscribers of every channel, so only plans with fewer brokers save on "
            "the links between them: local-search tries to close brokers, the others do not"
        )
    if core_share < MUCH:
        return "links between brokers matter: local-search, which counts them exactly, is worth its time"
    return (
        "links between brokers decide: use local-search (and `time_limit` for more of it); greedy-packing "
        "does not look at them"
    )

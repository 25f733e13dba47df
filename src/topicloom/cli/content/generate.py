"""`topicloom content generate`: a random content problem."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from topicloom.base.counts import counted
from topicloom.cli.console import Screen
from topicloom.cli.options import Seed
from topicloom.content.jobs.generate import generate_content_to

EXAMPLES = """
topicloom content generate problem --users 1000 --brokers 10 --channels 20
topicloom content generate narrow --users 2000 --brokers 20 --channels 200 --width 0.02 --ratio 0.1 --seed 7
"""


def generate(
    out: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write the problem to.")],
    users: Annotated[int, "Number of users."],
    brokers: Annotated[int, "Number of brokers."],
    channels: Annotated[int, "Equal parts of the content space."],
    screen: Screen,
    model: Annotated[str, "plane: prices are distances in a square; iid: prices drawn one by one."] = "plane",
    ratio: Annotated[float, "Mean access price over mean core price."] = 1.0,
    width: Annotated[
        str,
        "Mean length of what a user wants, of a content space of length 1; uniform: two uniform end points.",
    ] = "uniform",
    seed: Seed = 0,
) -> None:
    """Write a random content problem: users who publish by quadratic densities and want one interval each.

    The brokers have equal capacities, together twice the demand [Zhao2011, VI].
    """
    with screen.working() as progress:
        size = users, brokers, channels
        report = generate_content_to(out, size, model, ratio, width, seed, progress)
    screen.report(
        report,
        f"{counted(users, 'user')}, {counted(brokers, 'broker')} and "
        f"{counted(channels, 'channel')} written to {out} in {report.seconds['total']:.1f} s",
        f"demand {report.demand:,.6g} and capacity {report.capacity:,.6g} messages per second; "
        f"a channel is wanted by {report.density:.1%} of the users on average",
    )

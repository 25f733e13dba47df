"""[Zhao2011, Table I]: running times with 10,000 users and 100 brokers."""

from __future__ import annotations

from collections.abc import Iterator

from topicloom.experiments.expect import at_most
from topicloom.experiments.lines import value
from topicloom.experiments.model import Claim, Experiment, Figure, Run, Scale
from topicloom.experiments.zhao2011.planned import PUBLISHED, ours, planned, problem

USERS = 10_000
PRINTED = {"greedy packing": 91.445, "clustering": 100.235, "mixing": 179.654}


def runs(scale: Scale) -> Iterator[Run]:
    for x in scale.xs:
        yield from planned(x, problem(x))
    for x in scale.ours:
        yield from ours(x, problem(x))


EXPERIMENT = Experiment(
    item="Table I",
    title="Seconds of each planner",
    x="number of users",
    runs=runs,
    quick=Scale((USERS,), 2, (USERS,)),
    full=Scale((USERS,), 20, (USERS,)),
    why="Processor seconds here, of compiled code on another machine: a time reproduces if it is not longer. "
    "The first run of a planner may include its compilation.",
    claims=tuple(
        Claim(
            text=f"seconds of {name}, 10,000 users on 100 brokers",
            expected=at_most(PRINTED[name], f"{PRINTED[name]:g}"),
            measure=value(name, USERS, "seconds"),
        )
        for name in PUBLISHED
    ),
    figures=(
        Figure(y="seconds", key="seconds", log=True, printed={n: {USERS: s} for n, s in PRINTED.items()}),
    ),
)

"""[Zhao2011, Table I]: running times with 10,000 users and 100 brokers."""

from __future__ import annotations

from topicloom.experiments.expect import Near
from topicloom.experiments.lines import value
from topicloom.experiments.model import Claim, Experiment, Figure, Scale
from topicloom.experiments.zhao2011.planned import grid, problem

USERS = 10_000
PRINTED = {"greedy packing": 91.445, "clustering": 100.235, "mixing": 179.654}


EXPERIMENT = Experiment(
    item="Table I",
    title="Seconds of each planner",
    x="number of users",
    runs=grid(problem),
    quick=Scale((USERS,), 5, (USERS,)),
    full=Scale((USERS,), 20, (USERS,)),
    why="Processor seconds of compiled code on another machine; a planner's first run may include its "
    "compilation.",
    claims=(
        *(
            Claim(
                text=f"seconds of {name}, 10,000 users on 100 brokers",
                expected=Near(printed, rel=0.25),
                measure=value(name, USERS, "seconds"),
                differs="another machine and compiled code; the paper switched optimisation off",
            )
            for name, printed in PRINTED.items()
        ),
        Claim(
            text="packing, clustering, mixing is the order of the times (steps of it that hold)",
            expected=Near(2, abs=0.1),
            measure=lambda sample: float(
                sum(
                    sample(slow, USERS, "seconds") > sample(fast, USERS, "seconds")
                    for slow, fast in (("clustering", "greedy packing"), ("mixing", "clustering"))
                )
            ),
        ),
    ),
    figures=(
        Figure(y="seconds", key="seconds", log=True, printed={n: {USERS: s} for n, s in PRINTED.items()}),
    ),
)

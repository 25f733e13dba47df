"""The tasks by name. A task is a function of its settings and a seed: the same figures on any machine.

Only `seconds`, by the clock that it is handed, depend on where it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from topicloom.experiments.model import Figures, Settings
from topicloom.experiments.tasks.overlays import run_alike, run_bound, run_build, run_groups, run_steps
from topicloom.experiments.tasks.plans import run_plan
from topicloom.experiments.tasks.simulations import run_simulation

Task: TypeAlias = Callable[[Settings, int, Callable[[], float]], Figures]

TASKS: dict[str, Task] = {
    "build": run_build,
    "bound": run_bound,
    "steps": run_steps,
    "groups": run_groups,
    "alike": run_alike,
    "simulate": run_simulation,
    "plan": run_plan,
}

"""What all planners have in common."""

from __future__ import annotations

import numpy as np
import pytest

from topicloom.base.progress import Silent
from topicloom.content.planners.registry import PLANNERS
from topicloom.content.workload import generate_content
from topicloom.errors import Interrupted


@pytest.mark.parametrize("name", ["random", "greedy-packing", "clustering", "steiner-mixing", "exact"])
def test_planners_keep_what_they_promise_together(name):
    """A broker for everybody, the same for the same seed, whatever common arguments they get."""
    problem = generate_content(7, 3, 4, seed=3).problem
    plan = PLANNERS[name].plan(problem, core_model="shared", seed=4, time_limit=30.0)
    again = PLANNERS[name].plan(problem, core_model="shared", seed=4, time_limit=30.0)
    assert plan.algorithm == name and plan.seed == 4
    assert plan.assignment.dtype == np.int32 and not plan.assignment.flags.writeable
    assert plan.assignment.shape == (7,) and set(plan.assignment.tolist()) <= {0, 1, 2}
    assert plan.assignment.tolist() == again.assignment.tolist()
    assert set(plan.parameters) == set(PLANNERS[name].parameters)


@pytest.mark.parametrize("name", ["random", "greedy-packing", "clustering", "steiner-mixing", "exact"])
def test_planners_stop_on_request(name):
    """Otherwise Ctrl-C waits for the end."""

    class Stopping(Silent):
        def should_stop(self) -> bool:
            return True

    with pytest.raises(Interrupted):
        PLANNERS[name].plan(generate_content(7, 3, 4, seed=3).problem, progress=Stopping())

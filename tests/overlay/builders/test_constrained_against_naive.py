"""GM and GM-M under constraints take, edge for edge, what the naive greedy takes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

from drawing import examples
from naive.constrained import naive_constrained
from naive.constrained_cases import cases, pair_table
from strategies import interests
from topicloom.base.progress import SILENT
from topicloom.overlay.builders.constrained import ConstrainedTask, choose_constrained
from topicloom.overlay.model.constraints import NO_CAP, Constraints


def chosen(case, *, phases, costs="tie"):
    task = ConstrainedTask.of(case.interest, case.constraints, case.start, costs)
    found = choose_constrained(task, phases=phases, progress=SILENT)
    return [tuple(map(int, step)) for step in zip(found.u, found.v, found.contribution, strict=True)]


@pytest.mark.parametrize("phases", [False, True])
@pytest.mark.parametrize("costs", ["tie", "weight"])
@examples(120)
@given(case=cases())
def test_every_step_is_the_naive_greedys(phases, costs, case):
    expected = naive_constrained(
        case.interest,
        phases=phases,
        caps=case.caps,
        forbidden=case.forbidden,
        fixed=case.fixed,
        costs=case.costs,
        weigh=costs == "weight" and bool(case.costs),
    )
    assert chosen(case, phases=phases, costs=costs) == expected


@examples(60)
@given(interest=interests(max_nodes=25))
def test_limits_that_limit_nothing_change_nothing(interest):
    """The folded fast path, the fast path over single nodes and the costed one must choose alike."""
    n = interest.n_nodes
    pairs = pair_table(list(combinations(range(n), 2)), n)
    free = Constraints(np.full(n, NO_CAP, np.int32))
    same = Constraints(None, priced=pairs, costs=np.full(len(pairs), 3.0))
    for phases in (False, True):
        plain = choose_constrained(ConstrainedTask.of(interest), phases=phases, progress=SILENT)
        steps = [part.tolist() for part in plain[:3]]
        for constraints in (free, same):
            for costs in ("tie", "weight"):
                task = ConstrainedTask(interest, constraints, (pairs.u[:0], pairs.v[:0]), costs)
                found = choose_constrained(task, phases=phases, progress=SILENT)
                assert [found.u.tolist(), found.v.tolist(), found.contribution.tolist()] == steps

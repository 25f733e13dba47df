"""GM, the greedy merge of [Chockler2007a, 6], and GM-M, the same in phases for a low maximum degree.

GM has the fewest edges of the published builders: at most log(subscriptions) times the optimum
[Chockler2007a, Lemma 6.5]. The maximum degree of GM-M [Chen2010, Algorithms 1 to 6, as read in the docs] is
at most log(nodes x topics) times the optimum [Chen2010, Lemma 2].
"""

from __future__ import annotations

from typing import Annotated

from topicloom.base.parameters import Parameter
from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.errors import UsageError
from topicloom.overlay.builders.constrained import ConstrainedTask, Costs
from topicloom.overlay.builders.constrained_greedy import build_greedy
from topicloom.overlay.builders.join_budget import build_within
from topicloom.overlay.builders.twin_trees import Twins
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def build_gm(
    interest: Interest,
    *,
    constraints: Constraints = UNCONSTRAINED,
    start: Overlay | None = None,
    redundancy: Annotated[int, Parameter("runs, each on the pairs not yet used (section 6.4)", least=1)] = 1,
    costs: Costs = "tie",
    twins: Twins = "tree",
    max_edges: Annotated[
        int | str, Parameter("stop at so many edges, with as many joins as they can make", ("none",), 0)
    ] = "none",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Build:
    """Add the edge that joins the most topic components until every topic has one.

    `redundancy=k` runs it k times, each on the pairs not yet used [Chockler2007a, 6.4], so a topic survives
    more lost edges. The seed is not used: ties are fixed.

    Twins, nodes with identical topics, are linked as a tree; `twins="path"` gives the path that the tie rule
    by itself makes of them. Under `constraints` no two nodes are alike, so that rule holds.

    Under `constraints` no pair beyond them is a candidate, and the edges of `start` are there from the
    beginning; with pair costs, `costs="tie"` takes the cheapest of equal contribution and `"weight"` the
    most contribution per cost.

    `max_edges` stops after so many edges: they make at least 1 - 1/e of the joins that any so many can. With
    rates, of the interest or in the constraints, a join counts the rate of its topic.

    >>> interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")])
    >>> build_gm(interest).overlay.to_pandas().values.tolist()
    [['a', 'b'], ['b', 'c']]
    """
    watch = Stopwatch(progress)
    task = ConstrainedTask.of(interest, constraints, start, costs, threads, twins)
    if isinstance(max_edges, int):
        if redundancy > 1:
            raise UsageError(f"`max_edges={max_edges}` goes without `redundancy={redundancy}`")
        overlay, report = build_within(task, max_edges, watch)
    elif constraints.rates is not None:
        raise UsageError("gm does not honour `rates` without `max_edges`")
    else:
        overlay, report = build_greedy(task, phases=False, redundancy=redundancy, watch=watch)
    parameters = {"redundancy": redundancy, "costs": costs, "twins": twins, "max_edges": max_edges}
    return Build(overlay, "gm", parameters, seed, watch.seconds, report)


def build_gm_m(
    interest: Interest,
    *,
    constraints: Constraints = UNCONSTRAINED,
    start: Overlay | None = None,
    costs: Costs = "tie",
    twins: Twins = "tree",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = SILENT,
) -> Build:
    """Add pairs whose degrees are both below D, best contribution first, in phases D = 1, 2, ...

    The seed is not used: ties are fixed. `constraints`, `start`, `costs` and `twins` are those of `build_gm`.

    >>> interest = Interest.from_pairs([(node, "x") for node in "abcd"])
    >>> build_gm_m(interest).overlay.degrees().tolist()
    [2, 2, 1, 1]
    """
    watch = Stopwatch(progress)
    task = ConstrainedTask.of(interest, constraints, start, costs, threads, twins)
    overlay, report = build_greedy(task, phases=True, watch=watch)
    return Build(overlay, "gm-m", {"costs": costs, "twins": twins}, seed, watch.seconds, report)

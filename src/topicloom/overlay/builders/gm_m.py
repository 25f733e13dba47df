"""GM-M, the greedy for a low maximum degree [Chen2010, Algorithms 1 to 6, as read in the docs].

Guarantee: at most log(nodes x topics) times the optimal maximum degree [Chen2010, Lemma 2].
"""

from __future__ import annotations

from topicloom.base.progress import SILENT, Progress, Stopwatch
from topicloom.overlay.builders.constrained import ConstrainedTask, Costs
from topicloom.overlay.builders.constrained_greedy import build_greedy
from topicloom.overlay.builders.twin_trees import Twins
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.constraints import UNCONSTRAINED, Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


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

"""Compile kernels by running each once on a toy: what a fresh machine does once.

First those that `build`, `verify` and `measure` need, whatever their options; the others are compiled when
they are first used, or here if all are asked for. Compiling holds the interpreter's lock, so half of the
kernels are compiled by a process of their own. They meet on the disk, where compiled kernels are kept. What
takes longest, the search within hops, is compiled there first: it is ready when a builder here needs it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from topicloom.base.kernels.parallel import default_threads
from topicloom.base.progress import SILENT, Progress
from topicloom.content.planners.bounds import lower_bound
from topicloom.content.planners.cost import measure_cost
from topicloom.content.planners.registry import PLANNERS
from topicloom.content.simulator.run import simulate_content
from topicloom.content.simulator.scenario import ContentScenario
from topicloom.content.workload import generate_content
from topicloom.mesh.topic_trees.packing import pack_forests
from topicloom.mesh.topic_trees.shallow import build_shallow_trees
from topicloom.mesh.topic_trees.spanning import build_topic_trees
from topicloom.overlay.builders.hop_search import HopSearch
from topicloom.overlay.builders.improve import improve_overlay
from topicloom.overlay.builders.registry import BUILDERS
from topicloom.overlay.kernels.judge_union_find import fresh_slots, join_pairs
from topicloom.overlay.measures.bounds import bound_overlays
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.measures.digest import interest_digest
from topicloom.overlay.measures.profile import profile_interest
from topicloom.overlay.measures.registry import measure_overlay
from topicloom.overlay.model.constraints import Constraints, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options
from topicloom.spidercast.simulator.run import simulate
from topicloom.spidercast.simulator.scenario import Scenario


def warm_kernels(*, everything: bool = False, progress: Progress = SILENT) -> float:
    """Run builders, judge and measures on toys, with `everything` all else too; the seconds it took."""
    start = progress.now()
    progress.phase("compile kernels", len(GREEDY) + 1 + everything)
    with _meanwhile(warm_search_and_judging):
        warm_builders(progress)
    progress.advance()
    if everything:
        with _meanwhile(warm_content):
            warm_others()
        progress.advance()
    return progress.now() - start


@contextmanager
def _meanwhile(work: Callable[[], None]) -> Iterator[subprocess.Popen[bytes] | None]:
    """Have a function of this module run in a process of its own; on a single core after the rest."""
    if default_threads() == 1:
        yield None
        work()
        return
    script = f"from {__name__} import {work.__name__} as work; work()"
    # In a session of its own: Ctrl-C in the terminal is for us to hear, and to end it.
    beside = subprocess.Popen(
        [sys.executable, "-P", "-c", script],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield beside
        if beside.wait() != 0:
            work()  # here its fault can be told
    finally:
        beside.kill()
        beside.wait()


# The builders that share the greedy's kernels, the one that needs most of them last; `exact` is left to its
# first use.
GREEDY = ("gm", "gm-m", "dcb-m", "dcbr-m", "low-oda", "minmax-oda", "short-gm", "balanced")
OTHER = tuple(name for name in BUILDERS if name not in (*GREEDY, "exact"))


def warm_builders(progress: Progress = SILENT) -> None:
    """Run the builders on top of the greedy, with and without what constraints add."""
    interest = generate_interest(
        workload_from_options(300, topics=20, subscriptions="2:6", popularity="zipf:0.5")
    )
    overlay = BUILDERS["ring-pt"].build(interest).overlay
    # Pairs with costs have a kernel of their own, edges that exist already another.
    costs = Constraints(priced=NodePairs.of([0], [1], interest.n_nodes), costs=np.full(1, 2.0))
    BUILDERS["gm"].build(interest, constraints=costs, start=overlay)
    BUILDERS["gm"].build(interest, constraints=costs, costs="weight")
    # A second run on the pairs left over takes the ways that a single run does not.
    BUILDERS["gm"].build(interest, redundancy=2)
    BUILDERS["balanced"].build(interest, max_hops="none")
    for name in GREEDY:
        BUILDERS[name].build(interest)
        progress.advance()


def warm_search_and_judging() -> None:
    """Run what the builders on top of the greedy do not need at once."""
    warm_hop_search()
    warm_judging()


def warm_hop_search() -> None:
    """Run the search within hops on an overlay of rings, without the builder that brings it a better one."""
    interest = _toy()
    rings = BUILDERS["ring-pt"].build(interest).overlay
    search = HopSearch(interest, (rings.u, rings.v), cap=4, seed=0, progress=SILENT)
    search.relieve(4)
    search.center(2)
    search.squeeze(4, 2)
    search.improve(4, 100)


def warm_judging() -> None:
    """Run the judge, the measures, the bounds, and the builders that have no kernel of the greedy."""
    interest = _toy()
    overlays = [BUILDERS[name].build(interest).overlay for name in OTHER]
    BUILDERS["ring-pt"].build(interest, order="random")
    broken = Overlay.from_edges(interest.node_ids, np.array([0, 1]), np.array([1, 2]))
    for overlay in (*overlays, broken):
        measure_overlay(interest, overlay)
        check_overlay(interest, overlay)
    join_pairs(np.zeros(0, np.int32), np.zeros(0, np.int32), fresh_slots(1))  # only Spark tasks call it
    bound_overlays(interest)
    bound_overlays(_hub())
    profile_interest(interest)
    interest_digest(interest)


def _toy() -> Interest:
    """Some nodes that each want a few of twenty topics; made without the generator's kernels."""
    pairs = [(f"n{i:03}", f"t{(i * k + k) % 20:02}") for i in range(120) for k in (1, 3, 7)]
    return Interest.from_pairs(sorted(set(pairs)))


def _hub() -> Interest:
    return Interest.from_pairs([(node, f"t{i}") for i in range(4) for node in ("hub", f"n{i}")])


def warm_sturdy() -> None:
    """Run what lets topics survive deaths, and its judge."""
    interest = _toy()
    BUILDERS["balanced"].build(interest, work=0, extra_edges=5)
    overlay = BUILDERS["balanced"].build(interest, work=0, survive=1).overlay
    improve_overlay(interest, overlay, rounds=1)  # the judge comes along


def warm_weights() -> None:
    """Run the search on paths, its measure, and joins by weight."""
    interest = _toy()
    limits = Constraints.of(interest, rates={"t00": 1.0}, rtt={("n000", "n001"): 1.0})
    overlay = BUILDERS["gm"].build(interest, constraints=limits, max_edges=200).overlay
    improve_overlay(interest, overlay, objective="rate-ms", constraints=limits, rounds=1)


def warm_others() -> None:
    """Run the exact builder, sturdy overlays, the trees of meshes and SpiderCast."""
    warm_sturdy()
    warm_weights()
    small = workload_from_options(60, topics=40, subscriptions="5", popularity="uniform", seed=1)
    BUILDERS["exact"].build(generate_interest(small))
    star = _hub()
    BUILDERS["exact"].build(star)  # one tree serves it, with a node to relieve
    hub = BUILDERS["star"].build(star).overlay
    build_topic_trees(star, hub)
    build_shallow_trees(star, hub)
    pack_forests(star, hub)
    for view in ("1", "0.5"):
        simulate(_toy(), Scenario.of("spidercast", [f"view={view}", "seconds=1"]))


def warm_content() -> None:
    """Run every planner, the bounds, and a few rounds of brokers that match events."""
    problem = generate_content(40, 3, 6, ratio=0.5, width=0.2, seed=1).problem
    for name, planner in PLANNERS.items():
        if name != "exact":  # has no kernel of its own
            planner.plan(problem)
    assignment = PLANNERS["greedy-packing"].plan(problem).assignment
    measure_cost(problem, assignment)
    lower_bound(problem)
    scenario = ContentScenario.of(["rounds=1", "deliveries=20"])
    simulate_content(problem, assignment, scenario)

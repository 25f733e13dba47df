"""Compile every kernel by running each once on a toy: what a fresh machine does once.

Compiling holds the interpreter's lock, so half of the kernels are compiled by a process of their own. They
meet on the disk, where compiled kernels are kept.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from topicloom.base.kernels.parallel import default_threads
from topicloom.base.kernels.random import mix
from topicloom.base.progress import SILENT, Progress
from topicloom.content.planners.bounds import lower_bound
from topicloom.content.planners.cost import measure_cost
from topicloom.content.planners.registry import PLANNERS
from topicloom.content.simulator.run import simulate_content
from topicloom.content.simulator.scenario import ContentScenario
from topicloom.content.workload import generate_content
from topicloom.mesh.topic_trees.packing import pack_forests
from topicloom.mesh.topic_trees.spanning import build_topic_trees
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


def warm_kernels(*, progress: Progress = SILENT) -> float:
    """Run every builder, planner, measure and generator on small inputs; the seconds it took."""
    start = progress.now()
    progress.phase("compile kernels", len(BUILDERS) + 5)
    mix(np.uint64(1))  # the one kernel of both: two writers of one cache file would be one too many
    with _meanwhile(warm_content):
        _warm_overlays(progress)
    progress.advance()
    return progress.now() - start


@contextmanager
def _meanwhile(work: Callable[[], None]) -> Iterator[None]:
    """Have a function of this module run in a process of its own; on a single core after the rest."""
    if default_threads() == 1:
        yield
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
        yield
        if beside.wait() != 0:
            work()  # here its fault can be told
    finally:
        beside.kill()
        beside.wait()


def _warm_overlays(progress: Progress) -> None:
    """Run every builder, trees, measures and SpiderCast."""
    interest = generate_interest(
        workload_from_options(300, topics=20, subscriptions="2:6", popularity="zipf:0.5")
    )
    progress.advance()
    overlays = []
    for name, builder in BUILDERS.items():
        if name != "exact":  # would search for its whole time limit
            overlays.append(builder.build(interest).overlay)
        progress.advance()
    small = workload_from_options(60, topics=40, subscriptions="5", popularity="uniform", seed=1)
    BUILDERS["exact"].build(generate_interest(small))
    star = Interest.from_pairs([(node, f"t{i}") for i in range(4) for node in ("hub", f"n{i}")])
    BUILDERS["exact"].build(star)  # one tree serves it, with a node to relieve
    hub = BUILDERS["star"].build(star).overlay
    build_topic_trees(star, hub)
    pack_forests(star, hub)
    # A second run on the pairs left over takes the ways that a single run does not.
    BUILDERS["gm"].build(interest, redundancy=2)
    BUILDERS["ring-pt"].build(interest, order="random")
    # Pairs with costs have a kernel of their own, edges that exist already another.
    costs = Constraints(priced=NodePairs.of([0], [1], interest.n_nodes), costs=np.full(1, 2.0))
    BUILDERS["gm"].build(interest, constraints=costs, start=overlays[0])
    BUILDERS["gm"].build(interest, constraints=costs, costs="weight")
    bound_overlays(star)
    broken = Overlay.from_edges(interest.node_ids, np.array([0, 1]), np.array([1, 2]))
    for overlay in (*overlays, broken):
        measure_overlay(interest, overlay)
        check_overlay(interest, overlay)
    join_pairs(np.zeros(0, np.int32), np.zeros(0, np.int32), fresh_slots(1))  # only Spark tasks call it
    progress.advance()
    profile_interest(interest)
    interest_digest(interest)
    for view in ("1", "0.5"):
        simulate(interest, Scenario.of("spidercast", [f"view={view}", "seconds=1"]))
    progress.advance(2)


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

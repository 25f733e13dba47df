"""Tasks on overlays: a drawn workload or the instance of a proof, a builder, the figures of its overlay."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from topicloom.base.progress import Silent
from topicloom.base.seeds import generator
from topicloom.experiments.model import Figures, Settings
from topicloom.overlay.builders.gm import build_gm_m
from topicloom.overlay.builders.registry import run_builder
from topicloom.overlay.measures.bounds import bound_overlays
from topicloom.overlay.measures.connectivity import check_overlay
from topicloom.overlay.measures.diameter import measure_topic_diameter
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.measures.profile import top_d_intersection
from topicloom.overlay.model.build import Build
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads import instances
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options

INSTANCES: dict[str, Callable[[int], Interest]] = {
    "chockler-lemma-6.6": lambda k: instances.lemma_6_6(k, k),
    "chen-lemma-8": instances.lemma_8,
    "onus-lemma-1": instances.onus_lemma_1,
    "onus-lemma-5": instances.onus_lemma_5,
    "onus-lemma-6": instances.onus_lemma_6,
    "onus-case-vii": instances.case_vii,
}


def interest_of(settings: Settings, seed: int) -> Interest:
    """Draw the workload of the settings, or make the instance that they name."""
    if "instance" in settings:
        return INSTANCES[settings["instance"]](int(settings["n"]))
    return generate_interest(
        workload_from_options(
            int(settings["nodes"]),
            settings.get("topics"),
            settings.get("subscriptions"),
            settings["popularity"],
            seed,
        )
    )


def run_build(settings: Settings, seed: int, clock: Callable[[], float]) -> Figures:
    """Build with the algorithm of the settings; `set` has its parameters, `hops` asks for diameters."""
    interest = interest_of(settings, seed)
    began = clock()
    build = run_builder(
        settings["algorithm"],
        interest,
        seed=seed,
        threads=1,
        progress=Silent(clock),
        **settings.get("set", {}),
    )
    seconds = clock() - began
    found = _figures(interest, build) | {"seconds": seconds}
    if settings.get("hops"):
        view = view_of(interest, build.overlay, threads=1)
        found["diameter_topic_max"] = float(measure_topic_diameter(view)["diameter_topic_max"] or 0)
    return found


def _figures(interest: Interest, build: Build) -> dict[str, float]:
    degrees = build.overlay.degrees()
    found = {
        "edges": float(build.overlay.n_edges),
        "degree_avg": float(degrees.mean()),
        "degree_max": float(degrees.max()),
        "topics_split": float(check_overlay(interest, build.overlay).topics_partitioned),
    }
    report = build.report
    if report.get("light"):
        found["groups"] = float(report["groups"])
        found["representatives_share"] = report["representatives"] / report["light"]
    if report.get("optimal"):
        found["optimal"] = 1.0
    return found


def run_bound(settings: Settings, seed: int, clock: Callable[[], float]) -> Figures:
    """Bound every overlay of the workload from below: no builder can be better."""
    interest = interest_of(settings, seed)
    found = bound_overlays(interest, threads=1)
    return {
        "edges": float(found.edges_bound),
        "degree_avg": 2 * found.edges_bound / interest.n_nodes,
        "degree_max": float(found.degree_max_bound),
    }


def run_steps(settings: Settings, seed: int, clock: Callable[[], float]) -> Figures:
    """Count the steps of GM by [Chockler2007a, Lemma 6.4]: pairs of nodes, each topic they share once."""
    interest = interest_of(settings, seed)
    sizes = interest.topic_sizes().astype(np.float64)
    pairs = float((sizes * (sizes - 1) / 2).sum())
    return {"steps_share": pairs / (interest.n_nodes**2 * settings["topics"])}


def run_groups(settings: Settings, seed: int, clock: Callable[[], float]) -> Figures:
    """Deal all nodes into `groups` at random and build GM-M in each: Algorithm 7 of [Chen2010] so far."""
    interest = interest_of(settings, seed)
    if "of" in settings:  # the nodes of one group, by the beginnings of their names
        names = interest.node_ids.to_pylist()
        dealt = [np.flatnonzero([name.startswith(tuple(settings["of"])) for name in names])]
    else:
        order = generator(seed, "experiments", "groups").permutation(interest.n_nodes)
        dealt = [np.sort(part) for part in np.array_split(order, int(settings["groups"]))]
    degrees = np.zeros(interest.n_nodes, dtype=np.int64)
    for part in dealt:
        degrees[part] = build_gm_m(interest.restrict(part), threads=1).overlay.degrees()
    return {"degree_max": float(degrees.max()), "degree_avg": float(degrees.mean())}


def run_alike(settings: Settings, seed: int, clock: Callable[[], float]) -> Figures:
    """Measure what nodes have in common with those most alike: tdi(2s) of [Chockler2007b, 3.4], in %."""
    found = top_d_intersection(interest_of(settings, seed), 1, seed=seed)
    return {"intersection": found.intersection}

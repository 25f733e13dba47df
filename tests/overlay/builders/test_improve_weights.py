"""Objectives with weights, judged by the best of all overlays on tiny tables and by all-pairs figures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.overlays import overlay_on, random_interest, ring_per_topic
from naive.weights import (
    all_overlays,
    costs_of,
    naive_delivery,
    naive_loads,
    times_of,
    whole,
)
from strategies import interests
from topicloom.errors import TopicloomError
from topicloom.overlay.builders.gm import build_gm
from topicloom.overlay.builders.improve import improve_overlay
from topicloom.overlay.measures.deliveries import measure_deliveries
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.model.constraints import Constraints, NodePairs
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

WEIGHTED = ("cost", "rate-hops", "rate-ms")


def edges_of(overlay: Overlay) -> set[tuple[int, int]]:
    return set(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))


def drawn_weights(interest: Interest, seed: int) -> Constraints:
    """Rates of all topics; times and costs of about half of the pairs."""
    lots = np.random.default_rng(seed)
    n = interest.n_nodes
    pairs = [(a, b) for b in range(n) for a in range(b) if lots.random() < 0.6]
    timed = NodePairs.of([a for a, _ in pairs], [b for _, b in pairs], n)
    times, costs = (np.round(lots.uniform(1, 20, len(timed))) for _ in range(2))
    rates = np.round(lots.uniform(0, 9, interest.n_topics)) + 1
    return Constraints(priced=timed, costs=costs, rates=rates, timed=timed, times=times)


def naive_value(
    interest: Interest, edges: set[tuple[int, int]], weights: Constraints, objective: str
) -> float:
    if objective == "cost":
        costs = costs_of(weights)
        return sum(costs.get(pair, 1.0) for pair in edges)
    rates = weights.rates.tolist()
    if objective == "rate-hops":
        return naive_delivery(interest, edges, rates)
    times = times_of(weights)
    slowest = max(times.values())
    return naive_delivery(interest, edges, rates, lambda pair: times.get(pair, slowest))


@given(
    interest=interests(max_nodes=5, max_topics=4),
    objective=st.sampled_from(WEIGHTED),
    seed=st.integers(0, 99),
)
@examples(60)
def test_never_better_than_the_optimum_and_the_figure_is_the_naive_one(
    interest: Interest, objective: str, seed: int
) -> None:
    weights, start = drawn_weights(interest, seed), build_gm(interest).overlay
    if not len(weights.timed) or not start.n_edges:
        return
    found = improve_overlay(
        interest, start, objective=objective, constraints=weights, rounds=12, max_hops="none"
    )
    edges = edges_of(found.overlay)
    assert found.report["objective"] == pytest.approx(naive_value(interest, edges, weights, objective))
    bounds = found.report["bounds"]
    most = bounds["edges"] if bounds["edges"] is not None else 10
    best = min(
        naive_value(interest, one, weights, objective)
        for one in all_overlays(interest, most, bounds["degree_max"])
    )
    assert found.report["objective"] >= best - 1e-9
    assert whole(interest, edges)


@pytest.mark.parametrize("objective", WEIGHTED)
def test_the_optimum_is_found_on_most_tiny_tables(objective: str) -> None:
    hits, tables = 0, 12
    for seed in range(tables):
        interest = random_interest(5, 3, 2, seed=seed)
        weights, start = drawn_weights(interest, seed), build_gm(interest).overlay
        found = improve_overlay(
            interest, start, objective=objective, constraints=weights, rounds=20, max_hops="none", max_edges=6
        )
        best = min(
            naive_value(interest, one, weights, objective)
            for one in all_overlays(interest, 6, found.report["bounds"]["degree_max"])
        )
        hits += found.report["objective"] <= best + 1e-9
    assert hits >= tables - 1


@pytest.mark.parametrize("objective", ["rate-hops", "rate-ms", "mean-hops"])
def test_more_edges_make_paths_shorter_and_bounds_hold(objective: str) -> None:
    interest = random_interest(40, 8, 3, seed=2)
    weights, start = drawn_weights(interest, 1), build_gm(interest).overlay
    options = {"objective": objective, "constraints": weights, "rounds": 8}
    same = improve_overlay(interest, start, **options)
    more = improve_overlay(interest, start, max_edges=start.n_edges + 10, **options)
    degree = int(start.degrees().max())
    assert same.n_edges <= start.n_edges < more.n_edges <= start.n_edges + 10
    assert more.report["objective"] < same.report["objective"] < same.report["objective_start"]
    assert int(more.overlay.degrees().max()) <= degree and int(same.overlay.degrees().max()) <= degree


def test_rates_decide_which_topic_has_short_paths() -> None:
    """Half of the nodes want both topics, and edges are few: whichever topic has the rate gets them."""
    pairs = [(f"n{i:02}", "x") for i in range(10)] + [(f"n{i:02}", "y") for i in range(5, 15)]
    interest, found = Interest.from_pairs(pairs), {}
    start = build_gm(interest).overlay
    options = {"objective": "rate-hops", "rounds": 12, "max_degree": 4, "max_edges": start.n_edges + 4}
    for busy in "xy":
        limits = Constraints.of(interest, rates={t: 100.0 if t == busy else 0.01 for t in "xy"})
        made = improve_overlay(interest, start, constraints=limits, **options)
        view = view_of(interest, made.overlay)
        alone = (Constraints.of(interest, rates={t: 1.0}) for t in "xy")
        found[busy] = [measure_deliveries(view, one)["delivery_hops"] for one in alone]
    assert found["x"][0] < found["y"][0] and found["y"][1] < found["x"][1]


def test_measured_figures_are_the_naive_ones() -> None:
    interest = random_interest(30, 6, 3, seed=5)
    weights, overlay = drawn_weights(interest, 4), ring_per_topic(interest)
    found = measure_deliveries(view_of(interest, overlay), weights)
    edges = edges_of(overlay)
    for key, objective in (
        ("delivery_hops", "rate-hops"),
        ("delivery_ms", "rate-ms"),
        ("cost_total", "cost"),
    ):
        assert found[key] == pytest.approx(naive_value(interest, edges, weights, objective))


@given(interest=interests(max_nodes=8), seed=st.integers(0, 50))
@examples(40)
def test_nobody_above_a_cap_on_loads_forwards_more(interest: Interest, seed: int) -> None:
    """Loads come under their caps or are named; whoever is under stays there."""
    lots = np.random.default_rng(seed)
    rates, start = np.round(lots.uniform(0, 5, interest.n_topics), 1), build_gm(interest).overlay
    edges = edges_of(start)
    before = naive_loads(interest, edges, rates.tolist())
    caps = np.array([load * lots.choice([0.5, 1.0, 2.0]) for load in before])
    limits = Constraints(rates=rates, load_caps=caps)
    found = improve_overlay(interest, start, constraints=limits, rounds=3)
    after = naive_loads(interest, edges_of(found.overlay), rates.tolist())
    names = interest.node_ids.to_pylist()
    above = {names[v] for v in range(interest.n_nodes) if after[v] > caps[v] + 1e-6}
    assert above == set(found.report.get("nodes_above_load", []))
    for load, cap, was in zip(after, caps, before, strict=True):
        assert load <= max(cap, was) + 1e-6


def test_loads_are_moved_away_where_there_is_room() -> None:
    interest = Interest.from_pairs([(f"n{i}", "x") for i in range(8)])
    star = overlay_on(interest, [(0, i) for i in range(1, 8)])
    limits = Constraints.of(interest, rates={"x": 2.0}, load_caps={"n0": 6.0})
    found = improve_overlay(interest, star, constraints=limits, rounds=8, max_hops="none")
    assert naive_loads(interest, edges_of(found.overlay), [2.0])[0] <= 6.0
    assert "nodes_above_load" not in found.report


@pytest.mark.parametrize(
    ("objective", "said"),
    [("rate-hops", "needs `rates`"), ("rate-ms", "needs `rtt`"), ("cost", "needs `costs`")],
)
def test_an_objective_without_its_weights_is_refused(objective: str, said: str) -> None:
    interest = random_interest(5, 3, 2, seed=1)
    with pytest.raises(TopicloomError, match=said):
        improve_overlay(interest, build_gm(interest).overlay, objective=objective, rounds=1)

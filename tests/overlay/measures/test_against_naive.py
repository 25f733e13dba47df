"""Every measure equals its definition on small random overlays, connected or not."""

from __future__ import annotations

from math import isclose, log

import numpy as np
from hypothesis import given

from drawing import examples
from naive import measures as naive
from naive.overlays import measured
from topicloom.overlay.measures.components import (
    measure_components,
    measure_filtering,
    topic_filtering_costs,
)
from topicloom.overlay.measures.connectivity import topic_components
from topicloom.overlay.measures.degree import measure_degree
from topicloom.overlay.measures.diameter import measure_overlay_diameter, topic_diameter_bounds
from topicloom.overlay.measures.load import node_loads, topics_along_edges
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

many = examples(150)


@given(measured())
@many
def test_topic_components_are_those_of_the_induced_subgraphs(case: tuple[Interest, Overlay]) -> None:
    interest, overlay = case
    expected = naive.topic_component_counts(interest, overlay)
    view = view_of(interest, overlay, threads=1)
    assert topic_components(view.interest, view.overlay).tolist() == expected
    found = measure_components(view)
    assert found["topic_components"] == sum(expected)
    assert found["topics_partitioned"] == sum(count > 1 for count in expected)
    assert found["topic_connected"] == all(count == 1 for count in expected)


@given(measured(max_nodes=14))
@many
def test_topic_diameters_are_exact_on_small_topics(case: tuple[Interest, Overlay]) -> None:
    interest, overlay = case
    lower, upper = topic_diameter_bounds(view_of(interest, overlay, threads=1))
    assert lower.tolist() == upper.tolist() == naive.topic_diameters(interest, overlay)


@given(measured(max_nodes=14))
@many
def test_overlay_diameter_is_that_of_a_largest_component(case: tuple[Interest, Overlay]) -> None:
    interest, overlay = case
    components, diameters = naive.overlay_diameter(overlay)
    found = measure_overlay_diameter(view_of(interest, overlay, threads=1))
    assert found["overlay_components"] == components
    assert found["diameter_overlay"] in diameters
    assert found["diameter_overlay_bounds"] == [found["diameter_overlay"]] * 2


@given(measured())
@many
def test_degrees_are_counted_as_networkx_counts_them(case: tuple[Interest, Overlay]) -> None:
    interest, overlay = case
    degrees = [degree for _, degree in naive.graph_of(overlay).degree]
    found = measure_degree(view_of(interest, overlay, threads=1))
    assert found["degree_max"] == max(degrees)
    assert isclose(found["degree_avg"], sum(degrees) / len(degrees))
    assert found["degree_histogram"] == {str(d): degrees.count(d) for d in sorted(set(degrees))}
    assert found["degree_percentiles"]["min"] == min(degrees)
    assert found["degree_percentiles"]["50"] == sorted(degrees)[(len(degrees) - 1) // 2]


@given(measured())
@many
def test_edges_carry_the_topics_both_ends_want(case: tuple[Interest, Overlay]) -> None:
    interest, overlay = case
    weights = np.arange(1.0, interest.n_topics + 1)
    counts, carried = topics_along_edges(view_of(interest, overlay, threads=1), weights)
    shared = naive.shared_topics(interest, overlay)
    assert counts.tolist() == [len(topics) for topics in shared]
    assert carried.tolist() == [sum(topic + 1.0 for topic in topics) for topics in shared]


@given(measured())
@many
def test_load_is_summed_over_the_edges_of_a_node(case: tuple[Interest, Overlay]) -> None:
    interest, overlay = case
    rates = np.arange(interest.n_topics) + 0.5
    view = view_of(interest, overlay, threads=1)
    assert node_loads(view, rates).tolist() == naive.node_loads(interest, overlay, rates.tolist())
    assert node_loads(view, None).tolist() == naive.node_loads(interest, overlay, [1.0] * interest.n_topics)


@given(measured(max_nodes=8))
@examples(200)
def test_filtering_cost_is_never_below_the_optimum_nor_far_above(case: tuple[Interest, Overlay]) -> None:
    """Below would be a tree that does not exist; 0 must mean connected; -1 must mean not joinable."""
    interest, overlay = case
    view = view_of(interest, overlay, threads=1)
    costs = topic_filtering_costs(view).tolist()
    components = naive.topic_component_counts(interest, overlay)
    for topic, cost in enumerate(costs):
        best = naive.filtering_cost(interest, overlay, topic)
        if best is None:
            assert cost == -1
            continue
        assert cost >= best
        assert (cost == 0) == (components[topic] == 1)
        assert cost <= best * max(1.0, 2 * log(components[topic]))
    assert measure_filtering(view)["filtering_unreachable"] == costs.count(-1)

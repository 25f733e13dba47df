"""All measures of an overlay, by name: one line each. To add one, write its file and add its line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from topicloom.measures.components import measure_components
from topicloom.measures.degree import measure_degree
from topicloom.measures.diameter import measure_overlay_diameter, measure_topic_diameter
from topicloom.measures.edges import measure_topics_per_edge
from topicloom.measures.filtering import measure_filtering
from topicloom.measures.load import measure_load
from topicloom.measures.view import View


@dataclass(frozen=True, slots=True)
class Measure:
    """A function of a view that gives the named figures; `keys` are promises, more may be there."""

    keys: tuple[str, ...]
    function: Callable[[View], dict[str, Any]]
    description: str
    cost: str


MEASURES: dict[str, Measure] = {
    "edges": Measure(
        (
            "edges",
            "topics_per_edge_avg",
            "topics_per_edge_max",
            "topics_per_edge_percentiles",
            "edges_unused",
        ),
        measure_topics_per_edge,
        "edges, and how many topics both ends of an edge want",
        "linear in the topic lists along edges",
    ),
    "degree": Measure(
        ("degree_max", "degree_avg", "degree_percentiles", "degree_histogram"),
        measure_degree,
        "how many neighbors nodes have",
        "linear in edges",
    ),
    "components": Measure(
        ("topic_components", "topics_partitioned", "topic_connected"),
        measure_components,
        "into how many components each topic's subscribers fall",
        "linear in subscriptions x degree",
    ),
    "overlay-diameter": Measure(
        ("diameter_overlay", "diameter_overlay_bounds", "overlay_components"),
        measure_overlay_diameter,
        "longest shortest path of the overlay (its largest component): exact or bounds",
        "up to nodes x edges / 64, at most a stated number of edge visits",
    ),
    "topic-diameter": Measure(
        (
            "diameter_topic_max",
            "diameter_topic_avg",
            "diameter_topic_max_bounds",
            "diameter_topic_avg_bounds",
            "diameter_topics_counted",
            "diameter_topics_exact",
        ),
        measure_topic_diameter,
        "longest shortest path among each topic's subscribers alone: exact or bounds",
        "up to subscribers x edges / 64 per topic, at most a stated number of edge visits",
    ),
    "filtering": Measure(
        ("filtering_cost", "filtering_cost_max", "filtering_unreachable"),
        measure_filtering,
        "nodes not interested that must carry a topic to join its subscribers; 0 when connected",
        "linear in edges per partitioned topic",
    ),
    "load": Measure(
        ("load_max", "load_avg", "load_percentiles", "load_unit"),
        measure_load,
        "topics (or messages, when rates are known) that a node's edges carry",
        "linear in the topic lists along edges",
    ),
}

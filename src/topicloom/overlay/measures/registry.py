"""All measures of an overlay, by name: one line each. To add one, write its file and add its line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from topicloom.base.registry import Entry
from topicloom.base.summaries import Figures
from topicloom.overlay.measures.components import measure_components
from topicloom.overlay.measures.degree import measure_degree
from topicloom.overlay.measures.diameter import measure_overlay_diameter, measure_topic_diameter
from topicloom.overlay.measures.edges import measure_topics_per_edge
from topicloom.overlay.measures.filtering import measure_filtering
from topicloom.overlay.measures.load import measure_load
from topicloom.overlay.measures.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure(Entry):
    """A function of a view that gives the named figures; `keys` are promises, more may be there."""

    keys: tuple[str, ...]
    function: Callable[[View], Figures]


MEASURES: dict[str, Measure] = {
    "edges": Measure(
        keys=(
            "edges",
            "topics_per_edge_avg",
            "topics_per_edge_max",
            "topics_per_edge_percentiles",
            "edges_unused",
        ),
        function=measure_topics_per_edge,
        aim="edges, and how many topics both ends of an edge want",
        complexity="linear in the topic lists along edges",
    ),
    "degree": Measure(
        keys=("degree_max", "degree_avg", "degree_percentiles", "degree_histogram"),
        function=measure_degree,
        aim="how many neighbors nodes have",
        complexity="linear in edges",
    ),
    "components": Measure(
        keys=("topic_components", "topics_partitioned", "topic_connected"),
        function=measure_components,
        aim="into how many components each topic's subscribers fall",
        complexity="linear in subscriptions x degree",
    ),
    "overlay-diameter": Measure(
        keys=("diameter_overlay", "diameter_overlay_bounds", "overlay_components"),
        function=measure_overlay_diameter,
        aim="longest shortest path of the overlay (its largest component): exact or bounds",
        complexity="up to nodes x edges / 64, at most a stated number of edge visits",
    ),
    "topic-diameter": Measure(
        keys=(
            "diameter_topic_max",
            "diameter_topic_avg",
            "diameter_topic_max_bounds",
            "diameter_topic_avg_bounds",
            "diameter_topics_counted",
            "diameter_topics_exact",
        ),
        function=measure_topic_diameter,
        aim="longest shortest path among each topic's subscribers alone: exact or bounds",
        complexity="up to subscribers x edges / 64 per topic, at most a stated number of edge visits",
    ),
    "filtering": Measure(
        keys=("filtering_cost", "filtering_cost_max", "filtering_unreachable"),
        function=measure_filtering,
        aim="nodes not interested that must carry a topic to join its subscribers; 0 when connected",
        complexity="linear in edges per partitioned topic",
    ),
    "load": Measure(
        keys=("load_max", "load_avg", "load_percentiles", "load_unit"),
        function=measure_load,
        aim="topics (or messages, when rates are known) that a node's edges carry",
        complexity="linear in the topic lists along edges",
    ),
}

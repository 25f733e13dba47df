"""How much a node may have to pass on: over its edges, the topics (or messages) each of them carries.

Without rates the unit is (neighbor, topic) pairs. With rates, a topic weighs what its publishers send
together, and the load is an upper bound of the messages per unit of time on the node's edges: a flood in
which every message crosses every edge that carries its topic.
"""

from __future__ import annotations

import numpy as np

from topicloom.base.arrays import Floats, Ints
from topicloom.base.summaries import Figures
from topicloom.overlay.measures.degree import percentiles
from topicloom.overlay.measures.edges import topics_along_edges
from topicloom.overlay.measures.view import View
from topicloom.overlay.model.interest import Interest
from topicloom.tables.records import ROLES


def measure_load(view: View) -> Figures:
    """`load_max`, `load_avg`, `load_percentiles`, and `load_unit` (topics or messages)."""
    rates = topic_rates(view.interest)
    loads = node_loads(view, rates)
    return {
        "load_max": float(loads.max(initial=0.0)),
        "load_avg": float(loads.mean()) if len(loads) else 0.0,
        "load_percentiles": percentiles(loads),
        "load_unit": "topics" if rates is None else "messages",
    }


def topic_rates(interest: Interest) -> Floats | None:
    """What the publishers of each topic send together; None when the input had no rates.

    Without roles every node with a rate is a publisher. A missing rate (NaN) counts as 0.
    """
    if interest.rates is None:
        return None
    sent = np.nan_to_num(interest.rates, nan=0.0)
    if interest.roles is not None:
        sent = np.where(interest.roles == ROLES.index("sub"), 0.0, sent)
    return _weighed_counts(interest.node_topics, sent, interest.n_topics)


def node_loads(view: View, rates: Floats | None) -> Floats:
    """For each node the weight of the topics on its edges, summed."""
    weights = np.ones(view.interest.n_topics) if rates is None else rates
    _, carried = topics_along_edges(view, weights)
    n = view.overlay.n_nodes
    return _weighed_counts(view.overlay.u, carried, n) + _weighed_counts(view.overlay.v, carried, n)


def _weighed_counts(owners: Ints, weights: Floats, n: int) -> Floats:
    return np.bincount(owners, weights=weights, minlength=n).astype(np.float64)

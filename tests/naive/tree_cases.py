"""Interests with overlays in which every topic is connected: from sparse to complete."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from strategies import interests
from topicloom.overlay.builders.registry import BUILDERS
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


@st.composite
def served(draw: st.DrawFn, max_nodes: int = 10, max_topics: int = 6) -> tuple[Interest, Overlay]:
    """An overlay of a builder, or a sparse one with some edges more."""
    interest = draw(interests(max_nodes, max_topics))
    builder = draw(st.sampled_from(["gm", "star", "ring-pt", "full-mesh"]))
    overlay = BUILDERS[builder].build(interest).overlay
    nodes = st.integers(0, interest.n_nodes - 1)
    more = [(a, b) for a, b in draw(st.lists(st.tuples(nodes, nodes), max_size=4)) if a != b]
    if not more:
        return interest, overlay
    ends = np.array(more)
    u, v = np.concatenate((overlay.u, ends[:, 0])), np.concatenate((overlay.v, ends[:, 1]))
    return interest, Overlay.from_edges(interest.node_ids, u, v)

"""Random interests for property tests: small, with twins, lonely nodes and disjoint parts among them."""

from __future__ import annotations

from hypothesis import strategies as st

from topicloom.overlay.model.interest import Interest


@st.composite
def interests(draw: st.DrawFn, max_nodes: int = 12, max_topics: int = 7) -> Interest:
    """An interest of distinct topic sets, some of them held by several nodes."""
    topics = [f"t{i}" for i in range(draw(st.integers(1, max_topics)))]
    sets = draw(st.lists(st.sets(st.sampled_from(topics), min_size=1), min_size=1, max_size=max_nodes))
    holders = draw(st.lists(st.integers(0, len(sets) - 1), min_size=1, max_size=max_nodes))
    pairs = [(f"n{node:02}", topic) for node, held in enumerate(holders) for topic in sets[held]]
    return Interest.from_pairs(pairs)


@st.composite
def tangled(draw: st.DrawFn, max_nodes: int = 6) -> Interest:
    """Small topics over few nodes: most of these interests are served by no tree."""
    n = draw(st.integers(3, max_nodes))
    nodes = st.sets(st.integers(0, n - 1), min_size=1, max_size=4)
    topics = draw(st.lists(nodes, min_size=3, max_size=n + 2))
    return Interest.from_pairs((f"n{node}", f"t{t}") for t, own in enumerate(topics) for node in sorted(own))

"""The judge of survival: against every set of dead nodes, and on broken overlays that it must refuse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.overlays import interest_of, measured, overlay_on, random_interest
from naive.survival import naive_fragile
from topicloom.errors import UsageError
from topicloom.overlay.builders.sturdy import build_sturdy
from topicloom.overlay.measures.survival import check_survival
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


@given(case=measured(max_nodes=9), deaths=st.integers(0, 2))
@examples(200)
def test_topics_that_deaths_split_are_found(case: tuple[Interest, Overlay], deaths: int) -> None:
    """Also with witnesses that hold: the two nodes named are apart once the dead are gone."""
    interest, overlay = case
    fragile = naive_fragile(interest, overlay, deaths)
    found = check_survival(interest, overlay, deaths)
    assert (found.survives, found.topics_fragile) == (not fragile, len(fragile))
    names = interest.node_ids.to_pylist()
    for one in found.fragile:
        assert interest.topic_ids.to_pylist().index(one.topic) in fragile
        assert len(one.dead) <= deaths and not set(one.dead) & set(one.nodes)
        left = {names.index(name) for name in interest.node_names(one.topic)}
        left -= {names.index(name) for name in one.dead}
        reached, front = set(), [names.index(one.nodes[0])]
        edges = list(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))
        while front:
            node = front.pop()
            reached.add(node)
            near = {a for a, b in edges if b == node} | {b for a, b in edges if a == node}
            front += near & left - reached
        assert names.index(one.nodes[1]) not in reached


@pytest.mark.parametrize("deaths", [1, 2])
def test_a_sturdy_overlay_without_one_of_its_needed_edges_is_refused(deaths: int) -> None:
    interest = random_interest(40, 8, 3, seed=deaths)
    overlay = build_sturdy(interest, survive=deaths, work=0).overlay
    assert check_survival(interest, overlay, deaths).survives
    edges = list(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))
    for out in edges:  # all are needed: pruning left none that is not
        kept = [edge for edge in edges if edge != out]
        assert not check_survival(interest, overlay_on(interest, kept), deaths).survives


def test_a_number_of_deaths_that_is_not_judged_is_refused() -> None:
    interest = interest_of([{0}, {0}])
    with pytest.raises(UsageError, match="survive=3"):
        check_survival(interest, overlay_on(interest, [(0, 1)]), 3)

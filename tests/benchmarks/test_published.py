"""The peer of the speed comparison must be a true GM and GM-M, or the ratio means nothing."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.published import MAX_NODES, Steps, overlay_of, published_gm, published_gm_m
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.greedy import NotGreedy, naive_gm, replay
from topicloom.base.ids import numbered_ids
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.instances import lemma_6_6

pytestmark = pytest.mark.slow

pairs = st.sets(st.tuples(st.integers(0, 11), st.integers(0, 7)), max_size=45)


def as_list(steps: Steps) -> list[list[int]]:
    return [list(map(int, step)) for step in steps]


@examples(60)
@given(pairs)
def test_every_published_choice_is_greedy(numbers: set[tuple[int, int]]) -> None:
    """Otherwise an update of a pair's contribution is missing and the peer does less work than it should."""
    interest = Interest.from_pairs((f"n{node:02d}", f"t{topic}") for node, topic in sorted(numbers))
    replay(interest, as_list(published_gm(interest)))
    replay(interest, as_list(published_gm_m(interest)), phases=True)


@pytest.mark.parametrize("k", [3, 4, 5, 6])
def test_published_gm_takes_exactly_the_edges_of_lemma_6_6(k: int) -> None:
    """Otherwise it is not the GM of [Chockler2007a]. For k=6 contributions need two bytes."""
    interest = lemma_6_6(k, k)
    steps = published_gm(interest)
    assert len(steps) == 2 * k + k * k
    assert int(steps[:, 2].sum()) == interest.n_subscriptions - interest.n_topics


def test_published_overlay_has_the_edges_chosen() -> None:
    """Otherwise edges and degrees printed beside ours are those of another overlay."""
    interest = Interest.from_pairs([(node, topic) for node in "abcde" for topic in "xy"])
    steps = published_gm_m(interest)
    assert overlay_of(interest, steps).n_edges == len(steps) == len(naive_gm(interest)) == 4


def test_the_replay_rejects_a_published_sequence_that_lost_an_edge() -> None:
    """Otherwise the check above would pass anything."""
    interest = lemma_6_6(3, 3)
    with pytest.raises(NotGreedy):
        replay(interest, as_list(published_gm(interest))[:-1])


def test_more_pairs_than_the_numbers_hold_are_refused() -> None:
    """Otherwise pair numbers wrap around in silence."""
    count = MAX_NODES + 1
    interest = Interest.from_codes(
        numbered_ids("n", count), numbered_ids("t", 1), np.arange(count), np.zeros(count, dtype=np.int64)
    )
    with pytest.raises(ValueError, match="more pairs"):
        published_gm(interest)

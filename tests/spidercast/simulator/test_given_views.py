"""The choice kernels and given views against the plain choice in `protocol/membership.py`."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from topicloom.errors import InputError
from topicloom.spidercast.protocol.membership import NeighborChoice, choose_among
from topicloom.spidercast.simulator.given_views import ViewTable

# The random words are meant to wrap around, which numpy tells of when nothing is compiled.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

TOPICS = (0, 1, 5, 63, 64, 127, 128, 130)  # on both sides of the words' edges
topic_sets = st.frozensets(st.sampled_from(TOPICS), max_size=5)


class Told(Random):
    """Draws what it is told, in both ways of drawing: as a number below 1 and as a place below n."""

    def __init__(self, draw: float) -> None:
        self.draw = draw

    def random(self) -> float:
        return self.draw

    def randrange(self, among: int) -> int:  # type: ignore[override]
        return int(self.draw * among)


draws = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.7, 0.99, np.nextafter(1.0, 0.0)])


@examples(200)
@given(
    st.lists(st.none() | topic_sets, min_size=2, max_size=12),
    st.sampled_from(NeighborChoice),
    topic_sets,
    st.sets(st.integers(0, 11)),
    draws,
    st.sampled_from([1.0, 0.5, 0.1]),
    st.integers(0, 5),
)
def test_a_shared_view_chooses_as_the_plain_choice_does(
    interests: list[frozenset[int] | None],
    rule: NeighborChoice,
    wanted: frozenset[int],
    banned: set[int],
    draw: float,
    share: float,
    seed: int,
) -> None:
    """Nodes without an interest (None) are away: not listed. Who is banned need not be in the view."""
    n = len(interests)
    view_table = ViewTable(n, 131, share, seed)
    for node, topics in enumerate(interests):
        if topics is not None:
            view_table.enter(node, topics)
    banned = {node for node in banned if node < n}
    for node in range(n):
        order = range(n) if view_table.views is None else map(int, view_table.views[node])
        known = [(other, topics) for other in order if (topics := interests[other]) is not None]
        expected = choose_among(known, rule, wanted, banned, Told(draw))
        assert view_table.view_of(node).choose(rule, wanted, banned, Told(draw)) == expected


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_ties_are_broken_uniformly(share: float) -> None:
    view_table = ViewTable(20, 4, share, seed=3)
    for node in range(20):
        view_table.enter(node, [node % 2, 2])
    rng, view = Random(5), view_table.view_of(0)
    row = range(20) if view_table.views is None else map(int, view_table.views[0])
    best = [node for node in row if node % 2 and node != 3]
    found = Counter(view.choose(NeighborChoice.GREEDY, {1, 2}, {0, 3}, rng) for _ in range(4000))
    assert set(found) == set(best)
    expected = 4000 / len(best)
    assert all(abs(count - expected) < 5 * expected**0.5 for count in found.values())


def test_a_view_tells_the_truth_of_the_moment() -> None:
    view_table = ViewTable(3, 70, 1.0, seed=0)
    view = view_table.view_of(0)

    def found(topic: int) -> int | str | None:
        return view.choose(NeighborChoice.GREEDY, {topic}, {0}, Random(1))

    assert found(65) is None
    view_table.enter(1, [65])
    assert found(65) == 1
    view_table.set_topics(1, [2])
    assert (found(65), found(2)) == (None, 1)
    view_table.forget(1)
    assert found(2) is None
    assert view.choose(NeighborChoice.ANYONE, (), {0}, Random(1)) is None, "who is away is not even anyone"


@pytest.mark.parametrize(("n", "share", "size"), [(2, 0.01, 1), (40, 0.25, 10), (9, 0.99, 8)])
def test_views_are_distinct_others_as_many_as_the_share_says(n: int, share: float, size: int) -> None:
    view_table = ViewTable(n, 1, share, seed=1)
    assert view_table.views is not None
    for node in range(n):
        for again in range(3):
            row = view_table.views[node].tolist()
            assert len(row) == len(set(row)) == size
            assert set(row) <= set(range(n)) - {node}, again
            view_table.enter(node, [0])


def test_views_are_uniform_samples() -> None:
    """Each node is in about equally many views, and each place of a row is as good as another."""
    counts = np.zeros(60)
    places = np.zeros((10, 60))
    for seed in range(60):
        views = ViewTable(60, 1, 10 / 59, seed).views
        assert views is not None
        counts += np.bincount(views.ravel(), minlength=60)
        for place in range(10):
            places[place] += np.bincount(views[:, place], minlength=60)
    for seen in (counts, *places):
        expected = seen.sum() / 60
        assert np.abs(seen - expected).max() < 5 * expected**0.5


def test_a_seed_gives_the_same_views_and_each_join_a_new_one() -> None:
    first, second, other = (ViewTable(50, 1, 0.2, seed) for seed in (1, 1, 2))
    assert first.views is not None
    assert other.views is not None
    assert np.array_equal(first.views, second.views)  # type: ignore[arg-type]
    assert not np.array_equal(first.views, other.views)
    before = first.views.copy()
    first.enter(7, [0])
    assert np.array_equal(first.views, before), "the first view was drawn already"
    first.enter(7, [0])
    changed = (first.views != before).any(axis=1)
    assert changed.tolist() == [node == 7 for node in range(50)]
    again = first.views[7].copy()
    first.enter(7, [0])
    assert not np.array_equal(first.views[7], again)
    for _ in range(3):
        second.enter(7, [0])
    assert np.array_equal(first.views, second.views)  # type: ignore[arg-type]


def test_views_that_would_not_fit_are_refused_with_a_way_out() -> None:
    with pytest.raises(InputError, match="view=gossip"):
        ViewTable(1_000_000, 10, 0.5, seed=0)

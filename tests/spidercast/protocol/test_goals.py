"""The bookkeeping of coverage against counting anew after every change."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from topicloom.spidercast.protocol.goals import Coverage, Quantity
from topicloom.spidercast.protocol.messages import Topics

topic_sets = st.frozensets(st.sampled_from("vwxyz"))
changes = st.lists(
    st.one_of(
        st.tuples(st.just("add"), topic_sets),
        st.tuples(st.just("drop"), st.integers(0, 99)),
        st.tuples(st.just("want"), topic_sets),
        st.tuples(st.just("raise"), st.none()),
    ),
    max_size=25,
)


def counts(interest: Topics, neighbors: list[Topics]) -> dict[object, int]:
    return {topic: sum(topic in neighbor for neighbor in neighbors) for topic in interest}


@given(topic_sets, st.integers(0, 3), changes)
def test_coverage_is_what_counting_anew_says(
    interest: Topics, k: int, course: list[tuple[str, object]]
) -> None:
    goal = Coverage(interest, k)
    neighbors: list[Topics] = []
    for kind, what in course:
        if kind == "add":
            assert isinstance(what, frozenset)
            neighbors.append(what)
            goal.add(interest & what)
        elif kind == "drop" and neighbors:
            assert isinstance(what, int)
            goal.drop(interest & neighbors.pop(what % len(neighbors)))
        elif kind == "want":
            assert isinstance(what, frozenset)
            interest = what
            goal.restart(interest)
            for neighbor in neighbors:
                goal.add(interest & neighbor)
        elif kind == "raise":
            k += 1
            goal.raise_k()
        cover = counts(interest, neighbors)
        assert set(goal.wanted) == {topic for topic, count in cover.items() if count < k}
        assert goal.lacking == len(goal.wanted)
        assert goal.limit == k * len(interest)
        assert goal.asleep == (k == 0)
        for at, neighbor in enumerate(neighbors):
            without = counts(interest, neighbors[:at] + neighbors[at + 1 :])
            worse = sum(count < k for topic, count in without.items() if topic in neighbor)
            assert goal.loss(interest & neighbor) == worse
        for probe in (frozenset("v"), frozenset("wx"), frozenset("yz"), frozenset[str]()):
            assert goal.serves(probe) == any(cover.get(topic, k) < k for topic in probe)


@given(topic_sets, st.integers(0, 3), st.lists(st.booleans(), max_size=12))
def test_a_quantity_counts_links_whoever_they_are(interest: Topics, links: int, course: list[bool]) -> None:
    goal, neighbors = Quantity(interest, links), 0
    for more in course:
        if more:
            goal.add(frozenset())
            neighbors += 1
        elif neighbors:
            goal.drop(frozenset())
            neighbors -= 1
        assert goal.lacking == max(0, links - neighbors)
        assert goal.loss(frozenset()) == (neighbors <= links)
        assert goal.serves(frozenset()) == (neighbors < links)
        assert (goal.limit, goal.asleep, goal.wanted) == (links, links == 0, interest)


@given(topic_sets, st.integers(1, 3), st.lists(topic_sets, max_size=20))
def test_above_l_max_there_is_always_a_neighbor_that_is_not_needed(
    interest: Topics, k: int, neighbors: list[Topics]
) -> None:
    """What `MaintenanceTask` relies on when it never lets a needed neighbor go."""
    goal = Coverage(interest, k)
    for neighbor in neighbors:
        goal.add(interest & neighbor)
    if len(neighbors) > goal.limit:
        assert any(goal.loss(interest & neighbor) == 0 for neighbor in neighbors)

"""The choice of the next neighbor over a plain list, against the words of Figure 5 and section 3.9.1."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from topicloom.spidercast.protocol.membership import NeighborChoice, PlainView, choose_among
from topicloom.spidercast.protocol.messages import NodeId, Topics

topic_sets = st.frozensets(st.sampled_from("wxyz"))
views = st.dictionaries(st.integers(0, 9), topic_sets, max_size=8)


class Chosen(Random):
    """Always takes the same place among those that are equally good."""

    def __init__(self, place: int) -> None:
        self.place, self.among = place, 0

    def randrange(self, among: int) -> int:  # type: ignore[override]
        self.among = among
        return self.place % among


def allowed(
    view: dict[int, Topics], rule: NeighborChoice, wanted: Topics, banned: set[int]
) -> set[NodeId | None]:
    """Everybody that the rule may choose."""
    others = {node: len(wanted & interest) for node, interest in view.items() if node not in banned}
    useful = {node: shared for node, shared in others.items() if shared}
    found: list[int]
    match rule:
        case NeighborChoice.GREEDY:
            found = [node for node in useful if useful[node] == max(useful.values())]
        case NeighborChoice.COVERING:
            found = list(useful)
        case NeighborChoice.SIMILAR:
            found = [node for node in others if others[node] == max(others.values())]
        case NeighborChoice.ANYONE:
            found = list(others)
    return set(found) or {None}


@given(views, st.sampled_from(NeighborChoice), topic_sets, st.sets(st.integers(0, 9)))
def test_exactly_those_that_the_rule_allows_are_chosen(
    view: dict[int, Topics], rule: NeighborChoice, wanted: Topics, banned: set[int]
) -> None:
    found = {choose_among(view.items(), rule, wanted, banned, Chosen(place)) for place in range(10)}
    assert found == allowed(view, rule, wanted, banned)


@given(views, st.sampled_from(NeighborChoice), topic_sets, st.integers(0, 9))
def test_a_plain_view_shows_what_its_dict_holds_at_the_moment(
    view: dict[int, Topics], rule: NeighborChoice, wanted: Topics, seed: int
) -> None:
    plain = PlainView({})
    assert plain.choose(rule, wanted, (), Random(seed)) is None
    plain.interests.update(view)
    assert plain.choose(rule, wanted, (), Random(seed)) in allowed(view, rule, wanted, set())

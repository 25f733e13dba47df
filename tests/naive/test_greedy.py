"""The slow versions themselves: known answers, and a replay that refuses what is not greedy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from naive.greedy import NotGreedy, State, naive_gm, naive_gm_m, naive_ring_pt, replay
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.instances import lemma_6_6

pairs = st.sets(st.tuples(st.integers(0, 7), st.integers(0, 5)), max_size=25)


def interest_of(numbers: set[tuple[int, int]]) -> Interest:
    return Interest.from_pairs((f"n{node}", f"t{topic}") for node, topic in sorted(numbers))


def connected(interest: Interest, edges: list[tuple[int, int, int]]) -> bool:
    state = State(interest)
    for u, v, _ in edges:
        state.add(u, v)
    return not state.candidates()


@pytest.mark.parametrize(("k", "edges"), [(3, 15), (4, 24), (5, 35), (6, 48)])
def test_gm_takes_exactly_the_edges_of_lemma_6_6(k: int, edges: int) -> None:
    """Otherwise the instance or the greedy is not that of [Chockler2007a, Lemma 6.6]."""
    assert len(naive_gm(lemma_6_6(k, k))) == edges == 2 * k + k * k


@examples(40)
@given(pairs)
def test_each_choice_is_greedy_and_the_end_is_topic_connected(numbers: set[tuple[int, int]]) -> None:
    """Otherwise the yardstick of the kernels is wrong."""
    interest = interest_of(numbers)
    for edges, phases in ((naive_gm(interest), False), (naive_gm_m(interest), True)):
        replay(interest, edges, phases, ties=True)
        assert connected(interest, edges)
    replay(interest, naive_gm(interest, redundancy=2), redundancy=2, ties=True)


def test_ties_go_to_twins_then_low_degrees_then_small_ids() -> None:
    """Otherwise the kernels would be compared with another tie rule than the documented one."""
    # c and d are twins; a, b, e share the same two topics with everyone but want more besides.
    interest = Interest.from_pairs(
        [(node, topic) for node in "abcde" for topic in "xy"] + [("a", "p"), ("b", "q"), ("e", "r")]
    )
    # After c-d (twins) and a-b (degree 0) all other pairs have a larger degree of 1: smallest ids; then b-e
    # (1) comes before a-e (2).
    assert naive_gm(interest) == [(2, 3, 2), (0, 1, 2), (0, 2, 2), (1, 4, 2)]


def test_phases_keep_the_degrees_low_where_gm_builds_a_star() -> None:
    """Otherwise GM-M takes pairs above its degree phase."""
    hub = [("a", f"t{i}") for i in range(4)]
    interest = Interest.from_pairs(hub + [(f"s{i}", f"t{i}") for i in range(4)])
    assert [step[:2] for step in naive_gm_m(interest)] == [(0, 1), (0, 2), (0, 3), (0, 4)]
    chain = Interest.from_pairs([(node, "t") for node in "abcd"])
    assert naive_gm_m(chain) == [(0, 1, 1), (2, 3, 1), (0, 2, 1)]


def test_redundancy_uses_new_pairs_and_connects_again_where_it_can() -> None:
    """Otherwise a second run repeats edges or keeps the components of the first."""
    interest = Interest.from_pairs([(node, "t") for node in "abcd"])
    edges = [step[:2] for step in naive_gm(interest, redundancy=2)]
    assert len(edges) == len(set(edges)) == 6
    alone = Interest.from_pairs([("a", "t"), ("b", "t")])
    assert naive_gm(alone, redundancy=3) == [(0, 1, 1)]


def test_rings_by_id_and_by_random_order() -> None:
    """Otherwise a ring of one or two subscribers has loops, or the order is not the promised one."""
    interest = Interest.from_pairs([*((n, "t") for n in "abcd"), ("a", "u"), ("c", "u"), ("d", "v")])
    assert naive_ring_pt(interest) == {(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)}
    seeded = [naive_ring_pt(interest, order="random", seed=seed) for seed in range(20)]
    assert all(len(edges) in (4, 5) and (0, 2) in edges for edges in seeded)
    assert len({frozenset(edges) for edges in seeded}) == 3  # the three rings of four nodes


@pytest.fixture
def small() -> Interest:
    return Interest.from_pairs(
        [*(("a", t) for t in "xyz"), *(("b", t) for t in "xyz"), *(("c", t) for t in "xy"), ("d", "x")]
    )


def test_replay_refuses_two_edges_out_of_order(small: Interest) -> None:
    """Otherwise the replay would pass a builder that is not greedy."""
    for edges, phases in ((naive_gm(small), False), (naive_gm_m(small), True)):
        replay(small, edges, phases)
        assert edges[0][2] > edges[1][2]
        swapped = [edges[1], edges[0], *edges[2:]]
        with pytest.raises(NotGreedy, match="edge 1"):
            replay(small, [step[:2] for step in swapped], phases)


def test_replay_refuses_missing_extra_and_misstated_edges(small: Interest) -> None:
    """Otherwise an overlay that is unfinished, padded or wrongly accounted would pass."""
    edges = naive_gm(small)
    free = next((u, v) for u in range(4) for v in range(u + 1, 4) if (u, v) not in {e[:2] for e in edges})
    broken = {
        "still contributes": edges[:-1],
        "no pair contributes": [*edges, free],
        "contributes 3, not 2": [(*edges[0][:2], 2), *edges[1:]],
        "taken already": [edges[0], edges[0]],
    }
    for reason, sequence in broken.items():
        with pytest.raises(NotGreedy, match=reason):
            replay(small, sequence)


def test_replay_refuses_an_edge_above_its_phase_and_a_wrong_tie() -> None:
    """Otherwise GM's star would pass as GM-M, and any tie order as the documented one."""
    interest = Interest.from_pairs([(node, "t") for node in "abcd"])
    star = [(0, 1), (0, 2), (0, 3)]
    replay(interest, star)
    with pytest.raises(NotGreedy, match="phase 1"):
        replay(interest, star, phases=True)
    with pytest.raises(NotGreedy, match="tie rule"):
        replay(interest, star, ties=True)

"""Sets as words: they change the time of the greedy, never its edges."""

from __future__ import annotations

import numpy as np
import pytest

from topicloom.base.arrays import sealed
from topicloom.overlay.builders import greedy
from topicloom.overlay.builders.registry import BUILDERS
from topicloom.overlay.kernels import word_sets
from topicloom.overlay.kernels.greedy_state import join_edges, new_state
from topicloom.overlay.model.constraints import Constraints
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options


def drawn(nodes: int, topics: int, sizes: str, seed: int) -> Interest:
    return generate_interest(workload_from_options(nodes, topics, sizes, "zipf:0.3", seed))


@pytest.mark.parametrize("name", ["gm", "gm-m", "low-oda", "minmax-oda", "dcbr-m"])
@pytest.mark.parametrize("sizes", ["20:60", "1:6"])
def test_with_words_and_without_them_the_edges_are_the_same(monkeypatch, name: str, sizes: str):
    """More units than a block of counts, more topics than a word, enough rows for joint scans."""
    interest = drawn(400, 90, sizes, 3)
    found = []
    for worth in (0.0, np.inf):
        monkeypatch.setattr(greedy, "WORDS_FROM", worth)
        overlay = BUILDERS[name].build(interest, seed=1).overlay
        found.append((overlay.u.tolist(), overlay.v.tolist()))
    assert found[0] == found[1]


def test_caps_too(monkeypatch):
    """With caps units are single nodes, twins among them, and full ones come back when caps are lifted."""
    interest = drawn(200, 70, "5:40", 5)
    found = []
    for worth in (0.0, np.inf):
        monkeypatch.setattr(greedy, "WORDS_FROM", worth)
        caps = Constraints(caps=np.full(interest.n_nodes, 6, np.int32))
        overlay = BUILDERS["gm-m"].build(interest, constraints=caps).overlay
        found.append((overlay.u.tolist(), overlay.v.tolist()))
    assert found[0] == found[1]


def test_words_say_what_a_pair_contributes():
    """Also when the look inside is older than the last edges; and the bound is never below it."""
    interest = drawn(60, 130, "20:70", 2)
    state = new_state(interest)
    sets = word_sets.new_word_sets(state)
    rng = np.random.default_rng(1)
    for step in range(150):
        x, y = sorted(rng.choice(60, 2, replace=False).tolist())
        expected = contribution(state, interest, x, y)
        assert plain(word_sets.joined_by_words)(state, sets, x, y) == expected
        assert plain(word_sets.most_joined)(sets, x, y) >= expected
        if step % 3 == 0:
            assert joins(state, x, y) == expected
        if step % 40 == 39:
            word_sets.look_inside(state, sets)


def plain(part):
    """Parts of kernels cannot be called from Python, what they were made of can."""
    return getattr(part, "py_func", part)


def contribution(state, interest: Interest, x: int, y: int) -> int:
    """By the definition: topics that both want, in which they are in different components."""
    labels = [
        dict(
            zip(
                interest.topics_of(unit).tolist(),
                state.slot_label[state.slot_ptr[unit] : state.slot_ptr[unit + 1]].tolist(),
                strict=True,
            )
        )
        for unit in (x, y)
    ]
    return sum(labels[0][topic] != labels[1][topic] for topic in labels[0].keys() & labels[1].keys())


def joins(state, x: int, y: int) -> int:
    """Put an edge there; how many components fewer there are."""
    before = int(state.components.sum())
    join_edges(state, sealed(np.array([x], np.int32)), sealed(np.array([y], np.int32)))
    return before - int(state.components.sum())

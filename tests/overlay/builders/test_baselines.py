"""The baselines star and full-mesh per topic."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom.overlay.builders.baselines as full_mesh
import topicloom.overlay.kernels.hubs as hubs
from drawing import examples
from naive.stars import naive_full_mesh, naive_star, topic_diameters
from strategies import interests
from topicloom.base.progress import Silent
from topicloom.errors import Interrupted, UsageError
from topicloom.overlay.builders.baselines import build_full_mesh, build_star, free_memory
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay


def edges(overlay: Overlay) -> list[tuple[int, int]]:
    return list(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))


@examples(60)
@given(interests(max_nodes=16))
def test_stars_are_those_of_the_reference_with_diameter_2(interest):
    found = edges(build_star(interest).overlay)
    assert found == sorted(naive_star(interest))
    assert set(topic_diameters(interest, set(found))) <= {0, 1, 2}


@examples(60)
@given(interests(max_nodes=16), st.sampled_from([1, 3, 32]))
def test_meshes_are_those_of_the_reference_in_canonical_order(interest, dense):
    """The overlay is made without sorting, so its order must be right as the kernel writes it."""
    with patch.multiple(hubs, DENSE=dense), patch.multiple(full_mesh, SLICE_WORK=1.0):
        assert edges(build_full_mesh(interest).overlay) == sorted(naive_full_mesh(interest))


@pytest.mark.parametrize("n", [63, 64, 65, 129])
def test_more_nodes_than_a_word_has_bits(n):
    interest = Interest.from_pairs((f"n{v:03}", f"t{(v * i + i) % 9:02}") for v in range(n) for i in (1, 2))
    for threads in (1, 3):
        overlay = build_full_mesh(interest, threads=threads).overlay
        assert edges(overlay) == sorted(naive_full_mesh(interest))


@pytest.mark.parametrize("free", [100, 64 * 45 - 1])
def test_a_mesh_that_does_not_fit_is_refused_in_one_sentence(free):
    """Ten nodes share x: 45 edges. Once the largest topic alone tells, once it takes the count of all."""
    whole = [(f"n{v}", "x") for v in range(10)]
    parts = [(f"n{v}", f"t{i}") for i in range(10) for v in range(10) if v != i]
    for pairs in (whole, parts):
        with patch.object(full_mesh, "free_memory", lambda: free), pytest.raises(UsageError) as error:
            build_full_mesh(Interest.from_pairs(pairs))
        assert "edges" in str(error.value) and "GB" in str(error.value) and "\n" not in str(error.value)
    with patch.object(full_mesh, "free_memory", lambda: 64 * 45):
        assert build_full_mesh(Interest.from_pairs(parts)).overlay.n_edges == 45


def test_the_free_memory_is_a_plausible_number():
    assert 2**20 < free_memory() < 2**50


def test_a_stop_is_heard():
    progress = Silent()
    progress.should_stop = lambda: True
    with pytest.raises(Interrupted):
        build_full_mesh(Interest.from_pairs([("a", "x"), ("b", "x")]), progress=progress)

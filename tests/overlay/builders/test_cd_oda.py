"""CD-ODA, CD-ODA-I, CD-ODA-II: the hubs of [Onus2016], its exact counts, and diameters of at most 2."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import topicloom.overlay.builders.cd_oda as cd_oda
import topicloom.overlay.kernels.hubs as hubs
from drawing import examples
from naive.stars import naive_cd_oda, naive_cd_oda_i, naive_cd_oda_ii, topic_diameters
from strategies import interests
from topicloom.base.progress import Silent
from topicloom.errors import Interrupted
from topicloom.overlay.builders.cd_oda import build_cd_oda, build_cd_oda_i, build_cd_oda_ii
from topicloom.overlay.measures.diameter import topic_diameter_bounds
from topicloom.overlay.measures.measure import view_of
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.generate import generate_interest, workload_from_options
from topicloom.overlay.workloads.instances import case_vii, onus_lemma_5, onus_lemma_6

FAMILY = {
    "cd-oda": (build_cd_oda, naive_cd_oda),
    "cd-oda-i": (build_cd_oda_i, naive_cd_oda_i),
    "cd-oda-ii": (build_cd_oda_ii, naive_cd_oda_ii),
}


def edges_of(build, interest: Interest, **options) -> set[tuple[int, int]]:
    overlay = build(interest, **options).overlay
    return set(zip(overlay.u.tolist(), overlay.v.tolist(), strict=True))


@pytest.mark.parametrize("key", list(FAMILY))
@examples(60)
@given(interest=interests(max_nodes=16, max_topics=10), dense=st.sampled_from([1, 3, 32]))
def test_edges_are_those_of_the_reference_with_diameter_2(key, interest, dense):
    """Otherwise a hub is not the one of the paper's rule; `dense` decides which topics have a bit set."""
    build, naive = FAMILY[key]
    with patch.multiple(hubs, DENSE=dense), patch.multiple(cd_oda, SLICE_WORK=1.0):
        edges = edges_of(build, interest)
    assert edges == naive(interest)
    assert set(topic_diameters(interest, edges)) <= {0, 1, 2}


@pytest.mark.parametrize("key", list(FAMILY))
def test_more_nodes_than_a_word_has_bits(key):
    """Otherwise a node is lost at a border between words, or threads count over each other."""
    build, naive = FAMILY[key]
    pairs = [(f"n{v:03}", f"t{(v * i + i) % 17:02}") for v in range(130) for i in range(1, 4)]
    interest = Interest.from_pairs(pairs)
    assert edges_of(build, interest, threads=3) == edges_of(build, interest, threads=1) == naive(interest)


@pytest.mark.parametrize("key", list(FAMILY))
def test_measured_topic_diameters_are_at_most_2(key):
    interest = generate_interest(workload_from_options(400, 60, "2:12", "zipf:0.5", 3))
    _, upper = topic_diameter_bounds(view_of(interest, FAMILY[key][0](interest).overlay))
    assert upper.max() == 2 and upper.min() >= 0


@pytest.mark.parametrize("key", list(FAMILY))
@pytest.mark.parametrize("n", [6, 9, 20])
def test_case_vii_takes_2n_minus_5_edges(key, n):
    """[Onus2016, Table 2]."""
    assert FAMILY[key][0](case_vii(n)).overlay.n_edges == 2 * n - 5


@pytest.mark.parametrize("n", [2, 5, 12])
def test_lemma_5_leads_cd_oda_to_all_pairs(n):
    """[Onus2016, Lemma 5]: all nodes have n neighbors, and by the smallest name the worst comes first."""
    assert build_cd_oda(onus_lemma_5(n)).overlay.n_edges == n * (n - 1) // 2


@pytest.mark.parametrize("n", [3, 5, 8])
def test_lemma_6_leads_cd_oda_i_astray_but_not_cd_oda_ii(n):
    """[Onus2016, Lemma 6]: exact for CD-ODA-I; false as printed for CD-ODA-II, which finds the optimum."""
    interest = onus_lemma_6(n)
    assert build_cd_oda_i(interest).overlay.n_edges == n * (n - 1) // 2 + n
    assert build_cd_oda_ii(interest).overlay.n_edges == 2 * n - 1


@pytest.mark.parametrize("build", [build_cd_oda, build_cd_oda_i, build_cd_oda_ii])
def test_a_stop_is_heard(build):
    progress = Silent()
    progress.should_stop = lambda: True
    with pytest.raises(Interrupted):
        build(Interest.from_pairs([("a", "x"), ("b", "x")]), progress=progress)

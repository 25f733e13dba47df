"""What `inspect` says about an interest: figures by their definitions, sampling told, advice that fits."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from drawing import examples
from naive import measures as naive
from naive.overlays import interest_of, random_interest, ring_per_topic
from topicloom.base.summaries import plain
from topicloom.overlay.measures import profile
from topicloom.overlay.measures.profile import TopTopic, profile_interest
from topicloom.overlay.model.interest import Interest

topic_sets = st.lists(st.sets(st.integers(0, 6), min_size=1), min_size=2, max_size=12)


@given(topic_sets)
@examples(150)
def test_figures_follow_their_definitions(sets: list[set[int]]) -> None:
    interest = interest_of(sets)
    found = profile_interest(interest, threads=1)
    assert found.components == naive.interest_groups(interest)
    assert found.identical_share == pytest.approx(naive.identical_share(interest))
    assert found.alike.intersection == pytest.approx(
        naive.top_d_intersection(interest, found.alike.intersection_d)
    )
    assert found.alike.intersection_exact
    assert found.topics_single == sum(size == 1 for size in interest.topic_sizes().tolist())
    assert found.subscription_size.median == np.median([len(own) for own in sets])
    assert found.ring_degree_avg == pytest.approx(2 * ring_per_topic(interest).n_edges / interest.n_nodes)


def test_popular_topics_come_first_with_their_share() -> None:
    found = profile_interest(interest_of([{0, 1}, {1}, {1, 2}, {1}]))
    assert found.top_topics[0] == TopTopic(topic="t001", subscribers=4, share=1.0)
    assert [entry.topic for entry in found.top_topics] == ["t001", "t000", "t002"]


def test_a_sample_is_seeded_near_the_truth_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    interest = random_interest(1100, 60, 6)
    whole = profile_interest(interest)
    monkeypatch.setattr(profile, "EXACT_NODES", 1000)
    monkeypatch.setattr(profile, "SAMPLE_NODES", 200)
    sample, again = profile_interest(interest, seed=1), profile_interest(interest, seed=1)
    assert whole.alike.intersection_exact
    assert not sample.alike.intersection_exact
    assert sample.alike.intersection_nodes == 200
    assert sample == again
    assert sample.alike.intersection == pytest.approx(whole.alike.intersection, abs=2)
    assert "sample of 200 nodes" in " ".join(sample.advice)


def test_known_values_of_the_paper_s_uniform_workload() -> None:
    """[Chockler2007b, 3.4]: ten of a hundred topics give d = 20, more nodes a higher intersection."""
    small, large = (profile_interest(random_interest(n, 100, 10)) for n in (200, 1000))
    assert small.alike.intersection_d == large.alike.intersection_d == 20
    assert small.alike.intersection < large.alike.intersection


def test_advice_speaks_of_what_there_is() -> None:
    same = profile_interest(interest_of([{0, 1, 2}] * 120 + [{7}]))
    text = " ".join(same.advice)
    assert "strongly correlated" in text
    assert "99% of the nodes have exactly the topics of another node" in text
    assert "2 components that share no topic" in text
    assert "1 of 4 topics has one subscriber" in text
    sparse = profile_interest(random_interest(200, 400, 3, seed=1))
    assert "weakly correlated" in " ".join(sparse.advice)


def test_advice_names_the_builder_that_will_run() -> None:
    interest = random_interest(200, 40, 3)
    unknown, small, large = (
        " ".join(profile_interest(interest, default=default).advice)
        for default in (None, ("balanced", "about 7 s"), ("dcbr-m", "about 21 min"))
    )
    assert "balanced, the default, gives a low average and a low maximum degree." in unknown
    assert "maximum degree, in about 7 s on this machine" in small
    assert "by its time model (about 21 min on this machine), so the default is dcbr-m" in large
    assert all("gm-m" in text and "2d-oda" in text for text in (unknown, small, large))


@pytest.mark.parametrize("pairs", [[], [("a", "x")], [("a", "x"), ("a", "y")], [("a", "x"), ("b", "y")]])
def test_nothing_to_connect_is_said_plainly(pairs: list[tuple[str, str]]) -> None:
    found = profile_interest(Interest.from_pairs(pairs))
    assert "nothing to connect" in found.advice[0]
    assert found.alike.intersection == 0.0
    json.dumps(plain(found))


def test_the_profile_goes_into_json_as_it_is() -> None:
    found = plain(profile_interest(random_interest(50, 10, 3)))
    assert json.loads(json.dumps(found)) == found


def test_topics_without_any_node_have_a_share_of_nothing() -> None:
    found = profile_interest(Interest.from_scipy(csr_array((0, 3), dtype=np.int8)))
    assert [topic.share for topic in found.top_topics] == [0.0] * 3

"""The drawn rows: exact in distribution, distinct, the same in any slice. Seeds are fixed."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2, chisquare

from naive.successive import first_draw, set_probabilities, successive_draw
from topicloom.overlay.kernels.draw import draw_topics, log_survival
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.workloads.generate import Drawer, generate_interest, workload_from_options

LAWS = ["uniform", "zipf:0.5", "zipf:2", "exponential:0.55", "geometric:0.1", "geometric:1.5"]


def rows_of(log_weights: np.ndarray, size: int, count: int, key: int = 12345) -> np.ndarray:
    pointers = np.arange(0, (count + 1) * size, size, dtype=np.int64)
    return draw_topics(key, 0, pointers, log_survival(log_weights)).reshape(count, size)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("size", [1, 2, 4])
def test_every_set_of_topics_has_its_exact_probability(law: str, size: int) -> None:
    """A draw that favours any topic, or forgets what was drawn, fails this chi-square."""
    workload = workload_from_options(1, 20, 1, law)
    log_weights = workload.popularity.log_weights(20)[:6].copy()
    expected = set_probabilities(np.exp(log_weights).tolist(), size)
    drawn = Counter(frozenset(row) for row in rows_of(log_weights, size, 60_000).tolist())
    assert set(drawn) <= set(expected)
    counts = np.array([drawn[one] for one in expected])
    wanted = np.array(list(expected.values())) * 60_000
    rare = wanted < 10  # pooled: the chi-square law needs full cells
    if rare.any():
        counts = np.append(counts[~rare], counts[rare].sum())
        wanted = np.append(wanted[~rare], wanted[rare].sum())
    assert chisquare(counts, wanted).pvalue > 1e-4


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("law", LAWS)
def test_inclusion_agrees_with_the_naive_successive_draw(law: str) -> None:
    """90 of 200 topics: the case in which plain rejection would hardly ever end."""
    popularity = workload_from_options(1, 200, 1, law).popularity
    ours = np.bincount(rows_of(popularity.log_weights(200), 90, 3000).ravel(), minlength=200)
    rng = random.Random(5)
    weights = first_draw(popularity, 200).tolist()
    naive = np.zeros(200)
    for _ in range(300):
        naive[successive_draw(weights, 90, rng)] += 1
    p = (ours + naive) / 3300
    variance = p * (1 - p) * (1 / 3000 + 1 / 300)
    varies = variance > 1e-6
    z = (ours / 3000 - naive / 300)[varies] / np.sqrt(variance[varies])
    # Inclusions of one row are negatively correlated, so the sum of squares is at most a chi-square.
    assert (z**2).sum() < chi2.isf(1e-4, varies.sum())
    assert np.abs(z).max() < 5


@pytest.mark.many
def test_a_broken_draw_is_noticed() -> None:
    """The chi-square above is no proof unless it rejects a draw with the wrong weights."""
    popularity = workload_from_options(1, 20, 1, "zipf:0.5").popularity
    expected = set_probabilities(np.exp(popularity.log_weights(6)).tolist(), 2)
    drawn = Counter(frozenset(row) for row in rows_of(0.9 * popularity.log_weights(6), 2, 60_000).tolist())
    counts = np.array([drawn[one] for one in expected])
    assert chisquare(counts, np.array(list(expected.values())) * 60_000).pvalue < 1e-6


@pytest.mark.parametrize("law", ["geometric:0.1", "geometric:1000", "zipf:1000", "exponential:0.999999"])
def test_laws_whose_tail_is_below_every_float_still_end(law: str) -> None:
    """e^(-0.1 * 10,000) is no float; such a draw must end and fill every row with distinct topics."""
    interest = generate_interest(workload_from_options(50, 10_000, "80:90", law, seed=1))
    assert interest.subscription_sizes().min() >= 80
    for node in range(interest.n_nodes):
        assert (np.diff(interest.topics_of(node)) > 0).all()
    if law.endswith(":1000"):
        # So steep that each draw takes the most popular topic left.
        assert interest.topics_of(0).tolist() == list(range(len(interest.topics_of(0))))


@pytest.mark.parametrize("law", LAWS)
def test_a_node_may_want_every_topic(law: str) -> None:
    """The last draws have a single topic left."""
    interest = generate_interest(workload_from_options(20, 60, 60, law))
    assert interest.n_topics == 60
    assert interest.n_subscriptions == 20 * 60


@pytest.mark.many
def test_sizes_are_uniform_over_both_ends() -> None:
    """An end that is never drawn, or drawn too often, shifts the average size."""
    sizes = generate_interest(workload_from_options(40_000, 200, "10:29", "uniform", 4)).subscription_sizes()
    assert chisquare(np.bincount(sizes - 10, minlength=20)).pvalue > 1e-4
    assert (sizes.min(), sizes.max()) == (10, 29)


def test_any_slice_gives_the_same_rows() -> None:
    """Spark cuts the nodes elsewhere: rows must depend on the node alone."""
    drawer = Drawer.of(workload_from_options(1000, 300, "5:40", "nyse", seed=9))
    whole = drawer.table(0, 1000)
    for cuts in ([0, 1, 2, 999, 1000], [0, 333, 334, 1000]):
        parts = [drawer.table(a, b) for a, b in itertools.pairwise(cuts)]
        assert [row for part in parts for row in part.to_pylist()] == whole.to_pylist()


def test_threads_do_not_change_the_result_and_seeds_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same seed is a promise; two seeds alike would make repeated experiments worthless."""
    monkeypatch.setattr("topicloom.overlay.workloads.generate.SLICE_ROWS", 500)
    workload = workload_from_options(400, popularity="rss", seed=1)
    one = generate_interest(workload, threads=1)
    assert one == generate_interest(workload, threads=3)
    assert one != generate_interest(workload_from_options(400, popularity="rss", seed=2))


def test_the_interest_is_what_reading_its_own_rows_gives() -> None:
    """Topics nobody drew do not appear in a table, so they must not appear in memory either."""
    interest = generate_interest(workload_from_options(12, 500, "1:3", "zipf:1", seed=2))
    assert interest.n_topics < 500
    again = Interest.from_arrow(interest.to_arrow())
    assert interest == again
    np.testing.assert_array_equal(interest.topic_ptr, again.topic_ptr)
    np.testing.assert_array_equal(interest.topic_nodes, again.topic_nodes)
    assert not interest.node_topics.flags.writeable


def test_identifiers_are_padded_so_that_byte_order_is_number_order() -> None:
    """n10 before n9 would renumber every node on the way through a file."""
    interest = generate_interest(workload_from_options(10_001, 2, 1, "uniform"))
    assert interest.node_ids[0].as_py() == "n00001"
    assert interest.node_ids[-1].as_py() == "n10001"
    assert interest.topic_ids.to_pylist() == ["t0001", "t0002"]


def test_a_seed_means_the_same_rows_for_ever() -> None:
    """Published experiments name a seed: a changed stream would silently change all of them."""
    interest = generate_interest(workload_from_options(3, popularity="chen-exp", subscriptions=5, seed=7))
    rows = [interest.topic_ids.take(pa.array(interest.topics_of(node))).to_pylist() for node in range(3)]
    assert rows == [
        ["t0005", "t0011", "t0014", "t0022", "t0027"],
        ["t0002", "t0006", "t0012", "t0021", "t0022"],
        ["t0002", "t0003", "t0005", "t0015", "t0017"],
    ]

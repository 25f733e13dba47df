"""Laws, sizes and presets as a user writes them."""

from __future__ import annotations

import numpy as np
import pytest

from naive.successive import first_draw
from topicloom.errors import UsageError
from topicloom.overlay.workloads.generate import workload_from_options
from topicloom.overlay.workloads.laws import LAWS, PRESETS, Popularity, Sizes


@pytest.mark.parametrize("text", ["uniform", "zipf:0.5", "zipf:0", "exponential:0.55", "geometric:0.1"])
def test_a_law_reads_back_as_written(text: str) -> None:
    """A summary that names the law would otherwise not reproduce it."""
    assert str(Popularity.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "zipf",
        "zipf:",
        "zipf:x",
        "zipf:-1",
        "zipf:nan",
        "zipf:inf",
        "zipf:1e9",
        "uniform:1",
        "Zipf:1",
        "exponential:0",
        "exponential:1",
        "exponential:1.5",
        "geometric:-0.1",
        "poisson:3",
        "zipf:1:2",
    ],
)
def test_a_bad_law_names_the_option(text: str) -> None:
    """A wrong law must not be drawn from in silence."""
    with pytest.raises(UsageError, match="`popularity"):
        workload_from_options(10, 20, 3, text)


@pytest.mark.parametrize("text", ["", "x", "0", "-3", "5:", ":5", "9:3", "1.5", " 3", "3:4:5", "0:4"])
def test_a_bad_size_names_the_option(text: str) -> None:
    """A wrong size must not be guessed at."""
    with pytest.raises(UsageError, match="`subscriptions"):
        workload_from_options(10, 20, text, "uniform")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"nodes": 0, "topics": 5, "subscriptions": 2}, "`nodes"),
        ({"nodes": 5, "topics": 0, "subscriptions": 2}, "`topics"),
        ({"nodes": 5, "subscriptions": 2}, "`topics"),
        ({"nodes": 5, "topics": 5}, "`subscriptions"),
        ({"nodes": 5, "topics": 5, "subscriptions": "2:6"}, "`subscriptions"),
        ({"nodes": 5, "topics": 50, "popularity": "chen-exp"}, "`subscriptions"),
        ({"nodes": 5, "topics": 50, "subscriptions": 2, "popularity": "exponential:0.05"}, "`popularity"),
        ({"nodes": 5, "topics": 50, "subscriptions": 2, "popularity": "rsss"}, "rss, nyse"),
    ],
)
def test_options_that_cannot_be_met_are_refused_by_name(options: dict[str, object], named: str) -> None:
    """Each of these would end in a crash or in other rows than asked for."""
    with pytest.raises(UsageError, match=named):
        workload_from_options(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_fills_in_what_is_left_out_and_explicit_options_win(name: str) -> None:
    """The papers' numbers need their topics and sizes; a user's own choice must not be overridden."""
    preset = PRESETS[name]
    workload = workload_from_options(7, popularity=name, seed=3)
    assert (workload.topics, workload.sizes, workload.popularity) == (
        preset.topics,
        preset.sizes,
        preset.popularity,
    )
    own = workload_from_options(7, 321, "4:5", name)
    assert (own.topics, own.sizes, own.popularity) == (321, Sizes(4, 5), preset.popularity)


def test_the_presets_are_the_papers() -> None:
    """Numbers of [Chockler2007a], [Chockler2007b] and [Chen2010, VI]."""
    assert {name: (str(p.popularity), p.topics, str(p.sizes)) for name, p in PRESETS.items()} == {
        "rss": ("zipf:0.5", 100, "10"),
        "nyse": ("exponential:0.55", 100, "10"),
        "chen-uniform": ("uniform", 200, "10:90"),
        "chen-zipf": ("zipf:2", 200, "10:90"),
        "chen-exp": ("geometric:0.1", 200, "10:90"),
    }


@pytest.mark.parametrize("n_topics", [1, 2, 7, 100, 1234])
def test_laws_give_the_probabilities_they_promise(n_topics: int) -> None:
    """A wrong normalisation or a shifted index would move every golden number."""
    rank = np.arange(1, n_topics + 1)
    shares = {"zipf": rank**-0.7, "geometric": np.exp(-0.1 * rank), "uniform": np.ones(n_topics)}
    for name, expected in shares.items():
        law = Popularity(name, {"zipf": 0.7, "geometric": 0.1, "uniform": 0.0}[name])
        np.testing.assert_allclose(first_draw(law, n_topics), expected / expected.sum(), rtol=1e-9)
    head = -(-n_topics // 10)
    if n_topics > 2:
        shares_55 = first_draw(Popularity("exponential", 0.55), n_topics)
        assert shares_55[:head].sum() == pytest.approx(0.55, rel=1e-9)
        ratios = shares_55[1:] / shares_55[:-1]
        np.testing.assert_allclose(ratios, ratios[0])


@pytest.mark.parametrize("law", LAWS)
def test_weights_never_rise(law: str) -> None:
    """The drawing kernel relies on the most popular topic coming first."""
    weights = Popularity(law, 0.9).log_weights(500)
    assert (np.diff(weights) <= 0).all()
    assert np.isfinite(weights).all()

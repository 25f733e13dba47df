"""Clustering against Algorithm 2 word by word: the pruned search finds the pair that trying all finds."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import topicloom.content.planners.clustering as clustering
from content_strategies import content_problems
from drawing import examples
from naive.content_plans import beats, naive_clustering
from topicloom.content.model.problem import ContentProblem
from topicloom.content.planners.clustering import plan_clustering
from topicloom.content.workload import generate_content


def rounded(problem: ContentProblem) -> ContentProblem:
    """Prices and rates that are multiples of a power of 2, so that equal ratios are equal to the last bit."""
    return replace(problem, access=np.round(problem.access * 4) / 4)


@examples(150)
@given(content_problems(max_users=12, max_channels=8), st.sampled_from([(2, 4), (3, 6), clustering.STAGES]))
def test_pairs_and_joins_are_those_of_the_algorithm(problem, stages):
    """Otherwise a bound leaves out the best pair, traffic is counted wrongly, or a tie goes elsewhere."""
    problem = rounded(problem)
    with patch.object(clustering, "STAGES", stages):
        assert plan_clustering(problem).assignment.tolist() == naive_clustering(problem)


@examples(40)
@given(content_problems(max_users=10, max_channels=8), st.integers(0, 20))
def test_wide_windows_only_weaken_the_bounds(problem, work):
    """Too many windows are widened; one that misses a wanted channel would forbid a best pair."""
    problem = rounded(problem)
    with patch.object(clustering, "WINDOW_WORK", work), patch.object(clustering, "STAGES", (2, 4)):
        assert plan_clustering(problem).assignment.tolist() == naive_clustering(problem)


def test_a_drawn_problem_with_real_prices_and_several_slices():
    problem = generate_content(60, 6, 90, model="iid", width=0.1, seed=2).problem
    expected = naive_clustering(problem)
    assert plan_clustering(problem).assignment.tolist() == expected
    with patch.object(clustering, "SLICE", 1):
        assert plan_clustering(problem).assignment.tolist() == expected


def test_the_naive_comparison_is_an_order():
    """Free links with traffic come first, no traffic last, at the same ratio the cheaper one."""
    ranked = [(3.0, 0.0), (4.0, 1.0), (2.0, 1.0), (4.0, 2.0), (0.0, 0.0), (0.0, 5.0)]
    for place, one in enumerate(ranked):
        assert not beats(one, one)
        assert all(beats(one, other) and not beats(other, one) for other in ranked[place + 1 :])

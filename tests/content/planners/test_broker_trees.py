"""Trees among brokers: their weights, and that their edges are trees of just these weights."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from content_strategies import content_problems
from naive.content_cost import tree_weight
from topicloom.content.planners.broker_trees import CODES, STEINER_BROKERS, CoreModel
from topicloom.errors import UsageError


@given(content_problems(), st.data(), st.sampled_from(["free", "unicast", "steiner"]))
def test_weights_are_those_of_the_definition(problem, data, name):
    """A wrong weight would be a wrong cost of every plan."""
    members = data.draw(st.sets(st.integers(0, problem.n_brokers - 1)))
    weights = CoreModel.of(problem.core, name).weights(sorted(members))
    for broker in range(problem.n_brokers):
        assert weights[broker] == pytest.approx(tree_weight(problem, name, broker, members))


@given(content_problems(), st.data(), st.sampled_from(list(CODES)))
def test_edges_join_publisher_and_members_at_the_weight(problem, data, name):
    """trees.parquet must show trees that reach every subscriber and cost what the plan says."""
    members = data.draw(st.sets(st.integers(0, problem.n_brokers - 1), min_size=1))
    model = CoreModel.of(problem.core, name)
    for broker in range(problem.n_brokers):
        edges = model.edges(broker, sorted(members))
        graph = nx.Graph(edges)
        graph.add_nodes_from(members | {broker})
        assert nx.is_tree(graph)
        assert all(a < b for a, b in edges)
        weight = sum(problem.core[a, b] for a, b in edges)
        assert weight == pytest.approx(model.weights(sorted(members))[broker])


@given(content_problems(), st.data())
def test_all_shared_trees_are_parts_of_one(problem, data):
    """Under `shared` the edges of all trees together must still be one tree without a circle."""
    model = CoreModel.of(problem.core, "shared")
    everything: set[tuple[int, int]] = set()
    for broker in range(problem.n_brokers):
        members = data.draw(st.sets(st.integers(0, problem.n_brokers - 1), min_size=1))
        everything |= set(model.edges(broker, sorted(members)))
    assert len(everything) <= problem.n_brokers - 1
    assert not everything or nx.is_forest(nx.Graph(list(everything)))
    whole = sum(problem.core[a, b] for a, b in model.edges(0, list(range(problem.n_brokers))))
    free = CoreModel.of(problem.core, "free").weights(list(range(problem.n_brokers)))[0]
    assert whole == pytest.approx(free)  # the one tree is the minimum spanning tree


@given(content_problems(), st.data())
def test_better_models_are_never_dearer(problem, data):
    """steiner <= free <= shared, and free <= unicast: else one of them is not what it says."""
    members = sorted(data.draw(st.sets(st.integers(0, problem.n_brokers - 1), min_size=1)))
    weights = {name: CoreModel.of(problem.core, name).weights(members) for name in CODES}
    for better, worse in [("steiner", "free"), ("steiner", "shared"), ("free", "unicast")]:
        assert np.all(weights[better] <= weights[worse] + 1e-9), (better, worse)


def test_terminal_trees_are_not_optimal():
    """The paper's claim (section III-A) fails for brokers around a middle one."""
    core = np.full((4, 4), 2.0) - 2.0 * np.eye(4)
    core[3, :3] = core[:3, 3] = 1.0
    free, steiner = (CoreModel.of(core, name).weights([0, 1, 2])[0] for name in ("free", "steiner"))
    assert (free, steiner) == (4.0, 3.0)
    assert CoreModel.of(core, "steiner").edges(0, [1, 2]) == [(0, 3), (1, 3), (2, 3)]


def test_refusals():
    core = np.ones((STEINER_BROKERS + 1,) * 2)
    with pytest.raises(UsageError, match="too many"):
        CoreModel.of(core, "steiner")
    with pytest.raises(UsageError, match="choose one of free, shared, unicast, steiner"):
        CoreModel.of(core, "telepathy")


def test_ties_do_not_depend_on_the_order_of_members():
    """Equal prices everywhere: the edges must still be the same for the same set."""
    model = CoreModel.of(np.ones((5, 5)) - np.eye(5), "free")
    assert len({tuple(model.edges(a, [b, a])) for a, b in combinations(range(3), 2)}) == 3
    assert model.edges(2, [0, 4]) == model.edges(0, [4, 2])

"""Constraints by name hold for the nodes that were named, whatever the order of the names."""

from __future__ import annotations

import pytest

import topicloom
from topicloom import Constraints
from topicloom.errors import InputError

WANTS = {"a": ["x"], "b": ["x"], "c": ["x"]}


@pytest.mark.parametrize("names", ["abc", "cba", "bca"])
def test_names_may_be_given_in_any_order(names):
    """Numbers by the order given would forbid another pair than the one that was named."""
    limits = Constraints.of(list(names), forbid=[("a", "b")], caps={"a": 1})
    edges = topicloom.build(WANTS, algorithm="gm", constraints=limits).overlay.to_pandas().values.tolist()
    assert edges == [["a", "c"], ["b", "c"]]


def test_constraints_of_other_nodes_are_refused():
    with pytest.raises(InputError, match="about other nodes"):
        topicloom.build(WANTS, constraints=Constraints.of(["q", "r", "s"], forbid=[("q", "r")]))


@pytest.mark.parametrize(
    ("nodes", "limits", "told"),
    [
        (["a", "b", "a"], {}, "'a' twice"),
        (["a", "b"], {"caps": {"a": "3"}}, "the cap of 'a' is '3'"),
        (["a", "b"], {"caps": {"q": 3}}, "'q' is not a node"),
        (["a", "b"], {"costs": {("a", "b"): "x"}}, "a cost is a number above 0"),
    ],
)
def test_what_is_wrong_is_named(nodes, limits, told):
    with pytest.raises(InputError, match=told):
        Constraints.of(nodes, **limits)


def test_whole_numbers_are_names_in_caps_too():
    assert Constraints.of([2, 1], caps={1: 3}).caps.tolist()[0] == 3

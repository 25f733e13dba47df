"""The nouns: what goes in comes out, nothing can be changed, and bad input is named."""

from __future__ import annotations

import pickle

import networkx
import numpy as np
import pandas
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from strategies import interests
from topicloom.base.ids import numbered_ids
from topicloom.errors import InputError
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
PAIRS = [("a", "x"), ("b", "x"), ("b", "y"), ("é", "y"), ("e\u0301", "y"), ("🚀", " x")]


@examples(200)
@given(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=30), st.randoms())
def test_pairs_survive_and_their_order_does_not_matter(pairs, random):
    interest = Interest.from_pairs(pairs)
    rows = [(row["node"], row["topic"]) for row in interest.to_arrow().to_pylist()]
    assert rows == sorted(set(pairs), key=lambda pair: (pair[0].encode(), pair[1].encode()))
    shuffled = [*pairs, *pairs]
    random.shuffle(shuffled)
    assert Interest.from_pairs(shuffled) == interest


@examples(50)
@given(interests())
def test_both_indices_tell_the_same(interest):
    by_node = {(v, int(t)) for v in range(interest.n_nodes) for t in interest.topics_of(v)}
    by_topic = {(int(v), t) for t in range(interest.n_topics) for v in interest.nodes_of(t)}
    assert by_node == by_topic
    assert len(by_node) == interest.n_subscriptions


def test_every_way_in_gives_the_same_interest():
    interest = Interest.from_pairs(PAIRS)
    frame = pandas.DataFrame(PAIRS, columns=["who", "what"])
    assert Interest.from_pandas(frame, "who", "what") == interest
    dictionary = pa.Table.from_pandas(frame.astype("category"))
    assert Interest.from_arrow(dictionary, "who", "what") == interest
    nodes, topics = sorted({n for n, _ in PAIRS}), sorted({t for _, t in PAIRS})
    matrix = scipy.sparse.lil_array((len(nodes), len(topics)))
    for node, topic in PAIRS:
        matrix[nodes.index(node), topics.index(topic)] = 2
    assert Interest.from_scipy(matrix, nodes, topics) == interest


def test_a_bipartite_graph_keeps_lonely_nodes_and_parallel_edges():
    graph = networkx.MultiGraph()
    graph.add_nodes_from(["a", "b", "lonely"], bipartite=0)
    graph.add_nodes_from(["x", "unwanted"], bipartite=1)
    graph.add_edges_from([("a", "x"), ("x", "b"), ("a", "x")])
    interest = Interest.from_networkx(graph)
    assert interest.node_ids.to_pylist() == ["a", "b", "lonely"]
    assert interest.topic_ids.to_pylist() == ["unwanted", "x"]
    assert interest.n_subscriptions == 2


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Interest.from_pairs([("a", "x"), ("b", "")]), "pair 2"),
        (lambda: Interest.from_pairs([("a", "x", "y")]), "pair 1"),
        (lambda: Interest.from_pandas(pandas.DataFrame({"node": ["a"]})), "topic"),
        (lambda: Interest.from_arrow(pa.table({"node": [1.5], "topic": ["x"]})), "node"),
        (lambda: Interest.from_arrow(pa.table({"node": ["a", None], "topic": ["x", "y"]})), "row 2"),
        (lambda: Interest.from_scipy(scipy.sparse.eye_array(2), ["a", "a"]), "distinct"),
        (lambda: Interest.from_networkx(networkx.path_graph(2)), "bipartite"),
        (lambda: Overlay.from_edges(pa.array(["a", "b"]), [0], [0]), "'a'"),
        (lambda: Overlay.from_edges(pa.array(["a", "b"]), [0], [5]), "outside"),
        (lambda: Overlay.from_arrow(pa.array(["a"]), pa.table({"u": ["a"], "v": ["q"]})), "'q'"),
    ],
)
def test_bad_input_is_named(make, named):
    with pytest.raises(InputError, match=named):
        make()


@examples(20)
@given(interests())
def test_values_stay_read_only_across_processes(interest):
    """A writable copy would compile every kernel again, and could be changed behind our back."""
    overlay = Overlay.from_edges(interest.node_ids, [], [])
    for value in (interest, overlay):
        copy = pickle.loads(pickle.dumps(value))
        assert copy == value
        arrays = [getattr(copy, name) for name in copy.__slots__]
        assert not any(array.flags.writeable for array in arrays if isinstance(array, np.ndarray))


def test_missing_rates_are_null_not_a_number_that_is_none():
    interest = Interest.from_codes(
        pa.array(["a", "b"]), pa.array(["x"]), np.array([1, 0]), np.array([0, 0]),
        np.array([0, 1], np.uint8), np.array([np.nan, 2.0]),
    )  # fmt: skip
    assert interest.to_arrow().to_pylist() == [
        {"node": "a", "topic": "x", "role": "pub", "rate": 2.0},
        {"node": "b", "topic": "x", "role": "sub", "rate": None},
    ]


def test_ways_out_agree():
    interest = Interest.from_pairs(PAIRS)
    overlay = Overlay.from_edges(interest.node_ids, [0, 3], [1, 1])
    assert overlay.to_networkx().number_of_edges() == 2
    assert overlay.to_networkx().number_of_nodes() == interest.n_nodes
    assert overlay.to_igraph().degree() == overlay.degrees().tolist()
    assert overlay.to_scipy().sum(axis=0).tolist() == overlay.degrees().tolist()
    assert overlay.to_pandas().columns.tolist() == ["u", "v"]
    assert Overlay.from_arrow(interest.node_ids, overlay.to_arrow()) == overlay


def test_numbered_names_sort_as_numbers():
    names = numbered_ids("n", 12_000).to_pylist()
    assert names == sorted(names)
    assert (names[0], names[-1]) == ("n00001", "n12000")

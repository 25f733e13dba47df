"""Whatever Python has for an interest and for edges means the same; what means nothing gets one sentence."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import igraph
import networkx
import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse

import topicloom
from brokers_present import needs_mosquitto
from topicloom import Interest, Overlay
from topicloom.errors import InputError, UsageError

LISTS = {"a": ["x"], "b": ["x", "y"], "c": ["y"]}
PAIRS = [("a", "x"), ("b", "x"), ("b", "y"), ("c", "y")]
EDGES = [("a", "b"), ("c", "b")]
WANTS = Interest.from_pairs(PAIRS)
SPARK = type("DataFrame", (), {"__module__": "pyspark.sql", "columns": ["node", "topic"]})()


class OwnGraph(networkx.Graph):
    """Programs derive graphs of their own."""


def graph_of(edges):
    graph = OwnGraph()
    graph.add_edges_from(edges)
    return graph


def bipartite():
    graph = networkx.Graph()
    graph.add_nodes_from("abc", bipartite=0)
    graph.add_nodes_from("xy", bipartite=1)
    graph.add_edges_from(PAIRS)
    return graph


@pytest.mark.parametrize(
    "given",
    [
        WANTS, PAIRS, [list(pair) for pair in PAIRS], iter(PAIRS), LISTS, np.array(PAIRS), bipartite(),
        pandas.DataFrame(PAIRS, columns=["node", "topic"]), pandas.DataFrame(PAIRS, columns=["who", "what"]),
        pa.table({"topic": [t for _, t in PAIRS], "node": [n for n, _ in PAIRS]}),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
@pytest.mark.parametrize(
    "edges",
    [
        Overlay.from_edges(WANTS.node_ids, [0, 1], [1, 2]), Overlay.from_pairs(EDGES), EDGES, np.array(EDGES),
        graph_of(EDGES), igraph.Graph.TupleList(EDGES), pandas.DataFrame(EDGES, columns=["from", "to"]),
        pa.table({"v": ["a", "c"], "u": ["b", "b"]}), Overlay.from_networkx(graph_of(EDGES)),
        Overlay.from_pandas(pandas.DataFrame(EDGES, columns=["u", "v"]), interest=WANTS),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_every_form_of_interest_and_edges_is_judged_alike(given, edges):
    if hasattr(given, "__next__"):
        given = iter(PAIRS)
    verdict = topicloom.verify(given, edges)
    assert verdict.topic_connected and verdict.edges == 2 and verdict.clean


def test_rows_that_play_no_part_are_counted_by_verify_and_told_by_measure():
    rows = [*EDGES, ("b", "a"), ("a", "a"), ("a", "stranger")]
    verdict = topicloom.verify(WANTS, rows)
    assert (verdict.edges, verdict.duplicate_edges, verdict.self_loops, verdict.unknown_nodes) == (2, 1, 1, 1)
    assert verdict.unknown_names == ("stranger",) and verdict.topic_connected
    with pytest.warns(UserWarning, match="1 with an unknown node, 1 from a node to itself") as told:
        assert topicloom.measure(WANTS, rows)["edges"] == 2
    assert Path(told[0].filename) == Path(__file__)
    assert not topicloom.verify(WANTS, [("a", "b")]).topic_connected


def test_whole_numbers_are_names_in_digits():
    numbers = Interest.from_pairs([(1, 7), (2, 7), (np.int64(10), 7)])
    assert numbers.node_ids.to_pylist() == ["1", "10", "2"]
    assert topicloom.verify(numbers, [(1, 2), (2, 10)]).topic_connected
    matrix = scipy.sparse.csr_array([[1], [1], [1]])
    assert Interest.from_scipy(matrix, [1, 2, 10], [7]) == numbers
    assert numbers.topic_names(10) == ["7"] and numbers.node_names(7) == ["1", "10", "2"]


def test_a_frame_is_read_by_the_rules_of_the_command_line():
    """Missing names make a row refused, and pandas makes whole numbers with gaps floats."""
    frame = pandas.DataFrame(
        {
            "node": [1, 2, None, 3, 4, 3],
            "topic": ["x", "x", "x", "", None, "y"],
            "role": ["pub", None, "sub", "sub", "sub", "king"],
            "rate": [2.5, None, 1.0, 1.0, 1.0, 1.0],
        }
    )
    with pytest.warns(UserWarning, match="4 rows are refused .*, e.g. row 3"):
        found = Interest.from_pandas(frame)
    assert found.to_arrow().to_pylist() == [
        {"node": "1", "topic": "x", "role": "pub", "rate": 2.5},
        {"node": "2", "topic": "x", "role": "sub", "rate": None},
    ]
    with pytest.raises(InputError, match="row 3"):
        Interest.from_pandas(frame, strict=True)
    with pytest.raises(InputError, match="no row is left"):
        Interest.from_pandas(frame[2:5])
    mixed = pandas.DataFrame({"node": ["a", 7, None], "topic": ["x", "x", "x"]})
    with pytest.warns(UserWarning, match="1 row is refused"):
        assert Interest.from_pandas(mixed).node_ids.to_pylist() == ["7", "a"]


def test_edges_and_nodes_say_what_they_carry_and_want(tmp_path):
    made = topicloom.build(WANTS, "gm")
    overlay = made.overlay
    assert overlay.topics_of_edge("b", "a") == ["x"]
    assert overlay.to_pandas(topics=True).to_dict("list") == {
        "u": ["a", "b"], "v": ["b", "c"], "topics": [["x"], ["y"]], "n_topics": [1, 1],
    }  # fmt: skip
    graph, other = overlay.to_networkx(), overlay.to_igraph()
    assert graph.nodes["b"] == {"topics": ["x", "y"], "n_topics": 2}
    assert graph.edges["b", "c"] == {"topics": ["y"], "n_topics": 1}
    assert other.es["topics"] == [["x"], ["y"]] and other.vs["n_topics"] == [1, 2, 1]
    assert overlay.to_networkx(topics=False).edges["b", "c"] == {}
    assert pickle.loads(pickle.dumps(overlay)).topics_of_edge("a", "b") == ["x"]
    topicloom.export("graphml", made, tmp_path / "g")
    read = networkx.read_graphml(tmp_path / "g" / "overlay.graphml")
    assert read.edges["a", "b"] == {"topics": '["x"]', "n_topics": 1}
    for wrong in (("a", "c"), ("a", "q")):
        with pytest.raises(InputError, match=f"'{wrong[1]}'"):
            overlay.topics_of_edge(*wrong)
    with pytest.raises(UsageError, match="with_interest"):
        Overlay.from_pairs(EDGES).to_pandas(topics=True)


def test_a_saved_build_is_a_build_like_any_other(tmp_path):
    interest = topicloom.read(_table(tmp_path), engine="local")
    made = topicloom.build(interest, "gm-m", seed=3)
    summary = made.save(tmp_path / "kept")
    found = topicloom.load_build(tmp_path / "kept")
    assert found.overlay == made.overlay and found.interest == interest and found.seed == 3
    assert found.interest.rates.tolist() == interest.rates.tolist()
    written = json.loads((tmp_path / "kept" / "summary.json").read_text())
    assert (written["kind"], written["edges"], written["topic_connected"]) == ("build", made.n_edges, True)
    assert set(written["seconds"]) == {"ingest", "build", "verify", "total"}
    assert found.save(tmp_path / "kept").interest_digest == summary.interest_digest  # over the first one
    assert topicloom.verify(tmp_path / "kept", str(tmp_path / "kept")).topic_connected
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").touch()
    with pytest.raises(InputError, match="something else"):
        made.save(tmp_path / "other")


def _table(folder: Path) -> Path:
    (folder / "t.csv").write_text("node,topic,rate\na,x,1\nb,x,2\nb,y,3\nc,y,4\n")
    return folder / "t.csv"


def test_an_edge_table_without_types_or_columns_is_no_traceback(tmp_path):
    topicloom.build(WANTS, "gm").save(tmp_path / "b")
    pq.write_table(pa.table({"u": pa.nulls(0), "v": pa.nulls(0)}), tmp_path / "b" / "edges.parquet")
    assert topicloom.load_build(tmp_path / "b").n_edges == 0
    pq.write_table(pa.table({"u": ["a"]}), tmp_path / "b" / "edges.parquet")
    with pytest.raises(InputError, match="no column 'v'"):
        topicloom.load_build(tmp_path / "b")


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: topicloom.verify(WANTS, "x"), "`edges` is the path 'x'"),
        (lambda: topicloom.verify(WANTS, 3), "`edges` takes"),
        (lambda: topicloom.verify(WANTS, WANTS), "`edges` takes"),
        (lambda: topicloom.verify("x", EDGES), "`interest` is the path 'x': read it with topicloom.read"),
        (lambda: topicloom.verify(None, EDGES), "`interest` takes"),
        (lambda: topicloom.verify(WANTS, EDGES, progress=True), "`progress` takes"),
        (lambda: topicloom.measure(WANTS, EDGES, threads=0), "`threads` takes a whole number of at least 1"),
        (lambda: topicloom.build(WANTS, 3), "`algorithm` takes"),
        (lambda: topicloom.build(WANTS, "gm", seed="x"), "`seed` takes a whole number"),
        (lambda: topicloom.build(WANTS, constraints={"caps": 2}), "`constraints` takes"),
        (lambda: topicloom.build(WANTS, "gm", redundancy=0), "`redundancy=0`"),
        (lambda: topicloom.build({"a": "x"}), "'a' has 'x'"),
        (lambda: topicloom.build(pandas.DataFrame({"a": [1], "b": [2], "c": [3]})), "`interest` has the col"),
        (lambda: topicloom.compare(WANTS, "gm"), "`algorithms` takes a list"),
        (lambda: topicloom.compare(WANTS, ["gm"], parameters={"star": {}}), "`parameters`: 'star'"),
        (lambda: topicloom.generate("many"), "`nodes` takes a whole number"),
        (lambda: topicloom.simulate(WANTS, kg="x"), "`kg=x`"),
        (lambda: topicloom.export("graphml", EDGES, "out"), "`interest` is missing"),
        (lambda: topicloom.export("graphml", WANTS, "out", interest=WANTS), "`edges` takes"),
        (lambda: topicloom.export("graphml", EDGES, "out", interest=WANTS, host=1), "`host`: export takes"),
        (lambda: topicloom.plan_content(3), "`problem` takes"),
        (lambda: topicloom.build(igraph.Graph(2)), "`interest` takes"),
        (lambda: topicloom.build(SPARK), "`interest` takes"),
        (lambda: topicloom.verify(WANTS, SPARK), "`edges` takes"),
        (lambda: Interest.from_networkx(EDGES), "`graph` takes"),
        (lambda: Interest.from_scipy(EDGES), "`matrix` takes"),
        (lambda: Interest.from_scipy(scipy.sparse.eye_array(1), [None]), "1 distinct identifiers are needed"),
        (lambda: topicloom.load_graph(3), "`path` takes"),
        (lambda: topicloom.read("t.csv", separator=3), "`separator` takes"),
        (lambda: topicloom.read("t.csv", spark_conf=3), "`spark_conf` takes"),
        (lambda: topicloom.compare(WANTS, []), "`algorithms` takes a list"),
        (lambda: topicloom.compare(WANTS, ["gm"], parameters=3), "`parameters` takes"),
        (lambda: topicloom.Constraints.of(WANTS, caps="2"), "`caps` takes"),
        (lambda: topicloom.Constraints.of(WANTS, forbid=3), "`forbid` takes"),
        (lambda: Overlay.from_edges(WANTS, ["a"], ["b"]), "`u` takes node numbers"),
        (lambda: Overlay.from_edges(["a", "b"], [0, 1], [1]), "`u` has 2 ends"),
        (lambda: Overlay.from_edges(3, [0], [1]), "`node_ids` takes"),
        (lambda: topicloom.load_build(None), "`folder` takes the path"),
        (lambda: topicloom.read(3), "`path` takes the path"),
        (lambda: Interest.from_pairs("ab"), "`pairs` takes pairs"),
        (lambda: Interest.from_lists(PAIRS), "`topics` takes a dictionary"),
        (lambda: Interest.from_pandas(PAIRS), "`frame` takes"),
        (lambda: Overlay.from_networkx(EDGES), "`graph` takes"),
        (lambda: topicloom.run_mesh("nowhere", kill=3), "`kill` takes"),
    ],
)
def test_a_wrong_argument_gets_one_sentence_that_names_it(call, named):
    with pytest.raises((InputError, UsageError)) as told:
        call()
    assert named in str(told.value) and "\n" not in str(told.value)


def test_values_show_themselves_in_notebooks_and_at_the_prompt():
    odd = Interest.from_pairs([("<b>", "x"), ("c", "x")])
    made = topicloom.build(odd, "gm")
    compared = topicloom.compare(odd, ["gm", "star"])
    shown = [
        odd,
        made.overlay,
        topicloom.verify(odd, []),
        topicloom.measure(odd, made),
        topicloom.inspect(odd),
    ]
    for value in shown:
        html = value._repr_html_()
        assert html.startswith("<table>") and "<b>" not in html
        assert "object at 0x" not in repr(value)
    assert repr(shown[2]) == "Verdict(NOT topic-connected: 1 of 1 topic split, 'x' for one)"
    assert "&lt;b&gt;" in shown[2]._repr_html_()
    assert repr(shown[3]).splitlines()[4].split() == ["edges", "1"]
    assert "star" in repr(compared) and compared.to_pandas()["hops_mean"].tolist() == [1.0, 1.0]


def test_a_simulation_and_a_plan_are_kept_as_folders(tmp_path):
    found = topicloom.simulate(LISTS, seed=1)
    found.save(tmp_path / "s")
    assert topicloom.load_build(tmp_path / "s" / "last").overlay.n_edges == found.summary.links
    from topicloom.content import generate_content

    plan = topicloom.plan_content(generate_content(20, 2, 4, seed=1), "random", seed=2)
    assert plan.save(tmp_path / "p").figures.cost == plan.figures.cost
    assert len(pq.read_table(tmp_path / "p" / "assignment.parquet")) == 20
    assert repr(plan).startswith("PlannedContent(random, 20 users on ")


def test_what_an_error_recommends_is_there():
    assert callable(topicloom.stop_session)


@needs_mosquitto
def test_an_exported_mesh_is_run_and_judged(tmp_path):
    made = topicloom.build(LISTS, "gm")
    topicloom.export("mosquitto", made, tmp_path / "mesh", backups=0)
    found = topicloom.run_mesh(tmp_path / "mesh", messages=2, settle=0.2)
    assert found.exact and (found.nodes, found.delivered, found.published) == (3, found.expected, 4)
    assert "mosquitto" in repr(found).splitlines()[1] and "<table>" in found._repr_html_()


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda: topicloom.read("t.csv", encoding=5),
            "`encoding` takes the name of an encoding; it got",
        ),
        (lambda: topicloom.read("t.csv", header="no"), "`header` takes True or False; it got str 'no'"),
        (lambda: topicloom.read("t.csv", node_column=0), "`node_column` takes the name of a column, or its"),
        (lambda: topicloom.compare(LISTS, ["gm", "gm"]), "`algorithms` names a builder twice: gm, gm"),
        (lambda: topicloom.compare(LISTS, ["gm", 3]), "`algorithms` takes a list of names of builders"),
        (lambda: topicloom.compare(LISTS, ["gm"], parameters={"gm": 3}), "takes a dictionary of parameters"),
        (lambda: topicloom.explain(3, node="a"), "`edges` takes a Build, an Overlay, pairs"),
        (
            lambda: topicloom.export("nats", EDGES, "m", interest=LISTS, backups="x"),
            "`backups` takes a whole",
        ),
        (
            lambda: topicloom.export("nats", EDGES, "m", interest=LISTS, open="yes"),
            "`open` takes True or False",
        ),
        (lambda: topicloom.run_mesh("m", timeout="long"), "`timeout` takes a number of seconds; it got str"),
        (lambda: topicloom.run_mesh("m", settle=-1), "`settle` takes a number of seconds; it got int -1"),
        (lambda: WANTS.topics_of("a"), "`node` takes a node number below 3 .names: topic_names.; it got str"),
        (lambda: WANTS.nodes_of(7), "`topic` takes a topic number below 2"),
        (lambda: Overlay.from_pairs(EDGES, 5), "`interest` takes an Interest, .node, topic. pairs"),
        (lambda: Overlay.from_pairs(EDGES).with_interest(None), "it got None$"),
        (lambda: Overlay.from_arrow(["a"], 5), "`edges` takes a table of Arrow with columns u and v"),
        (lambda: topicloom.Constraints(caps=2), "`caps` takes an array with the cap of each node"),
        (
            lambda: topicloom.content.generate_content("a", 1, 1),
            "`users=a` is out of range; use a whole number",
        ),
        (lambda: topicloom.verify(LISTS, LISTS), "it got a value of type dict|it got dict"),
    ],
)
def test_each_wrong_argument_is_named_with_what_it_takes(call, told):
    with pytest.raises((UsageError, InputError), match=told):
        call()


def test_columns_are_positions_too_and_interests_what_they_can_be_made_of(tmp_path):
    (tmp_path / "t.csv").write_text("who,when,what\na,1,x\nb,2,x\n")
    with pytest.warns(UserWarning, match="taken as a header"):
        found = topicloom.read(tmp_path / "t.csv", node_column=1, topic_column="what", engine="local")
    assert found == Interest.from_pairs([("a", "x"), ("b", "x")])
    assert Overlay.from_pairs(EDGES, LISTS).topics_of_edge("a", "b") == ["x"]
    assert Overlay.from_arrow(["a", "b"], pa.table({"u": ["a"], "v": ["b"]})).n_edges == 1


def test_numbers_as_names_are_explained_zero_included():
    found = topicloom.explain([(0, 1)], interest={0: [0], 1: [0]}, topic=0)
    assert "it would split without one edge" in repr(found)
    assert "it is linked to 1 node, for the topics" in repr(
        topicloom.explain([(0, 1)], interest={0: [0], 1: [0]}, node=0)
    )


def test_values_show_themselves_in_words():
    limits = topicloom.Constraints.of(WANTS, caps={"a": 1}, forbid=[("a", "c")])
    assert repr(limits) == "Constraints(1 cap, 1 forbidden pair)"
    assert repr(topicloom.Constraints()) == "Constraints(none)"
    assert "<td>1</td>" in limits._repr_html_()
    drawn = topicloom.content.generate_content(1, 2, 3)
    assert repr(drawn) == "GeneratedContent(1 user, 2 brokers, 3 channels)"
    assert repr(drawn.problem) == "ContentProblem(1 user, 2 brokers, 3 channels)"
    assert drawn._repr_html_().startswith("<table><caption>Content problem</caption>")


def test_an_empty_interest_is_inspected_without_a_warning(recwarn):
    assert "nothing to connect" in topicloom.inspect([]).advice[0]
    assert not recwarn.list


def test_frames_name_the_reasons_that_occur():
    frame = pandas.DataFrame({"node": ["a", "b"], "topic": ["x", "x"], "role": ["sub", "boss"]})
    with pytest.warns(UserWarning, match=r"1 row is refused \(the role is none of sub, pub, both\)"):
        Interest.from_pandas(frame)


def test_columns_without_names_and_repeated_ones():
    frame = pandas.DataFrame([["a", "x"], ["b", "x"]])
    assert topicloom.build(frame, algorithm="gm").n_edges == 1
    frame.columns = ["node", "node"]
    with pytest.raises(InputError, match="more than once"):
        Interest.from_pandas(frame, topic="node")

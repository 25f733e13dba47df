"""Graph files: what was written comes back whole, and other programs read the same graph from it."""

from __future__ import annotations

import json
import quopri
import subprocess
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import igraph
import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import topicloom
from brokers_present import needs_graphviz
from drawing import examples
from topicloom.base.progress import SILENT
from topicloom.errors import InputError, Interrupted
from topicloom.mesh.jobs.export import export_build
from topicloom.overlay.graphs.formats import GRAPH_FORMATS, load_graph
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay
from topicloom.tables.folder import write_json, write_table

KINDS = list(GRAPH_FORMATS)
NASTY = [
    "", " ", "a b", "\t", "\n", "a\r\nb", "\r", "\x00", "\x01\x1f", "\x7f", "\x85", "\u2028", "\ufffe",
    "\uffff", "\ufeff", '"', "'", "\\", "\\\\", 'a\\"', "a\\", "\\n", "\\N", "<b>", "&amp;", "]]>", "#",
    "# node x {}", "%", "%-", "%41", "%zz", "1", "01", "1.0", "-0", "1e5", "nan", "null", "true", "node",
    "edge", "graph", "strict", "subgraph", "id", "source", "//", "/* */", "}", "];", "[]", '["a"]', "\xe9",
    "e\u0301", "=", "=41", "%a", "=-", "\u65e5\u672c", "\U0001f600", "a,b", ";", "--",
]  # fmt: skip
identifiers = st.sampled_from(NASTY) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@st.composite
def graphs(draw, names=identifiers):
    """Any interest, with topics nobody wants and nodes that want nothing, and any overlay of its nodes."""
    nodes = draw(st.lists(names, max_size=6, unique=True))
    topics = draw(st.lists(names, max_size=5, unique=True))
    wanted = draw(
        st.lists(st.booleans(), min_size=len(nodes) * len(topics), max_size=len(nodes) * len(topics))
    )
    matrix = csr_array(np.array(wanted, dtype=np.int8).reshape(len(nodes), len(topics)))
    interest = Interest.from_scipy(matrix, node_ids=nodes, topic_ids=topics)
    pairs = [(u, v) for v in range(len(nodes)) for u in range(v)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    overlay = Overlay.from_edges(interest.node_ids, [u for u, _ in edges], [v for _, v in edges])
    count = interest.n_subscriptions
    if count and draw(st.booleans()):
        roles = draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
        rates = draw(st.lists(st.floats(0, 1e300) | st.just(float("nan")), min_size=count, max_size=count))
        interest = replace(interest, roles=np.array(roles, np.uint8), rates=np.array(rates))
    return interest, overlay


def write(kind: str, graph: tuple[Interest, Overlay], folder: Path) -> Path:
    path = folder / GRAPH_FORMATS[kind].file
    GRAPH_FORMATS[kind].write(*graph, path)
    return path


def assert_same(found, graph):
    (interest, overlay), (wanted_interest, wanted_overlay) = found, graph
    assert interest == wanted_interest
    assert overlay == wanted_overlay
    for name in ("roles", "rates"):
        got, want = getattr(interest, name), getattr(wanted_interest, name)
        assert (got is None) == (want is None)
        assert got is None or np.array_equal(got, want, equal_nan=name == "rates")


def described(graph):
    """Plain sets of names: topics of each node, shared topics of each edge."""
    interest, overlay = graph
    nodes, topics = interest.node_ids.to_pylist(), interest.topic_ids.to_pylist()
    wants = {name: {topics[t] for t in interest.topics_of(v)} for v, name in enumerate(nodes)}
    edges = {frozenset((nodes[u], nodes[v])) for u, v in zip(overlay.u, overlay.v, strict=True)}
    return wants, {edge: set.intersection(*(wants[end] for end in edge)) for edge in edges}


def original(name: str, how: str) -> str:
    """What any program does to get the identifier."""
    if how == "plain":
        return name
    if how == "percent":
        return "" if name == "%-" else unquote(name, errors="strict")
    return "" if name == "=-" else quopri.decodestring(name.encode()).decode()


@pytest.mark.parametrize("kind", KINDS)
@examples(150)
@given(graph=graphs())
def test_what_was_written_is_read_back_whole(kind, graph, tmp_path_factory):
    folder = tmp_path_factory.mktemp("graph")
    write(kind, graph, folder)
    assert_same(load_graph(folder), graph)


@pytest.mark.parametrize("kind", KINDS)
def test_all_nasty_names_at_once_come_back(kind, tmp_path):
    n = len(NASTY)
    interest = Interest.from_scipy(csr_array(np.eye(n) + np.eye(n, k=1)), node_ids=NASTY, topic_ids=NASTY)
    graph = interest, Overlay.from_edges(interest.node_ids, range(n - 1), range(1, n))
    assert_same(load_graph(write(kind, graph, tmp_path)), graph)


def by_networkx(graph, how, read=json.loads):
    def name(text):
        return original(text, how)

    wants = {name(node): {name(t) for t in read(data["topics"])} for node, data in graph.nodes(data=True)}
    edges = {
        frozenset((name(a), name(b))): {name(t) for t in read(d["topics"])}
        for a, b, d in graph.edges(data=True)
    }
    return wants, edges


@examples(100)
@given(graph=graphs())
def test_networkx_and_igraph_read_our_graphml(graph, tmp_path_factory):
    path = write("graphml", graph, tmp_path_factory.mktemp("graph"))
    wants, edges = described(graph)
    found = networkx.read_graphml(path)
    assert not found.is_directed() and not found.is_multigraph()
    assert by_networkx(found, found.graph["names"]) == (wants, edges)
    other = igraph.Graph.Read_GraphML(str(path))
    how = other["names"]
    names = [original(name, how) for name in other.vs["name"]] if other.vcount() else []
    assert not other.is_directed()
    assert len(names) == len(wants) and set(names) == wants.keys()
    for node in other.vs:
        assert {original(t, how) for t in json.loads(node["topics"])} == wants[names[node.index]]
    assert {frozenset(names[end] for end in edge.tuple) for edge in other.es} == edges.keys()


@examples(100)
@given(graph=graphs())
def test_networkx_reads_our_node_link_json(graph, tmp_path_factory):
    path = write("node-link", graph, tmp_path_factory.mktemp("graph"))
    found = networkx.node_link_graph(json.loads(path.read_text("utf-8")), edges="edges")
    assert not found.is_directed() and not found.is_multigraph()
    assert by_networkx(found, "plain", list) == described(graph)


@examples(100)
@given(graph=graphs())
def test_networkx_reads_our_edge_list(graph, tmp_path_factory):
    path = write("edge-list", graph, tmp_path_factory.mktemp("graph"))
    how = path.read_text("utf-8").split("\n")[1].removeprefix("# names ")
    found = networkx.read_edgelist(path)
    edges = {
        frozenset((original(a, how), original(b, how))): {original(t, how) for t in data["topics"]}
        for a, b, data in found.edges(data=True)
    }
    assert edges == described(graph)[1]


@needs_graphviz
@examples(25)
@given(graph=graphs())
def test_graphviz_reads_our_dot(graph, tmp_path_factory):
    path = write("dot", graph, tmp_path_factory.mktemp("graph"))
    done = subprocess.run(["dot", "-Tdot_json", str(path)], capture_output=True, check=True)
    found = json.loads(done.stdout)
    names = [original(node["name"], found["names"]) for node in found.get("objects", [])]
    wants, edges = described(graph)
    assert sorted(names) == sorted(wants)
    for node, name in zip(found.get("objects", []), names, strict=True):
        assert {original(t, found["names"]) for t in json.loads(node["topics"])} == wants[name]
    assert {frozenset((names[e["tail"]], names[e["head"]])) for e in found.get("edges", [])} == edges.keys()


SMALL = Interest.from_pairs([("a", "x"), ("b", "x"), ("b", "y"), ("c", "y"), ("d", "z")])
SMALL_OVERLAY = Overlay.from_edges(SMALL.node_ids, [0, 1], [1, 2])


def test_plain_names_stay_plain(tmp_path):
    """A file of ordinary names must not look encoded to people who open it."""
    for kind in KINDS:
        text = write(kind, (SMALL, SMALL_OVERLAY), tmp_path).read_text()
        assert "plain" in text and "%" not in text


@pytest.mark.parametrize("kind", ["graphml", "node-link"])
def test_files_that_networkx_wrote_are_read(kind, tmp_path):
    graph = SMALL_OVERLAY.to_networkx()
    for number, node in enumerate(SMALL.node_ids.to_pylist()):
        topics = [SMALL.topic_ids[int(t)].as_py() for t in SMALL.topics_of(number)]
        graph.nodes[node]["topics"] = json.dumps(topics) if kind == "graphml" else topics
        graph.nodes[node]["colour"] = "red"
    path = tmp_path / ("their.graphml" if kind == "graphml" else "their.json")
    if kind == "graphml":
        networkx.write_graphml(graph, path)
    else:
        path.write_text(json.dumps(networkx.node_link_data(graph, edges="links")))
    assert_same(load_graph(path), (SMALL, SMALL_OVERLAY))


def test_numbered_nodes_and_both_directions_of_networkx_are_read(tmp_path):
    graph = networkx.DiGraph([(1, 2), (2, 1), (2, 10)])
    networkx.set_node_attributes(graph, '["x"]', "topics")
    networkx.write_graphml(graph, tmp_path / "g.graphml")
    interest, overlay = load_graph(tmp_path / "g.graphml")
    assert interest.node_ids.to_pylist() == ["1", "10", "2"]
    assert overlay.to_pandas().to_numpy().tolist() == [["1", "2"], ["10", "2"]]


GRAPHML = (
    '<graphml><key id="k" for="node" attr.name="topics" attr.type="string"/><graph edgedefault="undirected">'
)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("g.graphml", "<graphml", "is not XML"),
        ("g.graphml", "<svg/>", "is not GraphML"),
        ("g.graphml", '<!DOCTYPE graphml [<!ENTITY a "b">]><graphml/>', "entity 'a'"),
        ("g.graphml", '<graphml><graph><node id="a"/></graph></graphml>', "'topics'"),
        ("g.graphml", GRAPHML + '<node id="a"><data key="k">x</data></node></graph></graphml>', "node 'a'"),
        ("g.graphml", GRAPHML + '<node id="a"/><edge source="a" target="b"/></graph></graphml>', "'b'"),
        ("g.graphml", GRAPHML + '<node id="a"/><node id="a"/></graph></graphml>', "two nodes 'a'"),
        ("g.graphml", GRAPHML + '<node id="a"/><edge source="a" target="a"/></graph></graphml>', "'a'"),
        ("g.graphml", GRAPHML + "<hyperedge/></graph></graphml>", "hyperedge"),
        ("g.json", "{", "node-link JSON"),
        ("g.json", '{"nodes": []}', "neither 'edges' nor 'links'"),
        ("g.json", '{"nodes": [{"id": "a"}], "edges": []}', "'topics'"),
        ("g.json", '{"nodes": [{"id": 1, "topics": [2.5]}], "edges": []}', "2.5"),
        ("g.json", '{"nodes": [{"id": "a", "topics": []}, {"id": "a"}], "edges": []}', "two nodes 'a'"),
        (
            "g.json",
            '{"graph": {"topics_without_nodes": 1}, "nodes": [], "edges": []}',
            "topics_without_nodes",
        ),
        ("g.edgelist", "a b\n", "does not begin with"),
        ("g.edgelist", "# topicloom 1 edge list; \n# names base64\n", "base64"),
        ("g.edgelist", "# topicloom 1 edge list; \n# node a {]\n", "line 2"),
        ("g.edgelist", '# topicloom 1 edge list; \n# node a {"topics":["x"],"roles":["king"]}\n', "king"),
        ("g.dot", "graph { a -- b }\n", "only DOT of our own"),
        ("g.dot", '// topicloom 1 DOT; \ngraph overlay {\n  "a" [topics="[]"];\n', "cut off"),
        ("g.dot", "// topicloom 1 DOT; \ngraph overlay {\n  a -- b\n}\n", "line 3"),
        ("g.png", "", "names no graph format"),
    ],
)
def test_broken_files_are_refused_by_name(name, text, told, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as error:
        load_graph(tmp_path / name)
    assert str(tmp_path) in str(error.value) and told in str(error.value)


def test_a_folder_without_a_graph_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds 0 graph files"):
        load_graph(tmp_path)
    with pytest.raises(InputError, match="cannot read"):
        load_graph(tmp_path / "none.graphml")


def test_an_overlay_of_other_nodes_is_refused(tmp_path):
    other = Overlay.from_edges(Interest.from_pairs([("q", "x"), ("r", "x")]).node_ids, [0], [1])
    for kind in KINDS:
        with pytest.raises(InputError, match="not those of the interest"):
            write(kind, (SMALL, other), tmp_path)


def test_writing_stops_when_asked(tmp_path):
    class Stopping(type(SILENT)):
        def should_stop(self):
            return True

    with pytest.raises(Interrupted):
        GRAPH_FORMATS["dot"].write(SMALL, SMALL_OVERLAY, tmp_path / "x.dot", progress=Stopping())


@pytest.mark.parametrize("kind", KINDS)
@examples(5)
@given(rates=st.lists(st.floats(0, 1e300) | st.just(float("nan")), min_size=5, max_size=5), data=st.data())
def test_a_build_is_exported_with_its_roles_and_rates(kind, rates, data, tmp_path_factory):
    """What the input's optional columns said must not be lost between the build and the file."""
    folder = tmp_path_factory.mktemp("build")
    roles = np.array(data.draw(st.lists(st.integers(0, 2), min_size=5, max_size=5)), np.uint8)
    interest = replace(SMALL, roles=roles, rates=np.array(rates))
    write_table(interest.to_arrow(), folder / "interest.parquet")
    write_table(SMALL_OVERLAY.to_arrow(), folder / "edges.parquet")
    head = {"format": 1, "kind": "build", "algorithm": "gm", "parameters": {}, "seed": 0}
    write_json({**head, "seconds": {"total": 0.0}, "interest_digest": "0"}, folder / "summary.json")
    summary = export_build(kind, folder, out=folder / "out")
    assert summary.files == sorted(["manifest.json", GRAPH_FORMATS[kind].file])
    assert (summary.nodes, summary.links, summary.connections_per_node_max) == (4, 2, 2)
    assert_same(load_graph(folder / "out"), (interest, SMALL_OVERLAY))
    export_build(kind, folder, out=folder / "out")  # an earlier export may be replaced


def test_it_is_public(tmp_path):
    assert_same(topicloom.load_graph(write("dot", (SMALL, SMALL_OVERLAY), tmp_path)), (SMALL, SMALL_OVERLAY))

"""`topicloom explain` as a user runs it; none of it starts Spark."""

from __future__ import annotations

import json

import pytest

import topicloom
from topicloom.cli.main import execute
from topicloom.errors import InputError, UsageError

WANTS = {"hub": ["x", "y"], "a": ["x"], "b": ["x"], "c": ["x", "y"], "lone": ["z"]}
EDGES = [("hub", "a"), ("hub", "b"), ("hub", "c"), ("b", "c")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = topicloom.build(WANTS, "gm", start=EDGES)
    assert made.n_edges == 4
    path = tmp_path_factory.mktemp("explain") / "build"
    made.save(path)
    return path


@pytest.fixture
def explain(folder, capsys):
    def run(*words: object) -> tuple[int, str, str]:
        code = execute(["explain", str(folder), *map(str, words)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_an_edge_says_what_it_carries_and_what_would_split(explain):
    code, out, _ = explain("--edge", "hub", "a")
    assert code == 0 and out.splitlines() == [
        "'a' and 'hub' share 1 topic, which this edge carries: 'x'",
        "without it 1 topic would split:",
        "  'x': components of 3 (with 'b'), 1 (with 'a')",
        "topic 'x', the edge drawn double:",
        "hub",
        "├═ a",
        "├─ b, also linked to c",
        "└─ c",
    ]
    found = json.loads(explain("--edge", "c", "hub", "--json")[1])
    assert found["topics"] == ["x", "y"] and found["detours"] == [{"topic": "x", "hops": 2}]
    assert [one["topic"] for one in found["splits"]] == ["y"]


def test_a_node_says_who_it_talks_to_and_why(explain):
    code, out, _ = explain("--node", "hub")
    assert code == 0
    assert "it is linked to 3 nodes, each for the topics that both want:" in out
    assert "  'c': 2 topics: 'x', 'y'" in out
    assert "without it 1 topic would split:\n  'x': components of 2 (with 'b'), 1 (with 'a')" in out
    assert "hub *" in out
    alone = json.loads(explain("--node", "lone", "--json")[1])
    assert (alone["neighbors"], alone["splits"], alone["drawing"]) == ([], [], ["lone *"])


def test_a_topic_is_drawn_as_text_and_as_a_picture(explain, tmp_path):
    for name, begins in (("t.png", b"\x89PNG"), ("t.svg", b"<svg"), ("t.pdf", b"%PDF")):
        code, out, _ = explain("--topic", "x", "--picture", tmp_path / name)
        assert code == 0 and (tmp_path / name).read_bytes().startswith(begins)
    assert "4 subscribers, 4 edges among them; connected; at most 2 hops, mean 1.3, 95% up to 2" in out
    assert "  'hub': components of 2, 1" in out and "it would split without one edge" in out


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((), "one of --edge U V, --node NODE and --topic TOPIC"),
        (("--node", "a", "--topic", "x"), "one of"),
        (("--node", "nobody"), "no node called 'nobody'"),
        (("--topic", "nothing"), "no topic called 'nothing'"),
        (("--edge", "a", "b"), "no edge between 'a' and 'b'"),
        (("--topic", "x", "--picture", "x.gif"), "x.gif"),
    ],
)
def test_what_is_not_there_is_named(explain, words, named):
    code, out, err = explain(*words)
    assert code == 2 and not out and named in err and err.count("\n") == 1


def test_python_says_the_same(folder):
    found = topicloom.explain(str(folder), topic="y")
    assert found.component_sizes == (2,) and "<pre>" in found._repr_html_()
    with pytest.raises(UsageError, match="give one of `edge`, `node` and `topic`"):
        topicloom.explain(str(folder))
    with pytest.raises(UsageError, match="`edge` takes the names of two nodes"):
        topicloom.explain(str(folder), edge="ab")
    with pytest.raises(InputError, match="no node called 3"):
        topicloom.explain(EDGES, interest=WANTS, node=3)

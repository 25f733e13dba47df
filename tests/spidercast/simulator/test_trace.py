"""Traces by their rows: what is accepted can happen, what cannot is refused by file and line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicloom.errors import InputError
from topicloom.overlay.model.interest import Interest
from topicloom.spidercast.simulator.node_changes import BARE, ChangeKind, NodeChange
from topicloom.spidercast.simulator.trace import read_trace

AWAY = (ChangeKind.LEAVE, ChangeKind.CRASH)
INTEREST = Interest.from_pairs([("a", "x"), ("a", "y y"), ("b", "x"), ("c", "z"), ("c", "p|q")])
A, B, C = range(3)
PQ, X, Y, Z = range(4)


def trace(folder: Path, *lines: str, header: str = "time,node,change,topics") -> list[NodeChange]:
    path = folder / "trace.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return read_trace(path, INTEREST)


def test_every_kind_of_row(tmp_path: Path) -> None:
    assert trace(
        tmp_path,
        "0,b,join,",
        "1.5,a,subscribe,z",
        "2,a,publish,z",
        "2,a,unsubscribe,z|x",
        "",
        "3,a,leave,",
        "4,c,publish,p|q",
        "5,a,join,",
        "5,c,crash,",
        "6,c,join,x|y y",
        "7,c,publish,y y",
    ) == [
        NodeChange(0.0, A, ChangeKind.JOIN, (X, Y)),
        NodeChange(0.0, C, ChangeKind.JOIN, (PQ, Z)),
        NodeChange(0.0, B, ChangeKind.JOIN, (X,)),
        NodeChange(1.5, A, ChangeKind.SUBSCRIBE, (Z,)),
        NodeChange(2.0, A, ChangeKind.PUBLISH, (Z,)),
        NodeChange(2.0, A, ChangeKind.UNSUBSCRIBE, (Z, X)),
        NodeChange(3.0, A, ChangeKind.LEAVE, None),
        NodeChange(4.0, C, ChangeKind.PUBLISH, (PQ,)),
        NodeChange(5.0, A, ChangeKind.JOIN, (X, Y)),
        NodeChange(5.0, C, ChangeKind.CRASH, None),
        NodeChange(6.0, C, ChangeKind.JOIN, (X, Y)),
        NodeChange(7.0, C, ChangeKind.PUBLISH, (Y,)),
    ]


def test_the_column_topics_may_be_missing(tmp_path: Path) -> None:
    changes = trace(tmp_path, "join,9,c", "leave,9.5,a", header="change,time,node")
    assert changes == [
        NodeChange(0.0, A, ChangeKind.JOIN, (X, Y)),
        NodeChange(0.0, B, ChangeKind.JOIN, (X,)),
        NodeChange(9.0, C, ChangeKind.JOIN, (PQ, Z)),
        NodeChange(9.5, A, ChangeKind.LEAVE, None),
    ]


def test_a_trace_without_rows_leaves_all_on(tmp_path: Path) -> None:
    assert [(change.time, change.node) for change in trace(tmp_path)] == [(0.0, A), (0.0, B), (0.0, C)]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["-1,a,leave,"], "line 2: time is '-1'"),
        (["soon,a,leave,"], "line 2: time is 'soon'"),
        ([",a,leave,"], "line 2: time is ''"),
        (["nan,a,leave,"], "line 2: time is 'nan'"),
        (["inf,a,leave,"], "line 2: time is 'inf'"),
        (["5,a,leave,", "4.5,b,leave,"], "line 3: time 4.5 comes after 5 in the row above"),
        (["1,a,leave,", "2,a,leave,"], "line 3: node 'a' cannot leave, it is off"),
        (["1,a,crash,", "2,a,crash,"], "line 3: node 'a' cannot crash, it is off"),
        (["1,a,leave,", "2,a,subscribe,z"], "line 3: node 'a' cannot subscribe, it is off"),
        (["1,a,leave,", "2,a,unsubscribe,x"], "line 3: node 'a' cannot unsubscribe, it is off"),
        (["1,a,crash,", "2,a,publish,x"], "line 3: node 'a' cannot publish, it is off"),
        (["1,a,join,", "2,a,join,"], "line 3: node 'a' cannot join, it is on already"),
        (["1,a,publish,x", "2,a,join,"], "line 3: node 'a' cannot join, it is on already"),
        (["1,d,leave,"], "line 2: 'd' is not a node of the interest"),
        (["1,a,subscribe,w"], "line 2: 'w' is not a topic of the interest"),
        (["1,a,join,x|w"], "line 2: 'w' is not a topic of the interest"),
        (["1,a,join,x|"], "line 2: '' is not a topic of the interest"),
        (["1,a,join,x|x"], "line 2: topic 'x' is named twice"),
        (["1,a,subscribe,x"], "line 2: node 'a' cannot subscribe: it already wants topic 'x'"),
        (["1,b,subscribe,z", "1,b,subscribe,z"], "line 3: .*already wants topic 'z'"),
        (["1,a,unsubscribe,z"], "line 2: node 'a' cannot unsubscribe: it does not want topic 'z'"),
        (["1,a,join,z", "2,a,unsubscribe,x"], "line 3: .*does not want topic 'x'"),
        (["1,a,subscribe,"], "line 2: subscribe needs at least one topic"),
        (["1,a,unsubscribe,"], "line 2: unsubscribe needs at least one topic"),
        (["1,a,publish,"], "line 2: publish needs exactly one topic"),
        (["1,a,publish,x|y y"], "line 2: publish needs exactly one topic"),
        (["1,b,publish,z"], "line 2: node 'b' cannot publish: it does not want topic 'z'"),
        (["1,a,unsubscribe,x", "2,a,publish,x"], "line 3: .*does not want topic 'x'"),
        (["1,a,leave,x"], "line 2: leave takes no topics"),
        (["1,a,go,"], "line 2: change is 'go', but it must be one of join, leave"),
        (["1,a,leave"], "line 2: it has 3 fields and the header has 4"),
        (['1,a,leave,"'], "not sound CSV"),
    ],
)
def test_impossible_rows_are_refused(tmp_path: Path, lines: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        trace(tmp_path, *lines)
    assert "trace.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_connections_change_with_a_value(tmp_path: Path) -> None:
    header = "time,node,change,value"
    rows = ("1,a,slow,20", "2,b,bandwidth,0", "2,a,setup,0.5", "2,a,fifo,1", "3,b,leave,")
    changes = trace(tmp_path, *rows, header=header)
    assert changes[3:] == [
        NodeChange(1.0, A, ChangeKind.SLOW, None, 20.0),
        NodeChange(2.0, B, ChangeKind.BANDWIDTH, None, 0.0),
        NodeChange(2.0, A, ChangeKind.SETUP, None, 0.5),
        NodeChange(2.0, A, ChangeKind.FIFO, None, 1.0),
        NodeChange(3.0, B, ChangeKind.LEAVE, None),
    ]
    for line, words in {
        "1,a,slow,0.5": "slow needs a factor of at least 1 in the column 'value', not '0.5'",
        "1,a,slow,": "slow needs a factor",
        "1,a,slow,inf": "slow needs a factor",
        "1,a,bandwidth,-1": "bandwidth needs bytes per second",
        "1,a,setup,": "setup needs seconds until a connection is open",
        "1,a,fifo,2": "fifo needs 1 \\(in order\\) or 0",
        "1,a,leave,3": "leave takes no value",
    }.items():
        with pytest.raises(InputError, match=words):
            trace(tmp_path, line, header=header)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("time,node", "no column 'change'"),
        ("time,node,change,topic", "'topic' which has no meaning here"),
        ("time,node,change,change", "'change' twice"),
        ("", "no column 'time'"),
    ],
)
def test_bad_headers_are_refused(tmp_path: Path, header: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        trace(tmp_path, header=header)


def test_unreadable_traces_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none.csv cannot be read: No such file"):
        read_trace(tmp_path / "none.csv", INTEREST)
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_trace(tmp_path, INTEREST)


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", "d"]),
        st.sampled_from([*(kind.value for kind in ChangeKind), "go"]),
        st.lists(st.sampled_from(["x", "y y", "z", "p|q", "w"]), max_size=2),
    ),
    max_size=8,
)


@given(rows=ROWS)
def test_what_is_accepted_can_happen(rows: list[tuple[str, str, list[str]]], tmp_path_factory) -> None:
    """Any rows: refused by an InputError, or every node joins, wants and leaves in a possible order."""
    lines = [f"{time},{node},{kind},{'|'.join(topics)}" for time, (node, kind, topics) in enumerate(rows)]
    try:
        changes = trace(tmp_path_factory.mktemp("trace"), *lines)
    except InputError:
        return
    wants: dict[int, set[int]] = {}
    for _, node, kind, topics, _ in changes:
        assert (node in wants) == (kind is not ChangeKind.JOIN)
        if kind is ChangeKind.JOIN:
            wants[node] = set(topics or ())
        elif kind in AWAY:
            del wants[node]
        elif kind in BARE:
            assert topics is None
        else:
            assert topics
            assert all((topic in wants[node]) == (kind is not ChangeKind.SUBSCRIBE) for topic in topics)
            wants[node] ^= set(topics) if kind is not ChangeKind.PUBLISH else set()

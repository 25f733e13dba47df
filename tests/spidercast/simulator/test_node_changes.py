"""When nodes come and go: churn by its distributions, traces by their rows."""

from __future__ import annotations

from itertools import pairwise
from math import inf, nan
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topicloom.errors import InputError, UsageError
from topicloom.overlay.model.interest import Interest
from topicloom.spidercast.simulator.node_changes import (
    BARE,
    ChangeKind,
    Churn,
    NodeChange,
    own_topics,
    read_trace,
)

AWAY = (ChangeKind.LEAVE, ChangeKind.CRASH)


def some_interest(n: int) -> Interest:
    """Node i wants i % 7 + 1 topics, beginning with topic i % 10."""
    return Interest.from_pairs(
        (f"n{node:05}", f"t{(node + step) % 10}") for node in range(n) for step in range(node % 7 + 1)
    )


def lives(churn: Churn, end: float) -> dict[int, list[NodeChange]]:
    """All changes of each node up to `end`."""
    found = {}
    for first in churn.first_changes():
        changes: list[NodeChange] = []
        change: NodeChange | None = first
        while change is not None and change.time <= end:
            changes.append(change)
            change = churn.next_change(first.node, change)
        found[first.node] = changes
    return found


# --- churn -------------------------------------------------------------------------------------------


def test_on_and_off_times_have_their_means() -> None:
    ons, offs = [], []
    for changes in lives(Churn(some_interest(400), life=100.0, seed=3), 10_000.0).values():
        for before, after in pairwise(changes):
            assert (before.kind is ChangeKind.JOIN) == (after.kind in AWAY)
            (ons if before.kind is ChangeKind.JOIN else offs).append(after.time - before.time)
    assert len(ons) > 20_000
    assert fmean(ons) == pytest.approx(100.0, rel=0.05)
    assert fmean(offs) == pytest.approx(25.0, rel=0.05)
    # Exponential: about 1/e of the times are longer than their mean.
    assert sum(on > 100.0 for on in ons) / len(ons) == pytest.approx(0.368, abs=0.02)


@pytest.mark.parametrize(("off", "share"), [(None, 0.8), (100.0, 0.5)])
def test_the_share_of_nodes_that_are_on_does_not_drift(off: float | None, share: float) -> None:
    found = lives(Churn(some_interest(2_000), life=100.0, off=off, seed=5), 300.0)
    for time in (0.0, 1.0, 30.0, 100.0, 300.0):
        last = [[change for change in changes if change.time <= time][-1:] for changes in found.values()]
        on = sum(bool(changes) and changes[0].kind is ChangeKind.JOIN for changes in last)
        assert on / 2_000 == pytest.approx(share, abs=0.04)


def test_first_interests_are_own_and_later_ones_new() -> None:
    """Later lists have the sizes of the interest, each about equally often."""
    interest = some_interest(50)
    drawn = dict.fromkeys(range(1, 8), 0)
    own_list = joins = 0
    for node, changes in lives(Churn(interest, life=10.0, seed=2), 2_000.0).items():
        for change in changes:
            if change.kind is not ChangeKind.JOIN:
                assert change.topics is None
            elif change.time == 0.0:
                assert change.topics == own_topics(interest, node)
            else:
                assert change.topics is not None
                joins += 1
                drawn[len(change.topics)] += 1
                own_list += change.topics == own_topics(interest, node)
    assert joins > 5_000
    assert own_list < 0.05 * joins
    assert all(count == pytest.approx(joins / 7, rel=0.25) for count in drawn.values())


def test_new_interests_keep_the_popularity_of_topics() -> None:
    """Were it lost, a run with churn would drift to another workload than the one it was given."""
    interest = Interest.from_pairs([(f"n{node}", "x" if node % 4 else "y") for node in range(100)])
    changes = lives(Churn(interest, life=5.0, seed=1), 300.0)
    later = [
        change.topics
        for found in changes.values()
        for change in found
        if change.kind is ChangeKind.JOIN and change.time > 0
    ]
    assert later.count((0,)) / len(later) == pytest.approx(0.75, abs=0.05)
    assert set(later) == {(0,), (1,)}


def test_a_lonely_node_keeps_its_interest() -> None:
    changes = lives(Churn(some_interest(1), life=5.0, seed=1), 200.0)[0]
    assert len(changes) > 10
    assert {change.topics for change in changes if change.kind is ChangeKind.JOIN} == {(0,)}


@pytest.mark.parametrize("crash", [0.0, 0.3, 1.0])
def test_the_share_of_crashes(crash: float) -> None:
    found = lives(Churn(some_interest(100), life=10.0, crash=crash, seed=4), 1_000.0)
    kinds = [change.kind for changes in found.values() for change in changes if change.kind in AWAY]
    assert kinds.count(ChangeKind.CRASH) / len(kinds) == pytest.approx(crash, abs=0.03)


def test_nothing_happens_after_the_end_of_churn() -> None:
    """Up to the end it is the same run as without one."""
    interest = some_interest(300)
    endless = lives(Churn(interest, life=50.0, seed=6), 100.0)
    ending = lives(Churn(interest, life=50.0, until=100.0, seed=6), inf)
    assert ending == {node: changes for node, changes in endless.items() if changes}
    assert lives(Churn(interest, life=50.0, until=0.0, seed=6), inf) == {
        node: changes[:1] for node, changes in endless.items() if changes and changes[0].time == 0.0
    }


def test_changes_depend_on_the_seed_and_on_nothing_else() -> None:
    interest = some_interest(40)
    churn = Churn(interest, life=20.0, crash=0.5, seed=7)
    by_node = lives(churn, 500.0)
    assert lives(Churn(interest, life=20.0, crash=0.5, seed=7), 500.0) == by_node
    assert lives(Churn(interest, life=20.0, crash=0.5, seed=8), 500.0) != by_node
    # Asked in order of time, as a driver does, and in reverse.
    known = sorted((c for changes in by_node.values() for c in changes), key=lambda c: c.time)
    following = {c: churn.next_change(c.node, c) for c in known}
    assert {c: churn.next_change(c.node, c) for c in reversed(known)} == following


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("life", 0.0), ("life", -1.0), ("life", nan), ("life", inf),
        ("off", 0.0), ("off", nan),
        ("crash", -0.1), ("crash", 1.1), ("crash", nan),
        ("until", -1.0), ("until", nan),
    ],
)  # fmt: skip
def test_impossible_churn_is_refused(name: str, value: float) -> None:
    options = {"life": 100.0, name: value}
    with pytest.raises(UsageError, match=f"^{name}="):
        Churn(some_interest(3), **options)  # type: ignore[arg-type]


# --- traces ------------------------------------------------------------------------------------------

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
    for _, node, kind, topics in changes:
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

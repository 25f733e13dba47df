"""When nodes come and go by churn: the distributions are those asked for."""

from __future__ import annotations

from itertools import pairwise
from math import inf, nan
from statistics import fmean

import pytest

from topicloom.errors import UsageError
from topicloom.overlay.model.interest import Interest
from topicloom.spidercast.simulator.node_changes import ChangeKind, Churn, NodeChange, own_topics

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

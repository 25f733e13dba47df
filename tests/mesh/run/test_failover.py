"""What is left of topics without a node, and what joins it again; with real brokers at the end."""

from __future__ import annotations

import pytest

from brokers_present import needs_mosquitto
from hand_mesh import HandLink, hand_mesh, write_hand_mesh
from topicloom.errors import UsageError
from topicloom.mesh.jobs.run import run_folder
from topicloom.mesh.run.adapter import Arrival
from topicloom.mesh.run.failover import NodeFailover, Recovery, RecoveryWatch, count_topics, split_topics
from topicloom.mesh.run.inbox import Inbox
from topicloom.mesh.run.lifecycle import nodes_named
from topicloom.mesh.run.running_mesh import RunSettings

ALL = dict.fromkeys("abcd", ("x",))
STAR = (HandLink("b", "a", ("x",)), HandLink("c", "b", ("x",), ("a",)), HandLink("d", "b", ("x",)))


def test_parts_are_joined_by_backups_only():
    """Without b the others are alone; c has a backup, d has none."""
    (found,) = split_topics(hand_mesh(ALL, STAR), "b")
    assert found.components == (("a",), ("c",), ("d",))
    assert found.joined == ((0, 1), (2,))
    assert list(found.reachable(1)) == ["a", "c"]
    assert list(found.reachable(2)) == ["d"]


def test_a_backup_that_is_the_killed_node_itself_helps_nobody():
    links = (
        HandLink("b", "a", ("x",)),
        HandLink("c", "b", ("x",), ("b", "a")),
        HandLink("d", "a", ("x",), ("b",)),
    )
    (found,) = split_topics(hand_mesh(ALL, links), "b")
    assert found.joined == ((0, 1),)  # c turns to a, past b; d needs no backup


def test_only_topics_of_the_node_with_somebody_left_are_told():
    mesh = hand_mesh({"a": ("x", "own"), "b": ("x", "y"), "c": ("y",)}, [HandLink("b", "a", ("x",))])
    assert [one.topic for one in split_topics(mesh, "a")] == ["x"]


@pytest.mark.parametrize(
    ("topics", "missing", "duplicates", "strays", "exact_again", "held"),
    [
        ((Recovery("x", 2, 1, 1.5),), 0, 0, 0, True, True),
        ((Recovery("x", 2, 2, 0.1),), 0, 0, None, True, True),  # apart, as foreseen; no probes
        ((Recovery("x", 2, 1, None),), 0, 0, 0, True, False),
        ((Recovery("x", 2, 1, 1.5),), 1, 0, 0, True, False),  # it flowed once, but not any more
        ((Recovery("x", 2, 1, 1.5),), 0, 1, 0, True, False),
        ((Recovery("x", 2, 1, 1.5),), 0, 0, 2, True, False),
        ((Recovery("x", 2, 1, 1.5),), 0, 0, 0, False, False),
    ],
)
def test_what_counts_as_held(topics, missing, duplicates, strays, exact_again, held):
    failover = NodeFailover(
        node="b",
        missing=missing,
        duplicates=duplicates,
        strays=strays,
        links_at_backups=0,
        seconds_back=1.0,
        exact_again=exact_again,
        **count_topics(topics),
    )
    assert failover.held is held


@needs_mosquitto
def test_a_killed_broker_s_topics_flow_again_over_the_backup(tmp_path):
    """c goes to a, d has nowhere to go; then b returns and all is exact once more."""
    write_hand_mesh(tmp_path / "mesh", ALL, STAR)
    summary = run_folder("mosquitto", tmp_path / "mesh", RunSettings(messages=2, settle=0.3, kill=("b",)))
    (failover,) = summary.failover
    assert summary.exact, summary
    (topic,) = failover.by_topic
    assert (topic.parts, topic.apart) == (3, 2)
    # The bridge waits a second before it turns to the backup.
    assert topic.seconds is not None
    assert topic.seconds > 0.5
    assert failover.exact_again is True
    assert (failover.missing, failover.duplicates, failover.strays, failover.links_at_backups) == (0, 0, 0, 0)


def test_a_topic_has_recovered_only_when_all_that_can_have_heard_all_parts():
    """a and c are joined by the backup: each must hear the other, whichever member it was that spoke."""
    topics = split_topics(hand_mesh(ALL, STAR), "b")
    watch = RecoveryWatch(topics, Inbox(lambda: 0.0))
    first = watch.publications(0, whole=False)
    assert [(one.node, one.message) for one in first] == [("a", 0), ("c", 1), ("d", 2)]
    for node, message in [("a", 0), ("c", 1), ("d", 2), ("c", 0), ("c", 0), ("d", 0)]:
        watch.arrived(Arrival(node, "x", message))
    assert watch.recovered_at(topics[0]) is None  # a has not heard c
    again = watch.publications(1, whole=False)
    watch.arrived(Arrival("a", "x", again[1].message))
    assert watch.recovered_at(topics[0]) is not None
    assert watch.publications(2, whole=False) == []
    assert len(watch.publications(2, whole=True)) == 3


def test_killing_a_node_that_is_not_there_is_refused():
    mesh = hand_mesh(ALL, STAR)
    with pytest.raises(UsageError, match="`kill=e`"):
        nodes_named(mesh, "kill", ("e",))
    with pytest.raises(UsageError, match="leave the others out"):
        nodes_named(mesh, "kill", ("all", "b"))
    assert nodes_named(mesh, "kill", ("all",)) == ("a", "b", "c", "d")
    assert nodes_named(mesh, "kill", ("b", "b")) == ("b", "b")  # twice is twice
    assert nodes_named(hand_mesh({"all": (), "b": ()}, []), "kill", ("all",)) == ("all",)

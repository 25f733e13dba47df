"""Links cut and stalled under load: durable ones lose nothing, retained messages are right in the end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

from brokers_present import needs_mosquitto, needs_nats, needs_zenoh
from mesh.exported import export_mesh, write_files
from topicloom.base.summaries import plain
from topicloom.errors import UsageError
from topicloom.mesh.jobs.run import RunSummary, run_folder
from topicloom.mesh.kinds.mosquitto.adapter import MosquittoAdapter
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshTopic
from topicloom.mesh.run import retained
from topicloom.mesh.run.adapter import Arrival, Publication
from topicloom.mesh.run.cuts import BrokenLinks, _Flow, doubled_by_link
from topicloom.mesh.run.retained import retain_values
from topicloom.mesh.run.running_mesh import RunSettings

WANTED = {"x": "abcd", "y": "abc", "z": "acd"}
EDGES = ["ab", "bc", "cd", "ad"]
ROLES = {"x": "Abcd", "y": "Ba"}  # a alone publishes x; b only publishes y and a only receives it


def run(kind: str, folder: Path, **options: object) -> RunSummary:
    return run_folder(kind, folder, RunSettings(messages=2, settle=0.3, quiet=3.0, **options))  # type: ignore[arg-type]


@needs_mosquitto
def test_a_durable_mesh_loses_nothing_when_every_link_is_cut(tmp_path: Path) -> None:
    export_mesh("mosquitto", tmp_path / "mesh", WANTED, EDGES, ROLES, queue=500)
    summary = run("mosquitto", tmp_path / "mesh", cut=("all",))
    (broken,) = summary.broken
    assert (broken.lost, broken.durable, broken.exact_again) == (0, True, True), broken
    assert broken.links == len(summary_links(summary)) and broken.published > 50
    assert (broken.retained, broken.retained_wrong) == (3, 0), "b, c and d retain the last value of x"
    assert summary.exact


def summary_links(summary: RunSummary) -> range:
    return range(summary.links)


@needs_mosquitto
def test_what_brokers_retain_is_part_of_every_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was looked at after a cut only; an old value at one broker makes the run fail."""
    export_mesh("mosquitto", tmp_path / "mesh", WANTED, EDGES, ROLES)
    summary = run("mosquitto", tmp_path / "mesh")
    assert summary.exact and plain(summary.retained) == {"values": 3, "wrong": 0}
    read = MosquittoAdapter.read_retained

    async def old(self: MosquittoAdapter, mesh: Mesh) -> dict[tuple[str, str], int]:
        return {**await read(self, mesh), ("c", "x"): 0}

    monkeypatch.setattr(MosquittoAdapter, "read_retained", old)
    monkeypatch.setattr(retained, "AGAIN", 0.3)
    summary = run("mosquitto", tmp_path / "mesh")
    assert summary.delivered == summary.expected and not summary.exact
    assert plain(summary.retained) == {"values": 3, "wrong": 1}


def test_topics_whose_retained_values_may_swap_are_told(tmp_path: Path) -> None:
    several = write_files("mosquitto", tmp_path / "mesh", WANTED, EDGES, ROLES)
    assert [text.startswith("2 topics have several publishers") for text in several.remarks] == [True]
    assert write_files("mosquitto", tmp_path / "one", {"x": "ab"}, ["ab"], {"x": "Ab"}).remarks == ()


@needs_mosquitto
def test_elsewhere_what_was_published_is_lost_and_counted(tmp_path: Path) -> None:
    export_mesh("mosquitto", tmp_path / "mesh", WANTED, EDGES, ROLES)
    summary = run("mosquitto", tmp_path / "mesh", cut=("all",))
    (broken,) = summary.broken
    assert broken.lost > 0 and not broken.durable and broken.doubled == 0
    assert broken.retained_wrong == 0 and summary.exact


@pytest.mark.parametrize(
    "kind", [pytest.param("nats", marks=needs_nats), pytest.param("zenoh", marks=needs_zenoh)]
)
def test_links_of_other_kinds_come_back(kind: str, tmp_path: Path) -> None:
    mesh = export_mesh(kind, tmp_path / "mesh", WANTED, EDGES, ROLES)
    summary = run(kind, tmp_path / "mesh", cut=(mesh.links[0].name,))
    (broken,) = summary.broken
    assert broken.links == 1 and broken.exact_again and broken.retained is None and summary.exact, broken


@needs_mosquitto
def test_a_stalled_link_is_noticed_and_made_anew(tmp_path: Path) -> None:
    export_mesh("mosquitto", tmp_path / "mesh", {"x": "ab"}, ["ab"], queue=500)
    summary = run("mosquitto", tmp_path / "mesh", stall=("b~a",))
    (broken,) = summary.broken
    assert broken.how == "stall" and broken.lost == 0 and summary.exact, broken


@needs_mosquitto
def test_a_link_that_stalled_with_many_messages_under_way_sends_again(tmp_path: Path) -> None:
    """After 20 that were never acknowledged a bridge was up and sent nothing any more."""
    export_mesh("mosquitto", tmp_path / "mesh", {"x": "ab"}, ["ab"], {"x": "aB"})
    summary = run("mosquitto", tmp_path / "mesh", stall=("b~a",))
    (broken,) = summary.broken
    assert broken.lost > 20 and broken.exact_again and summary.exact, broken


def test_what_counts_as_held() -> None:
    facts = {"how": "cut", "links": 1, "seconds": 4.0, "published": 9, "delivered": 9, "seconds_back": 1.0}
    good = {"durable": True, "lost": 0, "doubled": 43, "doubled_most": 20}
    good |= {"retained": 2, "retained_wrong": 0, "exact_again": True}
    assert BrokenLinks(**facts, **good).held
    for change in ({"lost": 1}, {"doubled_most": 21}, {"retained_wrong": 1}, {"exact_again": False}):
        assert not BrokenLinks(**facts, **good | change).held
    assert BrokenLinks(**facts, **good | {"durable": False, "lost": 5, "doubled_most": 0}).held
    assert not BrokenLinks(**facts, **good | {"durable": False, "doubled_most": 1}).held


@needs_mosquitto
def test_links_are_named_as_in_the_manifest(tmp_path: Path) -> None:
    export_mesh("mosquitto", tmp_path / "mesh", {"x": "ab"}, ["ab"])
    with pytest.raises(UsageError, match="`cut=q`: the mesh has no such link"):
        run("mosquitto", tmp_path / "mesh", cut=("q",))
    with pytest.raises(UsageError, match="`stall` goes without `kill`"):
        run("mosquitto", tmp_path / "mesh", stall=("b~a",), kill=("a",))


@needs_mosquitto
def test_the_rate_at_which_messages_are_dropped(tmp_path: Path) -> None:
    """With room for one message in each queue some are dropped soon; latencies stand beside hops."""
    export_mesh("mosquitto", tmp_path / "mesh", {"x": "abc"}, ["ab", "bc"])
    for path in (tmp_path / "mesh").glob("*.conf"):
        path.write_text(path.read_text() + "max_queued_messages 1\nmax_inflight_messages 1\n")
    summary = run_folder(
        "mosquitto", tmp_path / "mesh", RunSettings(messages=4, settle=0.2, quiet=1.0, rate=True)
    )
    assert summary.rate is not None and summary.rate.lossy_rate is not None
    assert summary.rate.limit == "queues" and any(step.lost for step in summary.rate.steps)
    assert summary.rate.rate < summary.rate.lossy_rate
    (topic,) = summary.latency.topics
    assert (topic.topic, topic.hops_max, topic.samples) == ("x", 2, 8)
    assert 0 < topic.p50_ms <= topic.p99_ms


def test_messages_that_come_twice_are_counted_by_link_and_direction() -> None:
    """Ten links could each double what one may."""
    links = (MeshLink("b~a", "b", "a", ("x",)), MeshLink("c~b", "c", "b", ("x",)))
    mesh = Mesh("mosquitto", (), links, (MeshTopic("x", "x", ("a", "b", "c")),), ())
    sent = [Publication("a", "x", 1), Publication("c", "x", 2), Publication("a", "x", 3)]
    counts = {
        Arrival("b", "x", 1): 2,
        Arrival("c", "x", 1): 2,
        Arrival("a", "x", 2): 2,
        Arrival("c", "x", 3): 2,
    }
    assert doubled_by_link(mesh, sent, counts) == {("a", "b"): 1, ("b", "a"): 1, ("b", "c"): 1}


@needs_mosquitto
@pytest.mark.parametrize(("topics", "queue"), [("x", 400), ("xyzuvw", 20)])
def test_the_bound_of_a_queue_is_what_it_says(topics: str, queue: int, tmp_path: Path) -> None:
    """One topic sends fewer messages than may wait while the link is down; six send more."""
    loses = queue == 20
    export_mesh("mosquitto", tmp_path / "mesh", dict.fromkeys(topics, "ab"), ["ab"], queue=queue)
    summary = run("mosquitto", tmp_path / "mesh", cut=("b~a",))
    (broken,) = summary.broken
    assert broken.exact_again and broken.doubled_most <= 20, broken
    assert summary.exact is not loses
    assert (0 < broken.lost <= broken.published - queue) if loses else broken.lost == 0, broken


def test_what_must_be_retained_is_what_was_published() -> None:
    """Messages that others published meanwhile took its number, and right values were called wrong."""
    flow, sent = _Flow(), list[Publication]()

    class Clients:
        async def retain(self, publication: Publication) -> None:
            sent.append(publication)
            flow.next()

    topic = MeshTopic("x", "x", ("a", "b"), publishers=("a",), receivers=("b",))
    running = SimpleNamespace(
        adapter=SimpleNamespace(retains=True), mesh=Mesh("mosquitto", (), (), (topic, topic), ())
    )
    kept = asyncio.run(retain_values(running, Clients(), flow.next))  # type: ignore[arg-type]
    assert kept == {("b", "x"): sent[-1].message} and len({one.message for one in sent}) == 2

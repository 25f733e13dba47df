"""Roll-outs on real brokers with traffic: nothing twice, nothing lost but what the plan says."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections import Counter
from collections.abc import AsyncIterator, Collection
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from brokers_present import needs_mosquitto, needs_nats, needs_zenoh
from hand_mesh import HandLink, write_hand_mesh
from mesh.exported import export_mesh
from mesh.rollout.test_rollout import changed, exported, sites
from topicloom.base.progress import SILENT
from topicloom.errors import InputError, MeshError, UsageError
from topicloom.mesh.jobs.rollout import NewInterest, plan_rollout
from topicloom.mesh.jobs.run import run_rollout
from topicloom.mesh.kinds.nats import adapter as nats_adapter
from topicloom.mesh.kinds.registry import find_running, load_adapter
from topicloom.mesh.model.manifest import read_mesh
from topicloom.mesh.model.mesh import Mesh, MeshLink
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.run import running_mesh
from topicloom.mesh.run.rollout_play import RolloutPlan, _Play, _Turn, play_rollout
from topicloom.mesh.run.running_mesh import RunningMesh, RunSettings
from topicloom.overlay.model.interest import Interest
from topicloom.overlay.model.overlay import Overlay

LOGINS = {node: Login(f"user-{node}", f"password-{node}") for node in "abcdf"}
QUICK = RunSettings(settle=0.2, quiet=1.5)
EDGES = [(0, 1), (1, 2), (2, 3), (0, 3), (1, 3)]


@pytest.mark.parametrize(
    ("kind", "logins", "turn_back"),
    [
        pytest.param("mosquitto", {}, True, marks=needs_mosquitto),
        pytest.param("mosquitto", LOGINS, False, marks=needs_mosquitto),
        pytest.param("mosquitto", LOGINS, True, marks=needs_mosquitto),
        pytest.param("nats", LOGINS, False, marks=needs_nats),
        pytest.param("nats", LOGINS, True, marks=needs_nats),
        pytest.param("zenoh", LOGINS, False, marks=needs_zenoh),
        pytest.param("zenoh", LOGINS, True, marks=needs_zenoh),
    ],
)
def test_a_rollout_is_as_planned(
    kind: str, logins: dict[str, Login], turn_back: bool, tmp_path: Path
) -> None:
    """b leaves the middle of x, d comes to it; a new node e comes to y, f goes; z stays.

    One stopped half-way returns to the old mesh by the same files.
    """
    old = tmp_path / "old"
    wanted = {"x": "abc", "y": "abcdf", "z": "ac"}
    export_mesh(kind, old, wanted, ["ab", "bc", "cd", "ad", "ac", "df"], logins=logins)
    interest = Interest.from_pairs(
        [(n, t) for t, nodes in {"x": "acd", "y": "abcde", "z": "ac"}.items() for n in nodes]
    )
    overlay = Overlay.from_edges(interest.node_ids, *zip(*[*EDGES, (0, 2), (3, 4)], strict=True))
    summary = plan_rollout(old, NewInterest(interest, overlay), out=tmp_path / "change")
    played = run_rollout(kind, old, tmp_path / "change", QUICK, turn_back=turn_back)
    light = sum(map(len, summary.brokers_reloaded.values()))
    assert (played.reloaded > 0) is (kind == "mosquitto" and bool(logins)), "by a hangup, as the plan says"
    if not turn_back:
        assert played.reloaded == light
    assert played.exact, played
    assert played.nodes == 5 and played.states >= 2 and played.published > 5
    assert played.turned_back is turn_back


@needs_mosquitto
def test_a_plan_that_loops_is_not_called_exact(tmp_path: Path) -> None:
    """The link a - c comes before b - c is gone: what the documents used to say."""
    wants = dict.fromkeys("abc", ("x",))
    write_hand_mesh(tmp_path / "old", wants, [HandLink("b", "a", ("x",)), HandLink("c", "b", ("x",))])
    write_hand_mesh(tmp_path / "new", wants, [HandLink("b", "a", ("x",)), HandLink("a", "c", ("x",))])
    plan = RolloutPlan((tmp_path / "old", tmp_path / "new"), (("a", "c"),), frozenset("x"))
    duplicates = 1
    with suppress(MeshError):  # a storm, if it is quick enough
        played = play_rollout(load_adapter("mosquitto"), plan, find_running("mosquitto").relocate, QUICK)
        assert not played.exact
        duplicates = played.duplicates
    assert duplicates > 0


@needs_mosquitto
def test_what_cannot_be_played_is_refused(tmp_path: Path) -> None:
    export_mesh("mosquitto", tmp_path / "old", {"x": "ab"}, ["ab"])
    with pytest.raises(InputError, match=r"no roll-out: cannot read rollout.json"):
        run_rollout("mosquitto", tmp_path / "old", tmp_path, QUICK)
    with pytest.raises(UsageError, match="`rollout` and `kill`"):
        run_rollout("mosquitto", tmp_path / "old", tmp_path, RunSettings(kill=("a",)))


@needs_mosquitto
def test_a_rotation_of_all_secrets_is_as_planned(tmp_path: Path) -> None:
    """A dialer with its new password is turned away until its acceptor has it too."""
    for name in ("old", "new"):
        wanted = {"x": "abcd", "y": "abd", "z": "ac"}
        edges = ["ab", "bc", "cd", "ad", "ac"]
        export_mesh("mosquitto", tmp_path / name, wanted, edges, logins=LOGINS, backups=2)
    plan_rollout(tmp_path / "old", tmp_path / "new", out=tmp_path / "change")
    played = run_rollout("mosquitto", tmp_path / "old", tmp_path / "change", QUICK)
    assert played.exact and played.states > 4, played


@needs_mosquitto
@pytest.mark.parametrize("queue", [500, None])
def test_a_durable_broker_that_is_restarted_under_load_loses_nothing(
    queue: int | None, tmp_path: Path
) -> None:
    """c stands between b and d and dials a anew; what b and d say meanwhile waits."""
    old = tmp_path / "old"
    export_mesh("mosquitto", old, {"x": "bcd", "z": "ab"}, ["bc", "cd", "ab"], queue=queue, backups=0)
    interest = Interest.from_pairs(
        [(n, t) for t, nodes in {"x": "bcd", "y": "ac", "z": "ab"}.items() for n in nodes]
    )
    overlay = Overlay.from_edges(interest.node_ids, *zip((0, 1), (1, 2), (2, 3), (0, 2), strict=True))
    summary = plan_rollout(old, NewInterest(interest, overlay), out=tmp_path / "change")
    assert summary.brokers_touched == {"phase1": [], "phase2": ["c"]}
    played = run_rollout("mosquitto", old, tmp_path / "change", QUICK)
    assert played.exact and (played.lost == 0) is (queue is not None), played


def test_clients_are_served_while_the_files_of_a_state_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """With fifty servers that took so long that they gave their clients up."""
    answered: list[str] = []

    async def flow(*_: object) -> None:
        await asyncio.sleep(0.01)
        answered.append("ping")

    async def nothing(*_: object) -> None:
        return None

    def tried() -> SimpleNamespace:
        deadline = time.monotonic() + 10
        while not answered and time.monotonic() < deadline:
            time.sleep(0.01)
        assert answered, "the loop stood still"
        return SimpleNamespace(start=nothing, wait_in_place=nothing)

    play = object.__new__(_Play)
    play.brokers = SimpleNamespace(nodes=tuple, check_alive=None)  # type: ignore[assignment]
    play.step, play.meshes, play.settings = {}, [Mesh("nats", (), (), (), ())], RunSettings()
    monkeypatch.setattr(play, "_flow", flow)
    monkeypatch.setattr(play, "_running", tried)
    monkeypatch.setattr(play, "_count", lambda *_: None)
    inbox, mesh = SimpleNamespace(wait=nothing, settle=nothing), SimpleNamespace(mesh=play.meshes[0])
    asyncio.run(play._take(_Turn("a", 0, light=False), mesh, None, inbox))  # type: ignore[arg-type]
    assert answered


def test_connections_that_are_no_links_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dialers that are turned away come and go: each state of a rotation took all the time to get ready."""
    turn, waited = count(), list[bool]()
    looks = RunningMesh._looks

    async def noted(self: RunningMesh, *pause: float) -> AsyncIterator[bool]:
        async for late in looks(self, *pause):
            waited.append(late)
            yield late

    def open_now(*_: object) -> Counter[tuple[str, str]]:
        return Counter({("b", "a"): 1, ("c", "a"): next(turn) % 2})

    async def links_up(_mesh: Mesh) -> set[str]:
        return {"b~a"}

    monkeypatch.setattr(RunningMesh, "_looks", noted)
    monkeypatch.setattr(running_mesh, "open_connections", open_now)
    running = object.__new__(RunningMesh)
    running.mesh = Mesh("mosquitto", (), (MeshLink("b~a", "b", "a", ("x",), None, ("d",)),), (), ())
    running.adapter = SimpleNamespace(links_up=links_up, returns_after=1.0)  # type: ignore[assignment]
    running.brokers = SimpleNamespace(check_alive=lambda: None, pids=dict)  # type: ignore[assignment]
    running.settings, running.progress = RunSettings(timeout=5.0), SILENT
    assert asyncio.run(running.wait_in_place()) == 0
    assert waited and not any(waited), "the time to get ready was up"


@needs_nats
def test_a_server_goes_that_is_a_backup_of_others(tmp_path: Path) -> None:
    """Links stayed at it, apart from the new root, and topics that the plan did not name were missing."""
    pairs, gone = sites(1, 6, 3), "n03"
    logins = {node: Login(node, f"password-{node}") for node, _ in pairs}
    old = exported("nats", tmp_path / "old", pairs, logins=logins)
    assert any(gone in link.backups for link in read_mesh(old).links)
    after = changed(old, {(node, topic) for node, topic in pairs if node != gone})
    summary = plan_rollout(old, after, out=tmp_path / "change")
    # Phase 1 takes nothing away, so by its files alone no topic is ever split.
    assert summary.brokers_touched["phase1"] == [] and summary.topics_split
    assert run_rollout("nats", old, tmp_path / "change", QUICK).exact
    # In another order, acceptors first, more topics are split. A plan that names them all says what holds.
    order = [*read_mesh(tmp_path / "change/phase2").start_order, gone]
    path = tmp_path / "change/rollout.json"
    plan = json.loads(path.read_text())
    plan["brokers_touched"]["phase2"].sort(key=order.index)
    path.write_text(json.dumps({**plan, "topics_split": plan["topics_interrupted"]}))
    assert run_rollout("nats", old, tmp_path / "change", QUICK).missing == 0


@needs_nats
def test_files_that_a_state_shares_with_the_one_before_are_tried_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine servers gave up clients while fifty files were tried for each of 34 states."""
    mesh = export_mesh("nats", tmp_path / "mesh", {"x": "abc"}, ["ab", "bc"], logins=LOGINS)
    states = [tmp_path / name for name in ("one", "two", "three")]
    for state in states:
        shutil.copytree(tmp_path / "mesh", state)
    damaged = states[2] / "b.conf"
    damaged.write_text(damaged.read_text() + "max_payload: no\n")
    target, tried = load_adapter("nats"), list[tuple[str, str]]()
    whole = nats_adapter._check_config

    def check(program: str, folder: Path, file: str, secrets: Collection[str]) -> None:
        tried.append((folder.name, file))
        whole(program, folder, file, secrets)

    monkeypatch.setattr(nats_adapter, "_check_config", check)
    for state in states[:2]:
        target.commands(mesh, state)
    assert sorted(tried) == [("one", f"{node}.conf") for node in "abc"]
    texts = [(state / "a.conf").read_text() for state in states]
    assert texts[0] == texts[1] != texts[2], "our own login is let in, as before"
    with pytest.raises(InputError, match="refuses b.conf"):
        target.commands(mesh, states[2])

"""Zenoh: real routers deliver exactly, each planted fault is caught, and one network of all has strays."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from brokers_present import free_ports, needs_openssl, needs_zenoh, wait_for
from mesh.certificates import make_certificates
from mesh.exported import RING, RING_EDGES, export_mesh, run, stranger_in, twice
from topicloom.errors import MeshError, UsageError
from topicloom.mesh.jobs.run import run_folder
from topicloom.mesh.kinds.zenoh.adapter import ZenohAdapter
from topicloom.mesh.kinds.zenoh.message_trace import count_carried, judge_trace, read_carried
from topicloom.mesh.kinds.zenoh.probes import MARK
from topicloom.mesh.kinds.zenoh.sessions import ZenohSession
from topicloom.mesh.model.manifest import write_mesh
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode, MeshTopic
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.hosts import Place
from topicloom.mesh.run.adapter import Publication, read_until_still
from topicloom.mesh.run.running_mesh import RunSettings

pytestmark = needs_zenoh

# --- reading a trace -----------------------------------------------------------------------------------

PUBSUB = "2026-11-15T20:55:30.272131Z TRACE rx-1 ThreadId(09) zenoh::net::routing::dispatcher::pubsub:"
TRACE = f"""\
{PUBSUB} south:0:client/e33e703:3 Route data for res t/5
{PUBSUB} route=[Direction {{ dst_face: FaceState {{ id: 2, zid: a000002, region: North }} }}]
{PUBSUB.replace("zenoh:", "demux{zid=a0}: zenoh:", 1)} north/a000000:2 Route data for res t/5
{PUBSUB} north/a000000:2 Route data for res ü/Route
{PUBSUB} local/a000000:0 Route data for res @/a000000/router/config/x
2026-11-15T20:55:30.272131Z WARN another::module: Route data for res t/5
"""
MESH = Mesh("zenoh", (), (), (MeshTopic("x", "k/x", ("a", "b"), "A0"),), (), ("A0",))
MESSAGES = [Publication("a", "x", 0), Publication("b", "x", 1)]
GOT = {("a", "x"): 2, ("b", "x"): 2}


def test_a_trace_has_one_line_for_every_message_carried(tmp_path: Path) -> None:
    assert count_carried(TRACE.splitlines()) == {"t/5": 2, "ü/Route": 1}
    assert read_carried(tmp_path / "nothing") == Counter()


def test_what_is_carried_beyond_need_is_a_stray() -> None:
    exact = {"a": {"k/x": 2}, "b": {"k/x": 2}, "c": {}}
    assert judge_trace(MESH, MESSAGES, GOT, exact) == []
    (stray,) = judge_trace(MESH, MESSAGES, GOT, {**exact, "c": {"k/x": 2}})
    assert (stray.node, stray.count, stray.detail) == ("c", 2, "carried 2 messages on x")
    (stray,) = judge_trace(MESH, MESSAGES, GOT, {**exact, "b": {"k/x": 3}})
    assert (stray.node, stray.count) == ("b", 1)
    (stray,) = judge_trace(MESH, MESSAGES, GOT, {**exact, "b": {"k/x": 2, "strange": 1}})
    assert (stray.node, stray.detail) == ("b", "carried 1 messages on strange")


def test_what_clients_got_twice_is_a_duplicate_and_no_stray() -> None:
    assert judge_trace(MESH, MESSAGES, {**GOT, ("b", "x"): 3}, {"a": {"k/x": 2}, "b": {"k/x": 3}}) == []


def test_a_trace_that_shows_less_than_arrived_is_not_believed() -> None:
    """Should another version of zenoh word its trace otherwise, nothing would ever be a stray."""
    with pytest.raises(MeshError, match="shows 0 messages on x, but its client got 2"):
        judge_trace(MESH, MESSAGES, GOT, {"a": {"k/x": 2}, "b": {}})


def test_without_the_library_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zenoh", None)
    with pytest.raises(UsageError, match=r"pip install 'topicloom\[zenoh\]'"):
        ZenohAdapter().check_present()


# --- with real routers ---------------------------------------------------------------------------------


def test_every_message_arrives_exactly_once(tmp_path: Path) -> None:
    mesh = export_mesh("zenoh", tmp_path / "mesh", RING, RING_EDGES)
    assert len(mesh.accounts) == 2, "the ring must need two networks"
    outcome = run(ZenohAdapter(), tmp_path / "mesh")
    verdict = outcome.proof.verdict
    assert outcome.exact
    assert (verdict.published, verdict.delivered) == (12, 36)


@needs_openssl
def test_logins_and_certificates(tmp_path: Path) -> None:
    """Clients get in with what the export wrote; hosts are elsewhere, so names of certificates differ."""
    export_mesh(
        "zenoh",
        tmp_path / "mesh",
        {"x": "abc"},
        ["ab", "bc"],
        logins={node: Login(f"user {node}", f"p#= {node}") for node in "abc"},
        tls=make_certificates(tmp_path / "tls", "abc"),
        places={node: Place(f"{node}.example") for node in "abc"},
    )
    assert run(ZenohAdapter(), tmp_path / "mesh").exact


def test_there_is_no_failover_to_look_at(tmp_path: Path) -> None:
    """Zenoh dials every endpoint it is given: a second one would be a link, not a backup."""
    export_mesh("zenoh", tmp_path / "mesh", {"x": "abc"}, ["ab", "bc"])
    with pytest.raises(UsageError, match="`kill` goes with mosquitto and nats"):
        run_folder("zenoh", tmp_path / "mesh", RunSettings(kill=("a",)))


def test_a_removed_link_is_noticed(tmp_path: Path) -> None:
    mesh = export_mesh("zenoh", tmp_path / "mesh", {"x": "abc"}, ["ab", "bc"])
    dialer = next(node for node in mesh.nodes if node.name == mesh.links[0].dialer)
    path = tmp_path / "mesh" / dialer.configs[0]
    lines = path.read_text().splitlines()
    config = json.loads("\n".join(line for line in lines if not line.startswith("//")))
    assert config["connect"]["endpoints"].pop(0)
    path.write_text(json.dumps(config))
    verdict = run(ZenohAdapter(), tmp_path / "mesh").proof.verdict
    assert not verdict.exact
    assert verdict.delivered < verdict.expected


class _Planted(ZenohAdapter):
    """With a client of a stranger, subscribed to `topic` at `node`, whose node does not want it."""

    def __init__(self, node: str, topic: MeshTopic) -> None:
        super().__init__()
        self.node, self.topic = node, topic

    async def connect(self, mesh: Mesh, arrived: Any) -> Any:
        traffic = await super().connect(mesh, arrived)
        account = self.topic.account or ""
        session = await asyncio.to_thread(ZenohSession, self._routers[self.node, account])
        traffic._sessions["a stranger", ""] = session  # closed with the others
        senders = {node: traffic._sessions[node, account] for node in self.topic.senders}
        for _ in range(10):
            heard: set[bytes] = set()
            self.kept = session.session.declare_subscriber(
                self.topic.name, lambda sample, heard=heard: heard.add(sample.payload.to_bytes())
            )
            if await self._is_heard(senders, heard):
                traffic._base = await read_until_still(lambda: traffic._call(traffic._traced))
                return traffic
            # Now and then a declaration made while the routers still link up reaches only some of them.
            self.kept.undeclare()
        raise AssertionError(f"the interest at {self.node} never reached all of {set(senders)}")

    async def _is_heard(self, senders: dict[str, ZenohSession], heard: set[bytes]) -> bool:
        until = time.monotonic() + 3.0
        while time.monotonic() < until:
            for node, session in senders.items():
                session.put(self.topic.name, MARK + node.encode())
            await asyncio.sleep(0.1)
            if len(heard) == len(senders):
                return True
        return False


def test_a_planted_stray_is_caught_and_named(tmp_path: Path) -> None:
    mesh = export_mesh("zenoh", tmp_path / "mesh", RING, RING_EDGES)
    topic, node = stranger_in(mesh)
    verdict = run(_Planted(node, topic), tmp_path / "mesh").proof.verdict
    assert not verdict.exact
    assert (verdict.delivered, verdict.duplicates) == (verdict.expected, 0)
    (stray,) = verdict.stray_witnesses
    assert (stray.node, stray.count) == (node, 4), "each of the four messages on the topic"
    assert stray.detail == f"carried 4 messages on {topic.topic}"


def test_a_planted_duplicate_is_caught_and_is_no_stray(tmp_path: Path) -> None:
    class Doubled(ZenohAdapter):
        async def connect(self, mesh: Mesh, arrived: Any) -> Any:
            return twice(await super().connect(mesh, arrived))

    export_mesh("zenoh", tmp_path / "mesh", {"x": "abc"}, ["ab", "bc"])
    verdict = run(Doubled(), tmp_path / "mesh").proof.verdict
    assert not verdict.exact
    assert (verdict.duplicates, verdict.strays) == (3, 0)


def test_one_network_for_the_whole_overlay_has_strays(tmp_path: Path) -> None:
    """Both topics join a and e: x by way of b and c, y by way of d. Zenoh takes one way for both.

    Each topic is connected in the overlay, so that nobody need carry what it does not want.
    """
    wanted = {"x": "abce", "y": "ade"}
    edges = ["ab", "bc", "ce", "ad", "de"]
    ports = dict(zip("abcde", range(7000, 7005), strict=True))
    configs = {}
    for name, port in ports.items():
        dialled = [ports[other] for other, dialer in (sorted(edge) for edge in edges) if dialer == name]
        configs[f"{name}.json5"] = json.dumps({
            "mode": "router",
            "listen": {"endpoints": [f"tcp/127.0.0.1:{port}"]},
            "connect": {
                "endpoints": [f"tcp/127.0.0.1:{one}" for one in dialled],
                "timeout_ms": -1,
                "exit_on_failure": False,
            },
            "scouting": {"multicast": {"enabled": False}, "gossip": {"enabled": False}},
            "adminspace": {"enabled": True},
        })  # fmt: skip
    mesh = Mesh(
        "zenoh",
        nodes=tuple(
            MeshNode(name, "127.0.0.1", {"A0": port}, (f"{name}.json5",)) for name, port in ports.items()
        ),
        links=tuple(
            MeshLink(f"{dialer}~{acceptor}", dialer, acceptor, ("x", "y"), "A0")
            for acceptor, dialer in (sorted(edge) for edge in edges)
        ),
        topics=tuple(MeshTopic(topic, topic, tuple(nodes), "A0") for topic, nodes in wanted.items()),
        start_order=tuple("abcde"),
        accounts=("A0",),
    )
    (tmp_path / "mesh").mkdir()
    write_mesh(tmp_path / "mesh", mesh, configs)
    verdict = run(ZenohAdapter(), tmp_path / "mesh").proof.verdict
    assert (verdict.delivered, verdict.duplicates) == (verdict.expected, 0)
    assert verdict.strays > 0
    assert {stray.node for stray in verdict.stray_witnesses} <= set("bcd")


# --- the process ---------------------------------------------------------------------------------------


def _router(tmp_path: Path) -> list[str]:
    (port,) = free_ports(1)
    (tmp_path / "r.json5").write_text(
        json.dumps({"mode": "router", "listen": {"endpoints": [f"tcp/127.0.0.1:{port}"]}})
    )
    return [sys.executable, "-m", "topicloom.mesh.kinds.zenoh.router_process", "trace", "a1=r.json5"]


def _started(tmp_path: Path) -> bool:
    return (tmp_path / "trace").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_router_ends_when_told_to(tmp_path: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(_router(tmp_path), cwd=tmp_path)
    try:
        wait_for(lambda: _started(tmp_path), "the router to start")
        process.send_signal(number)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()


def test_a_router_ends_when_its_parent_is_gone(tmp_path: Path) -> None:
    """No one is left to stop it then: it would keep its port for ever."""
    script = (
        "import subprocess, sys, time\nprint(subprocess.Popen(sys.argv[1:]).pid, flush=True)\ntime.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, *_router(tmp_path)], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    try:
        wait_for(lambda: _started(tmp_path), "the router to start")
        time.sleep(0.2)
        assert _runs(child)
        parent.kill()
        parent.wait()
        wait_for(lambda: not _runs(child), "the router to end")
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
        if _runs(child):
            os.kill(child, signal.SIGKILL)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_router_that_cannot_listen_says_so(tmp_path: Path) -> None:
    import socket

    command = _router(tmp_path)
    port = int(json.loads((tmp_path / "r.json5").read_text())["listen"]["endpoints"][0].rpartition(":")[2])
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "router r.json5:" in done.stderr
    assert "address already in use" in done.stderr.lower(), "by these words the runner takes other ports"


def test_a_start_that_is_tried_again_traces_to_its_own_folder(tmp_path: Path) -> None:
    """The folder of the start before is gone: routers that trace to it would end at once."""
    mesh = export_mesh("zenoh", tmp_path / "first", {"x": "abc"}, ["ab", "bc"])
    adapter = ZenohAdapter()
    adapter.commands(mesh, tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "second")
    commands = adapter.commands(mesh, tmp_path / "second")
    traces = {Path(command[3]) for command in commands.values()}
    assert len(traces) == 3 and {trace.parent for trace in traces} == {tmp_path / "second"}

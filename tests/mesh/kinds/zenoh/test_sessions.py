"""Threads for calls that may hang, and sessions with a router that is busy with others, or gone."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from brokers_present import free_ports, needs_zenoh, wait_for
from topicloom.mesh.kinds.zenoh import sessions
from topicloom.mesh.kinds.zenoh.sessions import DaemonThreads, ZenohRouter, ZenohSession, read_links


def test_the_program_ends_while_a_thread_hangs():
    """A router that does not answer any more must not keep us; a result comes as from any executor."""
    script = (
        "import time; from topicloom.mesh.kinds.zenoh.sessions import DaemonThreads;"
        "pool = DaemonThreads(1);"
        "print(pool.submit(pow, 2, 5).result(), flush=True); pool.submit(time.sleep, 600); pool.shutdown()"
    )
    began = time.monotonic()
    assert os.waitstatus_to_exitcode(os.system(f'{sys.executable} -c "{script}"')) == 0
    assert time.monotonic() - began < 300
    with pytest.raises(ZeroDivisionError):
        DaemonThreads(1).submit(divmod, 1, 0).result()


@contextmanager
def running_router(folder: Path) -> Iterator[ZenohRouter]:
    """One router in a process of its own, with an admin space that may be asked; its trace is `trace`."""
    (port,) = free_ports(1)
    ends = {"endpoints": [f"tcp/127.0.0.1:{port}"]}
    quiet = {"multicast": {"enabled": False}, "gossip": {"enabled": False}}
    admin = {"enabled": True, "permissions": {"read": True, "write": False}}
    config = {"mode": "router", "listen": ends, "scouting": quiet, "adminspace": admin}
    (folder / "r.json5").write_text(json.dumps(config))
    client = json.dumps({"mode": "client", "connect": ends, "scouting": quiet})
    command = [sys.executable, "-m", "topicloom.mesh.kinds.zenoh.router_process", "trace", "a1=r.json5"]
    process = subprocess.Popen(command, cwd=folder)
    try:
        wait_for(lambda: (folder / "trace.port").exists(), "the router to start")
        yield ZenohRouter("a", "A0", "a1", port, "r.json5", client)
    finally:
        process.kill()
        process.wait()


@needs_zenoh
def test_a_router_takes_messages_while_subscribers_come_and_go(tmp_path: Path) -> None:
    """Asked which subscribers it knows while one declared itself, a router waited for itself, for ever."""
    ending = threading.Event()
    with running_router(tmp_path) as router:
        sender, other = ZenohSession(router), ZenohSession(router)
        kept = sender.session.declare_subscriber("t/x", lambda sample: None)

        def come_and_go() -> None:
            while not ending.is_set():
                for one in [other.session.declare_subscriber(f"t/{at}", lambda sample: None) for at in "yz"]:
                    one.undeclare()

        thread = threading.Thread(target=come_and_go, daemon=True)
        thread.start()
        try:
            for number in range(2000):
                sender.publish("t/x", str(number).encode())
            assert asyncio.run(read_links([tmp_path / "trace"])) == {"a1": frozenset()}
        finally:
            ending.set()
        thread.join(60)
        assert not thread.is_alive()
        kept.undeclare()
        sender.close()
        other.close()


@needs_zenoh
def test_a_router_that_is_gone_has_taken_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that no router gets has no answer either, as one that is taken has none."""
    with running_router(tmp_path) as router:
        session = ZenohSession(router)
        session.publish("t/x", b"1")
    wait_for(lambda: not session.session.info.routers_zid(), "the session to notice")
    monkeypatch.setattr(sessions, "ANSWER", 0.5)
    with pytest.raises(ConnectionError, match=r"r\.json5 does not answer any more"):
        session.publish("t/x", b"2")
    session.close()

"""Processes of brokers: started, watched, and none of them left, whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from topicloom.errors import MeshError
from topicloom.mesh.run.free_ports import FreePorts
from topicloom.mesh.run.processes import BrokerProcesses

SLEEP = "print('ready', flush=True); time.sleep(600)"
DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
SPAWN = "print(subprocess.Popen(['sleep', '600']).pid, flush=True); time.sleep(600)"
SLEEPER = (sys.executable, "-c", f"import time; {SLEEP}")
STUBBORN = (sys.executable, "-c", f"import signal, time; {DEAF}; {SLEEP}")
PARENT = (sys.executable, "-c", f"import subprocess, time; {SPAWN}")


@pytest.fixture
def folders(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "logs").mkdir()
    return tmp_path / "work", tmp_path / "logs"


def is_running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def wait_for(condition) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_context_ends_every_process(folders):
    with BrokerProcesses(*folders) as brokers:
        brokers.start("a", SLEEPER)
        brokers.start("b", SLEEPER)
        pids = brokers.pids().values()
        assert all(map(is_running, pids))
        # Ctrl-C in a terminal goes to our group; the brokers must be in others.
        assert all(os.getpgid(pid) == pid and os.getsid(pid) == pid for pid in pids)
    assert not any(map(is_running, pids))


def test_a_fault_in_the_middle_of_starting_leaves_none(folders):
    pids = []
    with pytest.raises(MeshError, match="broker of b"), BrokerProcesses(*folders) as brokers:
        brokers.start("a", SLEEPER)
        pids.append(brokers.pids()["a"])
        brokers.start("b", ("/no/such/broker",))
    assert not any(map(is_running, pids))


def test_one_that_does_not_listen_is_killed(folders, monkeypatch):
    monkeypatch.setattr("topicloom.mesh.run.processes.PATIENCE", 0.3)
    with BrokerProcesses(*folders) as brokers:
        brokers.start("a", STUBBORN)
        pid = brokers.pids()["a"]
        wait_for(lambda: "ready" in (folders[1] / "0.log").read_text())
    assert not is_running(pid)


def test_children_of_a_broker_go_with_it(folders):
    with BrokerProcesses(*folders) as brokers:
        brokers.start("a", PARENT)
        wait_for(lambda: (folders[1] / "0.log").read_text().strip())
        grandchild = int((folders[1] / "0.log").read_text())
        assert is_running(grandchild)
    wait_for(lambda: not is_running(grandchild))


def test_last_words_of_a_broker_that_ended_are_told(folders):
    with BrokerProcesses(*folders) as brokers:
        brokers.start("a", (sys.executable, "-c", "print('no such option'); raise SystemExit(3)"))
        wait_for(lambda: not brokers.pids())
        with pytest.raises(MeshError, match=r"broker of a ended with code 3: no such option"):
            brokers.check_alive()
        assert not brokers.lost_a_port


def test_a_full_disk_is_told(folders, monkeypatch):
    """Brokers that cannot write hang rather than fail."""
    monkeypatch.setattr("topicloom.mesh.run.processes.LEAST_FREE", 1 << 62)
    with BrokerProcesses(*folders) as brokers, pytest.raises(MeshError, match="disk is full at .*TMPDIR"):
        brokers.check_alive()


def test_a_taken_port_is_recognised(folders):
    with BrokerProcesses(*folders) as brokers:
        brokers.start(
            "a", (sys.executable, "-c", "print('Error: Address already in use'); raise SystemExit(1)")
        )
        wait_for(lambda: not brokers.pids())
        with pytest.raises(MeshError):
            brokers.check_alive()
        assert brokers.lost_a_port


def test_killing_one_leaves_the_others(folders):
    with BrokerProcesses(*folders) as brokers:
        brokers.start("a", SLEEPER)
        brokers.start("b", SLEEPER)
        brokers.kill("a")
        brokers.check_alive()  # it was we who killed it: no fault
        assert list(brokers.pids()) == ["b"]
        brokers.start("a", SLEEPER)
        assert sorted(brokers.pids()) == ["a", "b"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills children with their parent")
def test_they_die_with_a_parent_that_is_killed(folders, tmp_path):
    script = (
        "import sys, time; from pathlib import Path;"
        "from topicloom.mesh.run.processes import BrokerProcesses;"
        f"b = BrokerProcesses(Path({str(folders[0])!r}), Path({str(folders[1])!r}));"
        "b.start('a', ('sleep', '600')); print(b.pids()['a'], flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_running(pid)
        parent.send_signal(signal.SIGKILL)
    wait_for(lambda: not is_running(pid))


def test_ports_are_free_and_never_the_same():
    ports = FreePorts()
    taken = [ports.take() for _ in range(300)]
    assert len(set(taken)) == 300

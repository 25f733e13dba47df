"""The runner around the brokers: taken ports, brokers that die, signals that it puts back."""

from __future__ import annotations

import os
import signal
import socket
import threading
from contextlib import suppress

import psutil
import pytest

from brokers_present import needs_mosquitto
from hand_mesh import INTEREST, LINKS, hand_mesh, write_hand_mesh
from topicloom.errors import MeshError, UsageError
from topicloom.mesh.kinds.registry import find_running, load_adapter, runnable
from topicloom.mesh.run import lifecycle as runner
from topicloom.mesh.run.free_ports import FreePorts
from topicloom.mesh.run.lifecycle import run_mesh
from topicloom.mesh.run.relocate import PortMap
from topicloom.mesh.run.resource_usage import links_elsewhere, open_connections, open_connections_per_node
from topicloom.mesh.run.running_mesh import RunSettings
from topicloom.mesh.run.signals import SIGNALS

place = find_running("mosquitto").relocate
free_port = FreePorts().take
QUICK = RunSettings(messages=1, settle=0.2)


@pytest.fixture
def folder(tmp_path):
    write_hand_mesh(tmp_path / "mesh", INTEREST, LINKS)
    return tmp_path / "mesh"


def brokers_left() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "mosquitto" in child.name()]


@needs_mosquitto
def test_a_port_that_another_program_takes_in_between_is_no_fault(folder):
    """The first draw of ports holds one that is taken: the mesh starts again with others."""
    draws = []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()

        def unlucky(copy, mesh, _ports):
            draws.append(copy)
            ports = iter([taken.getsockname()[1]] if len(draws) == 1 else [])
            return place(copy, mesh, PortMap(mesh, lambda: next(ports, None) or free_port()))

        outcome = run_mesh(load_adapter("mosquitto"), folder, unlucky, QUICK)
    assert outcome.exact
    assert len(draws) == 2
    assert brokers_left() == []


@needs_mosquitto
def test_ports_that_are_always_taken_end_in_an_error(folder, monkeypatch):
    monkeypatch.setattr(runner, "ATTEMPTS", 2)
    with socket.socket() as taken, pytest.raises(MeshError, match="(?i)address already in use"):
        taken.bind(("127.0.0.1", 0))
        taken.listen()

        def unlucky(copy, mesh, _ports):
            ports = iter([taken.getsockname()[1]])
            return place(copy, mesh, PortMap(mesh, lambda: next(ports, None) or free_port()))

        run_mesh(load_adapter("mosquitto"), folder, unlucky, QUICK)
    assert brokers_left() == []


@needs_mosquitto
def test_a_broker_that_dies_while_it_should_serve_is_told(folder):
    """Somebody kills one during the settling time."""

    def kill_one() -> None:
        while len(found := brokers_left()) < 4 or not all(child.net_connections() for child in found):
            pass
        found[0].send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill_one)
    killer.start()
    with pytest.raises(MeshError, match=r"was killed by SIGKILL|not up|is gone|closed|cannot connect"):
        run_mesh(load_adapter("mosquitto"), folder, place, RunSettings(messages=1, settle=20, timeout=20))
    killer.join()
    assert brokers_left() == []


@needs_mosquitto
def test_signals_are_put_back_as_they_were(folder):
    before = {number: signal.getsignal(number) for number in SIGNALS}
    run_mesh(load_adapter("mosquitto"), folder, place, QUICK)
    assert {number: signal.getsignal(number) for number in SIGNALS} == before


@needs_mosquitto
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_run_as_an_interrupt(folder, number):
    def send() -> None:
        while not brokers_left():
            pass
        with suppress(ProcessLookupError):
            os.kill(os.getpid(), number)

    sender = threading.Thread(target=send)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        run_mesh(load_adapter("mosquitto"), folder, place, RunSettings(messages=1, settle=30))
    sender.join()
    assert brokers_left() == []


def test_connections_are_counted_from_sockets_by_who_dialed():
    """Two sockets of this process to the port of node a, seen as those of node b."""
    mesh = hand_mesh({"a": (), "b": ()}, [LINKS[0]])
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        mesh.nodes[0].ports["mqtt"] = server.getsockname()[1]
        assert links_elsewhere(mesh, open_connections(mesh, {"b": os.getpid()})) == 1
        with socket.create_connection(server.getsockname()), socket.create_connection(server.getsockname()):
            found = open_connections(mesh, {"b": os.getpid()})
    assert found == {("b", "a"): 2}
    assert open_connections_per_node(found) == {"a": 2, "b": 2}
    assert links_elsewhere(mesh, found) == 0


def test_an_unknown_kind_is_refused():
    with pytest.raises(UsageError, match=", ".join(runnable())):
        load_adapter("carrier-pigeon")

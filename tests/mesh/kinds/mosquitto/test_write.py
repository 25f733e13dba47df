"""Mosquitto configurations: their text, and what the real broker makes of them."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

import pytest

from brokers_present import mosquitto, needs_mosquitto, needs_openssl, running, wait_for
from mesh.certificates import make_certificates
from mesh.mesh_cases import ORDER, TREES, on_free_ports, small_request, write_files
from topicloom.mesh.kinds.mosquitto.write import SHAPE, render
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.hosts import Place
from topicloom.mesh.plan.mesh_plan import MeshPlan, plan_mesh
from topicloom.mesh.plan.request import Request

LOGINS = {node: Login(f"user {node}", f"pass wörd #{node}") for node in "abcd"}


def plan(request: Request) -> MeshPlan:
    return plan_mesh(request, SHAPE, TREES, ORDER)


def test_only_the_dialling_end_has_the_bridge() -> None:
    files, _ = render(plan(small_request()), small_request())
    bridges = {
        name: [x for x in text.splitlines() if x.startswith("connection")] for name, text in files.items()
    }
    assert bridges == {
        "a.conf": [],
        "b.conf": ["connection b~a"],
        "c.conf": ["connection c~b"],
        "d.conf": ["connection d~a", "connection d~c"],
    }


def test_backups_come_after_the_acceptor_and_are_left_again() -> None:
    files, _ = render(plan(small_request()), small_request())
    assert "addresses 127.0.0.1:1884 127.0.0.1:1883\nround_robin false\n" in files["c.conf"]
    assert "addresses" not in files["d.conf"]


def test_secrets_are_in_files_of_their_own_mode() -> None:
    request = small_request(logins=LOGINS)
    files, secret = render(plan(request), request)
    for name, text in files.items():
        if "wörd" in text or "$7$" in text:
            assert name in secret
    assert [line.split(":")[0] for line in files["a.passwd"].splitlines()] == [
        "user a",
        "user b",
        "user c",
        "user d",
    ]
    assert [line.split(":")[0] for line in files["d.passwd"].splitlines()] == ["user d"], "nobody dials d"


def test_hosts_elsewhere_are_listened_to_on_every_address() -> None:
    places = {node: Place(f"site-{node}.example") for node in "abc"} | {"d": Place("2001:db8::d", 1999)}
    request = small_request(places=places)
    files, _ = render(plan(request), request)
    assert files["b.conf"].splitlines()[1] == "listener 1883"
    assert files["d.conf"].splitlines()[1] == "listener 1999"
    assert "address site-a.example:1883" in files["b.conf"]


@needs_mosquitto
@needs_openssl
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_links_come_up_with_logins_and_certificates(tmp_path: Path, host: str) -> None:
    """The real broker takes our password files, our certificates and our addresses, IPv6 too."""
    from paho.mqtt.client import CallbackAPIVersion, Client

    request = small_request(
        places=dict.fromkeys("abcd", Place(host)),
        logins=LOGINS,
        tls=make_certificates(tmp_path / "tls", "abcd"),
    )
    planned = on_free_ports(plan(request))
    ports = {node.name: node.ports["mqtt"] for node in planned.mesh.nodes}
    files, _ = render(planned, request)
    if os.geteuid() == 0:  # as root it would become another user, who may not read the folder
        files = {
            name: f"{text}user root\n" if name.endswith("conf") else text for name, text in files.items()
        }
    write_files(tmp_path, files)
    up: set[str] = set()
    refused: list[int] = []

    def client_of(node: str, password: str) -> Client:
        client = Client(CallbackAPIVersion.VERSION2)
        client.username_pw_set(LOGINS[node].user, password)
        client.tls_set(ca_certs=str(tmp_path / "tls" / "ca.crt"), tls_version=ssl.PROTOCOL_TLS_CLIENT)
        client.on_connect = lambda c, data, flags, code, properties: (
            refused.append(code.value) if code.is_failure else c.subscribe("$SYS/broker/connection/#")
        )
        client.on_message = lambda c, data, message: (
            up.add(message.topic.split("/")[3]) if message.payload == b"1" else None
        )
        return client

    with running(*([mosquitto(), "-c", f"{node}.conf"] for node in "abcd"), cwd=tmp_path) as brokers:
        clients = [client_of(node, LOGINS[node].password) for node in "abcd"]
        try:
            for node, client in zip("abcd", clients, strict=True):
                wait_for(
                    lambda client=client, port=ports[node]: _connects(client, host, port), f"broker {node}"
                )
                client.loop_start()
            wait_for(lambda: up == {link.name for link in planned.mesh.links}, f"all links, {up} are up")
            assert all(broker.poll() is None for broker in brokers)
            assert not refused
            stranger = client_of("a", "another password")
            clients.append(stranger)
            stranger.connect(host, ports["a"])
            stranger.loop_start()
            wait_for(lambda: bool(refused), "the wrong password to be refused")
        finally:
            for client in clients:
                client.disconnect()
                client.loop_stop()


def _connects(client, host: str, port: int) -> bool:
    try:
        client.connect(host, port)
    except OSError:
        return False
    return True

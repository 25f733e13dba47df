"""Mosquitto configurations: their text, and what the real broker makes of them."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import ssl
import subprocess
import time
from pathlib import Path

import pytest

from brokers_present import free_ports, mosquitto, needs_mosquitto, needs_openssl, running, wait_for
from mesh.certificates import make_certificates
from mesh.mesh_cases import ORDER, TREES, on_free_ports, small_request, write_files
from mesh.nasty_topics import NASTY
from topicloom.mesh.kinds.mosquitto.write import NAMES, mosquitto_hash, mosquitto_passwords, render, shape_of
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.hosts import Place
from topicloom.mesh.plan.mesh_plan import MeshPlan, plan_mesh
from topicloom.mesh.plan.request import Request

LOGINS = {node: Login(f"user {node}", f"pass wörd #{node}") for node in "abcd"}


def plan(request: Request) -> MeshPlan:
    return plan_mesh(request, shape_of(request), TREES, ORDER)


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
    users = {name: [line.split(":")[0] for line in text.splitlines()] for name, text in files.items()}
    assert users["a.passwd"] == ["user a"], "clients of its own site"
    assert users["a~links.passwd"] == ["b~a", "c~b", "d~a"], "c may turn to it"
    assert users["d~links.passwd"] == [], "nobody dials d"
    assert "topic readwrite t/x" in files["a~links.acl"] and "#" not in files["a~links.acl"]


def test_hosts_elsewhere_are_listened_to_on_every_address() -> None:
    places = {node: Place(f"site-{node}.example") for node in "abc"} | {"d": Place("2001:db8::d", 1999)}
    request = small_request(places=places)
    files, _ = render(plan(request), request)
    assert "listener 1883" in files["b.conf"].splitlines()
    assert "listener 1999" in files["d.conf"].splitlines()
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


@needs_mosquitto
def test_mosquitto_carries_every_name_over_a_bridge(tmp_path: Path) -> None:
    """Each name goes through mosquitto.conf, a bridge and a client, and comes out the same."""
    from paho.mqtt.client import CallbackAPIVersion, Client

    names = [NAMES.encode(topic) for topic in [*NASTY, "x" * 65_535]]
    near, far = free_ports(2)
    (tmp_path / "far.conf").write_text(f"listener {far} 127.0.0.1\nallow_anonymous true\n")
    bridge = f"connection b\naddress 127.0.0.1:{far}\nremote_clientid b\nrestart_timeout 1 2\n"
    topics = "".join(f"topic {name} both 1\n" for name in names)
    (tmp_path / "near.conf").write_text(
        f"listener {near} 127.0.0.1\nallow_anonymous true\n{bridge}{topics}", encoding="utf-8"
    )
    got: dict[str, bytes] = {}
    granted: list[int] = []
    receiver, sender = (Client(CallbackAPIVersion.VERSION2) for _ in range(2))
    receiver.on_message = lambda client, data, message: got.update({message.topic: message.payload})
    receiver.on_subscribe = lambda client, data, mid, codes, properties: granted.append(mid)
    commands = [[mosquitto(), "-c", str(tmp_path / name)] for name in ("far.conf", "near.conf")]
    with running(*commands, cwd=tmp_path):
        wait_for(
            lambda: _connects(receiver, "127.0.0.1", far) and _connects(sender, "127.0.0.1", near),
            "two brokers",
        )
        receiver.loop_start()
        sender.loop_start()
        wait_for(lambda: receiver.is_connected() and sender.is_connected(), "two clients")
        for name in names:
            receiver.subscribe(name, 1)
        wait_for(lambda: len(granted) == len(names), "the subscriptions")
        wait_for(lambda: "New bridge connected" in (tmp_path / "log-0").read_text(), "the bridge")
        wait_for(lambda: _sent(sender, names, got), "all messages")
        for client in (receiver, sender):
            client.disconnect()
            client.loop_stop()
    assert set(got) == set(names)


def _sent(sender, names: list[str], got: dict[str, bytes]) -> bool:
    """Again and again: that the bridge has made its own subscriptions shows in nothing else."""
    missing = [name for name in names if name not in got]
    for name in missing:
        sender.publish(name, name[-10:], 1)
    time.sleep(0.1 if missing else 0)
    return not missing


def test_each_user_is_there_once() -> None:
    assert len(mosquitto_passwords([Login("u", 'p, "q"')] * 2).splitlines()) == 1


def test_users_with_the_same_password_have_other_hashes() -> None:
    one, two = (mosquitto_hash(Login(user, "p")).split("$")[-1] for user in ("u", "v"))
    assert one != two


@needs_mosquitto
def test_the_tool_of_mosquitto_hashes_as_we_do(tmp_path: Path) -> None:
    """Its hash, with its salt and rounds, comes out of our formula; ours differs only in salt and rounds."""
    tool = shutil.which("mosquitto_passwd")
    assert tool is not None, "it comes with mosquitto"
    path = tmp_path / "theirs"
    subprocess.run([tool, "-c", "-b", str(path), "ann", "pässword"], check=True)
    line = path.read_text().strip()
    _, kind, rounds, salt, digest = line.split("$")
    found = hashlib.pbkdf2_hmac("sha512", "pässword".encode(), base64.b64decode(salt), int(rounds))
    assert (kind, base64.b64encode(found).decode()) == ("7", digest)
    assert mosquitto_hash(Login("ann", "pässword"), base64.b64decode(salt), int(rounds)) == line
    ours = mosquitto_hash(Login("ann", "pässword")).split("$")
    assert [len(base64.b64decode(part)) for part in ours[3:]] == [
        len(base64.b64decode(part)) for part in (salt, digest)
    ]

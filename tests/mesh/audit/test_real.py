"""What the audit says of a mesh is what real brokers do: loops flood or lose, sound ones are exact."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import urllib.request
from collections import Counter

import nats
import paho.mqtt.client as mqtt
import pytest

from brokers_present import free_ports, mosquitto, nats_server, needs_mosquitto, needs_nats, running, wait_for
from topicloom.mesh.jobs.audit import audit_folder

NAMES = ("a", "b", "c")


def write_mosquittos(folder, bridges):
    """Three brokers; `bridges` maps (dialer, acceptor) to the lines of topics."""
    ports = dict(zip(NAMES, free_ports(3), strict=True))
    for name in NAMES:
        lines = [f"listener {ports[name]} 127.0.0.1", "allow_anonymous true"]
        for (dialer, acceptor), topics in bridges.items():
            if dialer == name:
                lines += [f"connection {dialer}{acceptor}", f"address 127.0.0.1:{ports[acceptor]}"]
                lines += [f"remote_clientid {dialer}{acceptor}", "restart_timeout 1 1", *topics]
        (folder / f"{name}.conf").write_text("\n".join(lines) + "\n")
    return ports


def counted(folder, ports, bridges, topics, *, enough=None):
    """Publish once on each topic at each broker; how often (broker, message) arrived."""
    got: Counter[tuple[str, str]] = Counter()
    up: set[str] = set()
    lock = threading.Lock()
    clients = {}

    def heard(client, name, message):
        with lock:
            if message.topic.startswith("$SYS"):
                up.update([message.topic] if message.payload == b"1" else [])
            else:
                got[name, message.payload.decode()] += 1

    with running(*([mosquitto(), "-c", f"{name}.conf"] for name in NAMES), cwd=folder):
        try:
            for name in NAMES:
                client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, userdata=name)
                client.on_message = heard
                wait_for(lambda client=client, name=name: connected(client, ports[name]), f"broker {name}")
                client.subscribe([("$SYS/broker/connection/+/state", 0), *((topic, 1) for topic in topics)])
                client.loop_start()
                clients[name] = client
            wait_for(lambda: len(up) >= len(bridges), "all bridges")
            time.sleep(0.3)  # their subscriptions
            for name in NAMES:
                for topic in topics:
                    clients[name].publish(topic, f"{topic} of {name}", qos=1)
            expected = len(NAMES) ** 2 * len(topics)
            wait_for(lambda: got.total() >= (enough or expected), "the messages")
            time.sleep(0.5)  # for copies too many
        finally:
            for client in clients.values():
                client.loop_stop()
    return got


def connected(client, port):
    try:
        return client.connect("127.0.0.1", port) == 0
    except OSError:
        return False


@needs_mosquitto
def test_a_triangle_of_mosquittos_floods(tmp_path):
    bridges = {("b", "a"): ["topic # both 0"], ("c", "a"): ["topic # both 0"], ("c", "b"): ["topic # both 0"]}
    ports = write_mosquittos(tmp_path, bridges)
    (loop,) = audit_folder("mosquitto", tmp_path).loops
    assert loop.storms
    got = counted(tmp_path, ports, bridges, ["t/1"], enough=500)
    assert got.total() >= 500  # of 9 that were due


@needs_mosquitto
def test_a_triangle_with_a_tree_for_each_topic_is_exact(tmp_path):
    """Patterns that overlap, prefixes, both directions: sound by the audit, so each message comes once."""
    bridges = {
        ("b", "a"): ["topic t/1 both 1", "topic t/# both 1"],
        ("c", "a"): ["topic t/1 both 1", "topic u/+ both 1"],
        ("c", "b"): ["topic t/2 both 1", "topic u/5 both 1"],
    }
    ports = write_mosquittos(tmp_path, bridges)
    audit = audit_folder("mosquitto", tmp_path)
    assert audit.sound, [finding.text for finding in audit.losing + audit.repeating]
    topics = ["t/1", "t/2", "u/5"]
    got = counted(tmp_path, ports, bridges, topics)
    assert got == {(name, f"{topic} of {other}"): 1 for name in NAMES for other in NAMES for topic in topics}


def write_servers(folder, remotes):
    ports = {name: free_ports(3) for name in NAMES}
    for name in NAMES:
        client, leaf, monitor = ports[name]
        listed = ", ".join(
            f'{{url: "nats-leaf://127.0.0.1:{ports[far][1]}"{"".join(more)}}}'
            for near, far, *more in remotes
            if near == name
        )
        (folder / f"{name}.conf").write_text(
            f"server_name: {name}\nlisten: 127.0.0.1:{client}\nhttp: 127.0.0.1:{monitor}\n"
            f"leafnodes {{ listen: 127.0.0.1:{leaf}, reconnect: 1, remotes: [{listed}] }}\n"
        )
    return ports


def leaves(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/leafz", timeout=5) as answer:
            return len(json.load(answer).get("leafs") or [])
    except OSError:
        return 0


async def delivered(ports, names=NAMES, count=5):
    """Each of these servers publishes so often on one subject; how often (server, message) arrived."""
    got: Counter[tuple[str, str]] = Counter()
    clients = {
        name: await nats.connect(f"nats://127.0.0.1:{ports[name][0]}", connect_timeout=20) for name in names
    }
    try:
        for name, client in clients.items():

            async def heard(message, name=name):
                got[name, message.data.decode()] += 1

            await client.subscribe("t.1", cb=heard)
            await client.flush()
        await asyncio.sleep(1.0)  # interest spreads
        for number in range(count):
            for name, client in clients.items():
                await client.publish("t.1", f"{number} of {name}".encode())
                await client.flush()
        await asyncio.sleep(1.0)
    finally:
        for client in clients.values():
            await client.close()
    return got


@needs_nats
@pytest.mark.parametrize("loop", [False, True])
def test_a_triangle_of_nats_servers_is_cut_and_a_tree_is_exact(tmp_path, loop):
    remotes = [("b", "a"), ("c", "b")] + ([("c", "a")] if loop else [])
    ports = write_servers(tmp_path, remotes)
    audit = audit_folder("nats", tmp_path)
    assert len(audit.loops) == loop and audit.sound != loop

    def logs():
        return "".join((tmp_path / f"log-{place}").read_text() for place in range(3))

    with running(*([nats_server(), "-c", f"{name}.conf"] for name in NAMES), cwd=tmp_path):
        if loop:
            wait_for(lambda: "Loop detected" in logs(), "a server to cut the loop")
            return
        wait_for(lambda: sum(leaves(ports[name][2]) for name in NAMES) == 4, "the links")
        got = asyncio.run(delivered(ports))
        assert "Loop detected" not in logs()
    assert got == {(name, f"{i} of {other}"): 1 for i in range(5) for name in NAMES for other in NAMES}


@needs_nats
@pytest.mark.parametrize("wants", [False, True])
def test_a_nats_server_passes_nothing_between_two_that_it_dials(tmp_path, wants):
    """The audit says so; it passes what a client of its own wants too, and with `hub: true` everything."""
    remotes = [("b", "a"), ("b", "c")]
    ports = write_servers(tmp_path, remotes)
    assert [finding.brokers for finding in audit_folder("nats", tmp_path).losing] == [("b", "a", "c")]
    names = NAMES if wants else ("a", "c")
    assert run_servers(tmp_path, ports, names) == {
        (name, f"{i} of {other}"): 1
        for i in range(5)
        for name in names
        for other in names
        if wants or name == other
    }


@needs_nats
def test_a_nats_server_that_dials_as_a_hub_passes_all(tmp_path):
    ports = write_servers(tmp_path, [("b", "a"), ("b", "c", ", hub: true")])
    assert audit_folder("nats", tmp_path).sound
    assert run_servers(tmp_path, ports, ("a", "c")) == {
        (name, f"{i} of {other}"): 1 for i in range(5) for name in "ac" for other in "ac"
    }


def run_servers(folder, ports, names):
    """What clients at some of the servers get once all links are up."""
    with running(*([nats_server(), "-c", f"{name}.conf"] for name in NAMES), cwd=folder):
        wait_for(lambda: sum(leaves(ports[name][2]) for name in NAMES) == 4, "the links")
        return asyncio.run(delivered(ports, names))

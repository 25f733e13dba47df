"""Names of topics, judged by real brokers."""

from __future__ import annotations

import time
from pathlib import Path

from brokers_present import free_ports, mosquitto, needs_mosquitto, running, wait_for
from mesh.nasty_topics import NASTY
from topicloom.mesh.kinds.mosquitto.names import NAMES


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
        wait_for(lambda: _connects(receiver, far) and _connects(sender, near), "two brokers")
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


def _connects(client, port: int) -> bool:
    try:
        client.connect("127.0.0.1", port)
    except OSError:
        return False
    return True

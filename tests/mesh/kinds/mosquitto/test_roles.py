"""Roles and durable links in the files of Mosquitto, and what the audit makes of them."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

from brokers_present import mosquitto, needs_mosquitto, running, wait_for
from mesh.exported import export_mesh
from mesh.mesh_cases import ORDER, TREES, on_free_ports, small_request, write_files
from topicloom.mesh.jobs.audit import audit_folder
from topicloom.mesh.jobs.rollout import plan_rollout
from topicloom.mesh.kinds.mosquitto.write import mosquitto_passwords, render, shape_of
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.mesh_plan import plan_mesh

LOGINS = {node: Login(f"user-{node}", f"password-{node}") for node in "abc"}
CHAIN = ["ab", "bc"]


def lines(folder: Path, pattern: str, name: str) -> set[str]:
    """Lines with a topic, over all files of the pattern."""
    found = (line for path in folder.glob(pattern) for line in path.read_text().splitlines())
    return {line for line in found if re.fullmatch(rf"topic .*\b{name}\b.*", line)}


def test_a_topic_of_one_publisher_leaves_it_on_every_link(tmp_path: Path) -> None:
    mesh = export_mesh(
        "mosquitto", tmp_path / "mesh", {"x": "abc", "y": "abc"}, CHAIN, {"x": "Abc"}, logins=LOGINS
    )
    dialers = {link.name: link.dialer for link in mesh.links}
    away = {"b~a": "in", "a~b": "out", "b~c": "out", "c~b": "in"}
    assert lines(tmp_path / "mesh", "*.conf", "x") == {f"topic x {away[name]} 1" for name in dialers}
    assert lines(tmp_path / "mesh", "*.conf", "y") == {"topic y both 1"}
    rights = {"in": "read", "out": "write"}
    assert lines(tmp_path / "mesh", "*~links.acl", "x") == {
        f"topic {rights[away[name]]} x" for name in dialers
    }
    assert lines(tmp_path / "mesh", "a.acl", "x") == {"topic write x"}
    assert lines(tmp_path / "mesh", "c.acl", "x") == {"topic read x"}


def test_the_audit_wants_no_way_back_that_nobody_needs(tmp_path: Path) -> None:
    export_mesh("mosquitto", tmp_path / "mesh", {"x": "abc", "y": "abc"}, CHAIN, {"x": "Abc"})
    assert audit_folder("mosquitto", tmp_path / "mesh").sound
    turned = {"in": "out", "out": "in"}
    for path in (tmp_path / "mesh").glob("*.conf"):
        text = re.sub(r"topic x (in|out)", lambda found: f"topic x {turned[found[1]]}", path.read_text())
        path.write_text(text)
    audit = audit_folder("mosquitto", tmp_path / "mesh")
    assert audit.unreached and not audit.sound, "a publishes, and nobody gets it"


def test_a_durable_link_that_carries_other_topics_is_another_client(tmp_path: Path) -> None:
    """The session of the old one would go on bringing what it once subscribed to."""
    export_mesh("mosquitto", tmp_path / "old", {"x": "ab", "y": "ab"}, ["ab"], queue=70)
    export_mesh("mosquitto", tmp_path / "new", {"x": "ab", "y": "b"}, ["ab"], queue=70)
    clients = {
        re.search(r"remote_clientid (\S+)", path.read_text())[1]  # type: ignore[index]
        for name in ("old", "new")
        for path in (tmp_path / name).glob("*.conf")
        if "connection" in path.read_text()
    }
    assert len(clients) == 2 and {one[:4] for one in clients} <= {"a~b~", "b~a~"}
    text = (tmp_path / "old/a.conf").read_text() + (tmp_path / "old/b.conf").read_text()
    assert (
        "cleansession false" in text and "max_queued_messages 70" in text and "cleansession true" not in text
    )
    plan_rollout(tmp_path / "old", tmp_path / "new", out=tmp_path / "change")
    assert "max_queued_messages 70" in (tmp_path / "change/phase1/a.conf").read_text()


@needs_mosquitto
def test_a_hangup_makes_the_broker_read_its_access_lists_again(tmp_path: Path) -> None:
    """What a roll-out calls reload: new users and rights at both listeners, without a restart."""
    request = small_request(logins={node: Login(f"user-{node}", "p") for node in "abcd"})
    planned = on_free_ports(plan_mesh(request, shape_of(request), TREES, ORDER))
    files, _ = render(planned, request)
    root = "user root\n" if os.geteuid() == 0 else ""
    write_files(tmp_path, {name: text for name, text in files.items() if name.startswith("a")})
    (tmp_path / "a.conf").write_text(root + files["a.conf"])
    ports = planned.node["a"].ports
    with running([mosquitto(), "-c", "a.conf"], cwd=tmp_path) as (broker,):
        wait_for(lambda: "running" in (tmp_path / "log-0").read_text(), "the broker")
        assert not any(_gets_in(port) for port in ports.values())
        for name in ("a", "a~links"):
            with (tmp_path / f"{name}.passwd").open("a") as passwords:
                passwords.write(mosquitto_passwords([Login("late", "p")]))
        broker.send_signal(signal.SIGHUP)
        wait_for(lambda: all(_gets_in(port) for port in ports.values()), "the new user at both listeners")
        assert broker.poll() is None


def _gets_in(port: int) -> bool:
    from paho.mqtt.client import CallbackAPIVersion, Client

    codes: list[bool] = []
    client = Client(CallbackAPIVersion.VERSION2)
    client.username_pw_set("late", "p")
    client.on_connect = lambda c, data, flags, code, properties: codes.append(not code.is_failure)
    client.connect("127.0.0.1", port)
    client.loop_start()
    wait_for(lambda: bool(codes), "an answer")
    client.disconnect()
    client.loop_stop()
    return codes[0]

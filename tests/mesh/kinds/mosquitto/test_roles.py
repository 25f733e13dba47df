"""Roles and durable links in the files of Mosquitto, and what the audit makes of them."""

from __future__ import annotations

import re
from pathlib import Path

from mesh.exported import export_mesh
from topicloom.mesh.jobs.audit import audit_folder
from topicloom.mesh.jobs.rollout import plan_rollout
from topicloom.mesh.plan.credentials import Login

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

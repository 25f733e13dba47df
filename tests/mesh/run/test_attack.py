"""With the secrets of one site nobody reads or writes what it does not carry; planted holes are found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from brokers_present import needs_mosquitto, needs_nats, needs_zenoh
from mesh.exported import export_mesh
from topicloom.errors import UsageError
from topicloom.mesh.jobs.run import run_folder
from topicloom.mesh.kinds.registry import load_adapter
from topicloom.mesh.kinds.zenoh.intruders import _known
from topicloom.mesh.model.manifest import read_mesh
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.run.running_mesh import RunSettings

LOGINS = {node: Login(f"user-{node}", f"password-{node}") for node in "abcdefg"}
TREE = {"x": "abc", "y": "cde", "z": "bfg"}
TREE_EDGES = ["ab", "bc", "cd", "de", "bf", "bg"]
KINDS = [
    pytest.param("mosquitto", marks=needs_mosquitto),
    pytest.param("nats", marks=needs_nats),
    pytest.param("zenoh", marks=needs_zenoh),
]
FILES = {"mosquitto": "*~links.acl", "nats": "*.conf", "zenoh": "*.json5"}


def exported(kind: str, folder: Path, *, dials: bool = True) -> str:
    """A tree with logins; a node whose neighbor has a topic, in their account, that it does not want.

    It dials this neighbor, or is dialled.
    """
    export_mesh(kind, folder, TREE, TREE_EDGES, logins=LOGINS, seed=1)
    mesh = read_mesh(folder)
    topics = {node: {t.topic for t in mesh.topics if node in t.subscribers} for node in LOGINS}
    accounts = {topic.topic: topic.account for topic in mesh.topics}
    for link in mesh.links:
        node, other = (link.dialer, link.acceptor) if dials else (link.acceptor, link.dialer)
        if any(accounts[topic] == link.account for topic in topics[other] - topics[node]):
            return node
    raise AssertionError("the tree has such a node")


@pytest.mark.parametrize("dials", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_foreign_is_read_or_written(kind: str, dials: bool, tmp_path: Path) -> None:
    """Nor by a broker that was taken over, of those who dial it."""
    node = exported(kind, tmp_path / "mesh", dials=dials)
    summary = run_folder(kind, tmp_path / "mesh", RunSettings(messages=1, settle=0.1, attack=(node,)))
    (attack,) = summary.attacks
    assert (attack.read, attack.written) == ([], [])
    assert attack.logins >= dials, "a site can log in with its own secrets where it has a link"
    assert attack.taken_over >= 1
    assert attack.foreign_topics >= 1 and attack.attempts > attack.logins and summary.exact


@pytest.mark.parametrize("kind", KINDS)
def test_a_hole_is_found(kind: str, tmp_path: Path) -> None:
    """Without access lists the link of the site opens everything that its acceptor carries."""
    folder = tmp_path / "mesh"
    node = exported(kind, folder)
    for path in folder.glob(FILES[kind]):
        text = path.read_text().replace('"default_permission": "deny"', '"default_permission": "allow"')
        text = re.sub("topic readwrite .*", "topic readwrite #", text)
        path.write_text(re.sub(r", permissions: \{publish: .*?\], subscribe: .*?\]\}", "", text))
    summary = run_folder(kind, folder, RunSettings(messages=1, settle=0.1, attack=(node,)))
    (attack,) = summary.attacks
    assert attack.read and attack.written and not summary.exact


@pytest.mark.parametrize("kind", ["mosquitto", "nats", "zenoh"])
def test_no_file_holds_the_password_of_another_site_s_clients(kind: str, tmp_path: Path) -> None:
    """A NATS file held those of up to 29 other sites in clear."""
    exported(kind, tmp_path / "mesh")
    for path in (tmp_path / "mesh").iterdir():
        if path.name in ("manifest.json", "secrets.json"):
            continue
        text = path.read_text()
        found = {node for node in LOGINS if LOGINS[node].password in text}
        owner = {path.name.partition(".")[0].partition("~")[0]}
        assert found <= (owner if kind == "zenoh" else set()), path.name


@needs_zenoh
def test_what_a_site_could_do_without_certificates_is_told(tmp_path: Path) -> None:
    """Its file has the logins of those who dial it in clear; they open no other router."""
    node = exported("zenoh", tmp_path / "mesh", dials=False)
    routers = load_adapter("zenoh")
    routers.commands(read_mesh(tmp_path / "mesh"), tmp_path / "mesh")
    own = [one for (name, _), one in routers._routers.items() if name == node]  # type: ignore[attr-defined]
    known = {login.user for login in _known(own, node, tmp_path / "mesh")}
    called = {link.name for link in read_mesh(tmp_path / "mesh").links if link.acceptor == node}
    assert called and called <= known
    summary = run_folder("zenoh", tmp_path / "mesh", RunSettings(messages=1, settle=0.1, attack=(node,)))
    (attack,) = summary.attacks
    assert attack.held and "without TLS" in str(attack.limit)


@needs_mosquitto
def test_an_open_mesh_is_not_worth_an_attack(tmp_path: Path) -> None:
    export_mesh("mosquitto", tmp_path / "mesh", {"x": "ab"}, ["ab"])
    with pytest.raises(UsageError, match="lets everybody in"):
        run_folder("mosquitto", tmp_path / "mesh", RunSettings(attack=("a",)))

"""Real mosquitto brokers: an exact mesh is proved, and every planted fault is found."""

from __future__ import annotations

import hashlib
import subprocess
from base64 import b64encode

import psutil
import pytest

from brokers_present import needs_mosquitto
from hand_mesh import INTEREST, LINKS, HandLink, write_hand_mesh
from topicloom.errors import InputError, MeshError
from topicloom.mesh.jobs.run import run_folder
from topicloom.mesh.kinds.mosquitto.adapter import read_access
from topicloom.mesh.kinds.mosquitto.mqtt_client import MqttAccess
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.run.running_mesh import RunSettings

pytestmark = needs_mosquitto
QUICK = RunSettings(messages=3, settle=0.3, quiet=1.0)


class SecondLink(HandLink):
    """Another bridge between the same two brokers."""

    @property
    def name(self) -> str:
        return f"second-{self.dialer}-{self.acceptor}"


@pytest.fixture
def mesh(tmp_path):
    """Write and run a mesh; brokers must be gone afterwards."""

    def run(links, settings=QUICK, *, interest=INTEREST, change=None):
        folder = tmp_path / "mesh"
        write_hand_mesh(folder, interest, links)
        if change is not None:
            change(folder)
        return run_folder("mosquitto", folder, settings)

    yield run
    assert [child.cmdline() for child in psutil.Process().children() if "mosquitto" in child.name()] == []


def test_a_tree_for_each_topic_delivers_exactly_once(mesh):
    summary = mesh(LINKS)
    assert summary.exact, summary
    assert (summary.published, summary.expected, summary.delivered) == (12, 30, 30)
    assert (summary.duplicates, summary.strays, summary.hops_max) == (0, 0, 2)
    assert (summary.links, summary.connections_open, summary.connections_open_max) == (3, 3, 3)
    assert summary.messages_carried == 30  # each broker of a subscriber once, and no other
    assert summary.memory_bytes > 4_000_000
    assert 0 < summary.cpu_seconds_deliver <= summary.cpu_seconds


def test_a_topic_sent_to_a_broker_that_does_not_want_it_is_a_stray(mesh):
    """c does not want y, and none of its clients sees it; its broker carries it."""
    summary = mesh([LINKS[0], HandLink("c", "b", ("x", "z", "y")), LINKS[2]])
    assert (summary.delivered, summary.duplicates, summary.strays) == (30, 0, 3)
    assert summary.stray_witnesses[0].node == "c"
    assert not summary.exact


def test_a_bridge_that_does_not_say_it_is_one_gives_duplicates(mesh):
    """Without try_private the acceptor sends everything back to where it came from."""
    summary = mesh([HandLink("b", "a", ("x", "y"), private=False), *LINKS[1:]])
    assert summary.delivered == summary.expected
    assert summary.duplicates > 0
    assert not summary.storm
    assert not summary.exact


@pytest.mark.parametrize(
    "extra",
    [HandLink("a", "b", ("x",)), SecondLink("b", "a", ("x",)), HandLink("c", "a", ("x",))],
    ids=["both-ends", "two-bridges", "cycle"],
)
def test_a_storm_is_survived_and_ended(mesh, extra):
    summary = mesh([*LINKS, extra], RunSettings(messages=3, settle=30))
    assert summary.storm, summary
    assert summary.duplicates > 1000
    assert not summary.exact


def test_a_removed_link_is_missed(mesh):
    def change(folder):
        conf = folder / "d.conf"
        conf.write_text(conf.read_text().partition("connection")[0])

    summary = mesh(LINKS, change=change)
    assert summary.links == 2
    assert summary.delivered < summary.expected
    assert "d" in {summary.missing[0].node, summary.missing[0].publisher}
    assert not summary.exact


def test_a_bridge_in_one_direction_is_missed(mesh):
    summary = mesh([HandLink("b", "a", ("x", "y"), direction="in"), *LINKS[1:]])
    assert summary.delivered < summary.expected
    assert {one.node for one in summary.missing} == {"a"}


def test_links_that_do_not_come_up_are_named_with_what_the_broker_said(mesh):
    def refuse(folder):
        conf = folder / "a.conf"
        conf.write_text(conf.read_text().replace("allow_anonymous true", "allow_anonymous false"))

    with pytest.raises(
        MeshError, match=r"1 of 3 links are not up: b-a \(b to a\); the broker of b said: .*"
    ) as told:
        mesh(LINKS, RunSettings(messages=1, timeout=2), change=refuse)
    assert told.value.exit_code == 1
    assert "not authorised" in str(told.value)


def test_a_broker_that_does_not_start_is_named_with_what_it_said(mesh):
    """Mosquitto knows the option, and not the value."""

    def spoil(folder):
        conf = folder / "c.conf"
        conf.write_text("persistence maybe\n" + conf.read_text())

    with pytest.raises(MeshError, match=r"broker of c ended with code \d+: .*persistence.*maybe"):
        mesh(LINKS, change=spoil)


def test_an_option_that_mosquitto_does_not_know_is_refused_with_its_line(mesh):
    """Before any broker starts: the user need not look for it in a log."""

    def spoil(folder):
        conf = folder / "c.conf"
        conf.write_text("no_such_option true\n" + conf.read_text())

    with pytest.raises(InputError, match=r"c\.conf:1: there is no option no_such_option"):
        mesh(LINKS, change=spoil)


def test_clients_get_in_where_passwords_are_asked_for_and_nothing_in_the_folder_changes(mesh):
    before = {}

    def lock(folder):
        salt = b"0123456789ab"
        digest = hashlib.pbkdf2_hmac("sha512", b"secret", salt, 101)
        line = f"u:$7$101${b64encode(salt).decode()}${b64encode(digest).decode()}\n"
        for name in INTEREST:
            conf = folder / f"{name}.conf"
            asked = f"allow_anonymous false\npassword_file {name}.passwd"
            text = conf.read_text().replace("allow_anonymous true", asked)
            login = "remote_username u\nremote_password secret\ntry_private"
            conf.write_text(text.replace("try_private", login))
            (folder / f"{name}.passwd").write_text(line)
        before.update({path: path.read_bytes() for path in folder.iterdir()})

    assert mesh(LINKS, change=lock).exact
    assert before == {path: path.read_bytes() for path in next(iter(before)).parent.iterdir()}


def test_clients_heed_the_listener_they_use(tmp_path):
    """Another listener of the broker may want other certificates, or none."""
    conf = tmp_path / "a.conf"
    conf.write_text(
        "listener 1001\ncafile other.crt\nrequire_certificate false\n"
        "listener 1002\ncafile ca.crt\ncertfile a.crt\nkeyfile a.key\nrequire_certificate true\n"
    )
    login = Login("u", "p")
    assert read_access(conf, tmp_path, 1001, login) == MqttAccess(1001, None, None, tmp_path / "other.crt")
    shown = [tmp_path / name for name in ("ca.crt", "a.crt", "a.key")]
    assert read_access(conf, tmp_path, 1002, login) == MqttAccess(1002, None, None, *shown)


def test_tls_with_certificates_on_both_sides(mesh):
    def secure(folder):
        _certificate(folder)
        for name in INTEREST:
            conf = folder / f"{name}.conf"
            asked = "cafile ca.crt\ncertfile ca.crt\nkeyfile ca.key\nrequire_certificate true"
            text = conf.read_text().replace("allow_anonymous true", f"allow_anonymous true\n{asked}")
            bridge = "bridge_cafile ca.crt\nbridge_certfile ca.crt\nbridge_keyfile ca.key\ntry_private"
            conf.write_text(text.replace("try_private", bridge))

    assert mesh(LINKS, RunSettings(messages=1, settle=0.2), change=secure).exact


def _certificate(folder) -> None:
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    names = ["-subj", "/CN=brokers", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", *curve, *names, "-days", "2", "-keyout", "ca.key", "-out", "ca.crt"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)

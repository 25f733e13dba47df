"""An exported mesh moved to loopback: only addresses change, and the links are those of the files."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing import examples
from mesh.export_cases import KINDS, exported
from topicloom.errors import InputError
from topicloom.mesh.jobs.audit import audit_folder
from topicloom.mesh.kinds.registry import find_running
from topicloom.mesh.model.manifest import read_mesh
from topicloom.mesh.run.relocate import PortMap


def relocate(folder, mesh, free_port):
    return find_running(mesh.kind).relocate(folder, mesh, PortMap(mesh, free_port))


@pytest.fixture
def ports():
    return itertools.count(30000).__next__


@pytest.fixture(params=KINDS)
def folder(request, tmp_path):
    return exported(request.param, tmp_path)


def edit(folder, name, old, new):
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1))


def test_the_links_are_those_of_the_manifest_and_every_port_is_new(folder, ports):
    mesh = read_mesh(folder)
    moved = relocate(folder, mesh, ports)
    assert set(moved.mesh.links) == set(mesh.links)
    assert set(moved.configs) == {name for node in mesh.nodes for name in node.configs}
    assert all(node.host == "127.0.0.1" and min(node.ports.values()) >= 30000 for node in moved.mesh.nodes)
    taken = [port for node in moved.mesh.nodes for port in node.ports.values()]
    assert len(set(taken)) == len(taken)
    for text in moved.configs.values():
        assert not re.search(r"site-\w|\D(1883|4222|7422|8222|7447)\D", re.sub(r"(?m)^(#|//).*", "", text))


def test_only_addresses_change(tmp_path, ports):
    folder = exported("mosquitto", tmp_path)
    for name, text in relocate(folder, read_mesh(folder), ports).configs.items():
        before, after = (folder / name).read_text().splitlines(), text.splitlines()
        changed = {old.split()[0] for old, new in zip(before, after, strict=False) if old != new}
        assert changed <= {"listener", "address", "addresses"}


def test_bridges_changed_by_hand_are_seen(tmp_path, ports):
    folder = exported("mosquitto", tmp_path)
    mesh = read_mesh(folder)
    first = mesh.links[0]
    config = {node.name: node.configs[0] for node in mesh.nodes}
    text = (folder / config[first.dialer]).read_text()
    head, *blocks = text.split("connection ")
    (folder / config[first.dialer]).write_text("connection ".join([head, *blocks[1:]]))
    assert set(relocate(folder, mesh, ports).mesh.links) == set(mesh.links) - {first}
    twice = blocks[0].replace(first.name, "again")
    (folder / config[first.dialer]).write_text("connection ".join([head, *blocks, twice]))
    names = {link.name for link in relocate(folder, mesh, ports).mesh.links}
    assert names == {link.name for link in mesh.links} | {"again"}
    assert len(audit_folder("mosquitto", folder).doubled) == 1


def test_a_bridge_that_two_brokers_include_is_refused(tmp_path, ports):
    """Both would log in by one name and throw each other out; one of the links would be waited for alone."""
    folder = exported("mosquitto", tmp_path)
    names = [name for node in read_mesh(folder).nodes for name in node.configs]
    sender = next(name for name in names if "connection " in (folder / name).read_text())
    text = (folder / sender).read_text()
    place = text.index("connection ")
    (folder / "shared").mkdir()
    (folder / "shared" / "bridge.conf").write_text(text[place:])
    (folder / sender).write_text(text[:place])
    for name in {sender, next(name for name in names if name != sender)}:
        with (folder / name).open("a") as conf:
            conf.write("\ninclude_dir shared\n")
    with pytest.raises(InputError, match=r"a link '.+' exists already at shared/bridge.conf"):
        relocate(folder, read_mesh(folder), ports)


def test_a_stranger_s_address_is_refused(folder, ports):
    mesh = read_mesh(folder)
    link = mesh.links[0]
    config = next(n for node in mesh.nodes if node.name == link.dialer for n in node.configs)
    acceptor = next(node for node in mesh.nodes if node.name == link.acceptor)
    text = (folder / config).read_text()
    line = next(i for i, one in enumerate(text.splitlines(), 1) if f"{acceptor.host}:" in one)
    edit(folder, config, f"{acceptor.host}:", "elsewhere.example:")
    with pytest.raises(
        InputError, match=rf"^{config}:{line}: elsewhere.example:\d+ is no broker of this mesh"
    ):
        relocate(folder, mesh, ports)


def test_a_port_that_the_manifest_does_not_know_is_refused(folder, ports):
    mesh = read_mesh(folder)
    node = mesh.nodes[0]
    port = next(iter(node.ports.values()))
    edit(folder, node.configs[0], f"{port}", "39999")
    with pytest.raises(InputError, match=r"^\S+:\d+: .*correct one of them"):
        relocate(folder, mesh, ports)


def test_paths_become_absolute_and_a_missing_file_is_named(tmp_path, ports):
    folder = exported("mosquitto", tmp_path)
    mesh = read_mesh(folder)
    name = mesh.nodes[0].configs[0]
    edit(folder, name, "allow_anonymous true", "password_file people.txt")
    with pytest.raises(InputError, match=rf"^{name}:\d+: 'people.txt' is not there"):
        relocate(folder, mesh, ports)
    (folder / "people.txt").write_text("")
    assert f"password_file {folder}/people.txt\n" in relocate(folder, mesh, ports).configs[name]


def test_certificates_name_other_hosts_so_only_the_host_check_is_off(tmp_path, ports):
    folder = exported("mosquitto", tmp_path)
    mesh = read_mesh(folder)
    (folder / "ca.crt").write_text("")
    config = next(node.configs[0] for node in mesh.nodes if node.name == mesh.links[0].dialer)
    edit(folder, config, "cleansession true", "bridge_cafile ca.crt")
    text = relocate(folder, mesh, ports).configs[config]
    assert f"bridge_cafile {folder}/ca.crt\n" in text and text.count("bridge_insecure true") == 1


def test_exported_folders_are_sound(folder):
    """What the exporter plans, the audit must not blame; and a doubled link it must."""
    mesh = read_mesh(folder)
    if mesh.kind != "zenoh":
        audit = audit_folder(mesh.kind, folder)
        assert audit.sound and audit.covered, [finding.text for finding in audit.losing + audit.repeating]
        assert (audit.brokers, audit.links) == (len(mesh.nodes), len(mesh.links))


wants = st.dictionaries(
    st.sampled_from("abcdefg"), st.sets(st.sampled_from("uvwxyz"), min_size=1), min_size=2, max_size=7
).filter(lambda found: any(one != other and found[one] & found[other] for one in found for other in found))


@examples(40)
@given(wants=wants, kind=st.sampled_from(["mosquitto", "nats"]))
def test_what_is_exported_is_read_back_and_a_planted_loop_is_found(tmp_path_factory, wants, kind):
    folder = exported(kind, tmp_path_factory.mktemp("mesh"), wants)
    mesh = read_mesh(folder)
    assert set(relocate(folder, mesh, itertools.count(30000).__next__).mesh.links) == set(mesh.links)
    assert audit_folder(kind, folder).sound
    # The first link once more, from its other end.
    link = mesh.links[0]
    dialer, acceptor = (next(n for n in mesh.nodes if n.name == end) for end in (link.dialer, link.acceptor))
    config = folder / acceptor.configs[0]
    text = config.read_text()
    if kind == "mosquitto":
        name = next(topic.name for topic in mesh.topics if topic.topic == link.topics[0])
        bridge = f"connection planted\naddress {dialer.host}:{dialer.ports['mqtt']}\ntopic {name} both\n"
        config.write_text(text + bridge)
    else:
        url = f"nats-leaf://{link.account}:topicloom@{dialer.host}:{dialer.ports['leaf']}"
        more = f'leafnodes: {{\n  remotes: [{{url: "{url}", account: {link.account}}}]\n'
        config.write_text(re.sub(r"leafnodes: \{\n", more, text).replace("  remotes: [\n", "  more: [\n"))
    audit = audit_folder(kind, folder)
    assert [set(finding.brokers) for finding in audit.doubled] == [{link.dialer, link.acceptor}]

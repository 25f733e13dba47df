"""A run of files that somebody else wrote: nothing is loaded, opened or written outside of its folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from brokers_present import needs_mosquitto, needs_nats
from mesh.exported import export_mesh
from topicloom.errors import InputError
from topicloom.mesh.jobs.run import run_folder, run_rollout
from topicloom.mesh.kinds.registry import find_running
from topicloom.mesh.model.config_files import read_text
from topicloom.mesh.model.manifest import read_mesh
from topicloom.mesh.plan.secrets import read_secrets
from topicloom.mesh.run.free_ports import FreePorts
from topicloom.mesh.run.relocate import PortMap, copy_mesh
from topicloom.mesh.run.running_mesh import RunSettings

QUICK = RunSettings(messages=1, settle=0.2, quiet=2.0)


def hostile(kind: str, folder: Path, more: str) -> Path:
    """Export two brokers and add a line to the first one's file."""
    export_mesh(kind, folder, {"x": "ab"}, ["ab"])
    (folder.parent / "outside").mkdir(exist_ok=True)
    path = folder / read_mesh(folder).nodes[0].configs[0]
    text = path.read_text()
    path.write_text(text.replace("{", f"{{\n{more}", 1) if kind == "zenoh" else f"{text}{more}\n")
    return folder


def moved(kind: str, folder: Path) -> str:
    """Return the first broker's file as it would run."""
    mesh = read_mesh(folder)
    found = find_running(kind).relocate(folder, mesh, PortMap(mesh, FreePorts().take))
    return found.configs[mesh.nodes[0].configs[0]]


@pytest.mark.parametrize(
    ("kind", "line", "words"),
    [
        ("mosquitto", "plugin /tmp/evil.so", "a.conf:.*plugin loads a library"),
        ("mosquitto", "auth_plugin evil.so", "auth_plugin loads a library"),
        ("mosquitto", "tls_engine dynamic", "tls_engine loads a library"),
        ("mosquitto", "plugin_load evil /tmp/evil.so", "plugin_load loads a library"),
        ("mosquitto", "global_plugin /tmp/evil.so", "global_plugin loads a library"),
        ("mosquitto", "include_dir ../outside", "include_dir '../outside' leads out of"),
        ("nats", "websocket { port: 8080, no_tls: true }", "websocket opens the server"),
        ("nats", "MQTT { port: 1883 }", "MQTT opens the server"),
        ("nats", "gateway { name: g, port: 7222 }", "gateway opens the server"),
        ("nats", 'resolver: "URL(http://127.0.0.1:9)"', "asked for on another machine"),
        ("zenoh", '"plugins": {"evil": {"__path__": "/tmp/evil.so"}},', "plugins loads libraries"),
        ("zenoh", '"plugins_loading": {"enabled": true},', "plugins_loading loads libraries"),
    ],
)
def test_what_could_do_anything_is_refused(kind: str, line: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        moved(kind, hostile(kind, tmp_path / "mesh", line))


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("mosquitto", "listener 0 OUT/socket"),
        ("mosquitto", "log_dest syslog"),
        ("mosquitto", "log_dest file OUT/log"),
        ("mosquitto", "persistence true\npersistence_location OUT/"),
        ("nats", "jetstream: enabled"),
        ("nats", "jetstream { max_mem: 1M }"),
        ("nats", 'JetStream { store_dir: "OUT" }'),
        ("nats", 'resolver { type: full, dir: "OUT" }'),
        ("nats", 'remote_syslog: "udp://OUT:514"'),
        ("nats", "prof_port: 6060"),
        ("zenoh", '"scouting": {"multicast": {"enabled": true}},'),
    ],
)
def test_what_would_write_or_listen_elsewhere_is_led_inside(kind: str, line: str, tmp_path: Path) -> None:
    folder = hostile(kind, tmp_path / "mesh", line.replace("OUT", "/somewhere/else"))
    text = moved(kind, folder)
    assert not any(word in text for word in ("/somewhere", "syslog", "prof_port", '"enabled": true'))
    if "etstream" in line.lower() or "resolver" in line:
        assert f"{folder}/a.conf.kept" in text


@needs_mosquitto
@needs_nats
@pytest.mark.parametrize(
    ("kind", "line"), [("mosquitto", "listener 0 OUT/socket"), ("nats", "jetstream: enabled")]
)
def test_real_brokers_run_such_files(kind: str, line: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    folder = hostile(kind, tmp_path / "mesh", line.replace("OUT", str(out)))
    assert run_folder(kind, folder, QUICK).exact
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("target", ["/dev/zero", "..", "/", "."])
def test_links_in_the_file_system_do_not_lead_out_of_the_folder(target: str, tmp_path: Path) -> None:
    """A copy followed them: of a device for ever, of the root of the machine as long as the disk lasted."""
    export_mesh("mosquitto", tmp_path / "mesh", {"x": "ab"}, ["ab"])
    os.symlink(target, tmp_path / "mesh/more")
    with pytest.raises(InputError, match="mesh/more is no file of this folder"):
        copy_mesh(tmp_path / "mesh", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_pipes_and_huge_files_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "huge.conf").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="pipe is no configuration: it is no file"):
        read_text(tmp_path / "pipe", "pipe")
    with pytest.raises(InputError, match="huge.conf is no configuration: it is too large"):
        read_text(tmp_path / "huge.conf", "huge.conf")
    (tmp_path / "huge.conf").unlink()
    with pytest.raises(InputError, match="pipe is no file of this folder"):
        copy_mesh(tmp_path, tmp_path / "copy")


@needs_nats
def test_no_secret_is_in_what_a_server_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its words were repeated as they came, with what the file, or the environment, had in it."""
    monkeypatch.setenv("HUSH", "very-secret-thing")
    mesh = export_mesh("nats", tmp_path / "mesh", {"x": "ab"}, ["ab"])
    path = tmp_path / "mesh" / mesh.nodes[0].configs[0]
    path.write_text(path.read_text() + "max_payload: $HUSH\n")
    with pytest.raises(InputError, match="nats-server refuses") as refused:
        run_folder("nats", tmp_path / "mesh", QUICK)
    assert "very-secret" not in str(refused.value)


@pytest.mark.parametrize("name", ["manifest.json", "secrets.json", "rollout.json", "a.json5"])
@pytest.mark.parametrize("text", ['{"nodes": ' + "[" * 200_000, '{"links": ' + '{"a": ' * 200_000])
def test_deep_files_are_refused_with_a_sentence(name: str, text: str, tmp_path: Path) -> None:
    """Some were a RecursionError."""
    kind = "zenoh" if name == "a.json5" else "mosquitto"
    mesh = export_mesh(kind, tmp_path / "mesh", {"x": "ab"}, ["ab"])
    name = mesh.nodes[0].configs[0] if name == "a.json5" else name
    (tmp_path / "mesh" / name).write_text(text)
    with pytest.raises(InputError, match=f"{name}.*(too deep|JSON|damaged)"):
        if name == "rollout.json":
            run_rollout(kind, tmp_path / "mesh", tmp_path / "mesh", QUICK)
        read_secrets(tmp_path / "mesh")
        moved(kind, tmp_path / "mesh")

"""A mesh on disk: read back as it was, and every broken manifest refused with its field."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from topicloom.errors import InputError
from topicloom.mesh.model.manifest import (
    SECRETS,
    check_export_out,
    check_whole,
    edited_files,
    read_mesh,
    write_manifest,
    write_mesh,
)
from topicloom.mesh.model.mesh import Mesh, MeshLink, MeshNode, MeshTopic

PORTS = {"client": 4222, "leaf": 7422, "monitor": 8222}
MESH = Mesh(
    kind="nats",
    nodes=(
        MeshNode("a/1", "127.0.0.1", PORTS, ("a_1.conf",)),
        MeshNode("b\n", "::1", PORTS, ("b.conf",), user="ann"),
    ),
    links=(MeshLink("b~a", "b\n", "a/1", ("x", ""), "A0"),),
    topics=(MeshTopic("", "%-", ("a/1", "b\n"), "A0"), MeshTopic("x", "x", ("a/1", "b\n"), "A0")),
    start_order=("a/1", "b\n"),
    accounts=("A0",),
    options={"tls": "/certificates"},
)
FILES = {"a_1.conf": "one\n", "b.conf": "zwei, drei\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_mesh(tmp_path, MESH, FILES, secret=["b.conf"])
    return tmp_path


def test_what_is_written_is_read(folder: Path) -> None:
    assert read_mesh(folder) == MESH
    assert (folder / "a_1.conf").read_text() == "one\n"
    assert (folder / "b.conf").stat().st_mode & 0o777 == 0o600
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["format"], manifest["files"]) == (1, ["a_1.conf", "b.conf", "manifest.json"])


def test_edits_by_hand_are_seen(folder: Path) -> None:
    assert edited_files(folder) == []
    (folder / "b.conf").write_text("mine")
    assert edited_files(folder) == ["b.conf"]
    with pytest.raises(InputError, match="b.conf changed since it was exported.*`overwrite`"):
        check_export_out(folder, "nats")
    check_export_out(folder, "nats", overwrite=True)


def test_an_edited_manifest_is_seen(folder: Path) -> None:
    """Hosts and ports are there; the next export wrote over what was changed in it."""
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace("::1", "::2"))
    assert edited_files(folder) == ["manifest.json"]
    manifest.write_text(manifest.read_text().replace("::2", "::1").replace("\n", "\n "))
    assert edited_files(folder) == []


def test_an_export_without_its_secrets_is_not_replaced_by_one_with_new_ones(tmp_path: Path) -> None:
    """It gave every login and link a new password without a word."""
    write_mesh(tmp_path, MESH, {"a_1.conf": "one\n", "b.conf": "", SECRETS: "{}"}, secret=[SECRETS])
    check_export_out(tmp_path, "nats")
    (tmp_path / SECRETS).unlink()
    with pytest.raises(InputError, match="secrets.json is gone.*`overwrite`"):
        check_export_out(tmp_path, "nats")
    check_export_out(tmp_path, "nats", overwrite=True)


def _set(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(manifest: dict[str, Any]) -> None:
        place: Any = manifest
        for key in path[:-1]:
            place = place[key]
        if value is None:
            del place[path[-1]]
        else:
            place[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_set("format", value=2), "format is 2, this version reads 1"),
        (_set("links", value=None), "is no mesh of brokers but an export of kind 'nats'"),
        (_set("links", 0, "dialer", value=None), "missing required field `dialer` - at `$.links[0]`"),
        (_set("links", 0, "dialer", value=7), "Expected `str`, got `int` - at `$.links[0].dialer`"),
        (_set("links", 0, "dialer", value="c"), "links: 'b~a' names 'c', which is not among the nodes"),
        (_set("links", 0, "acceptor", value="b\n"), "links: 'b~a' dials its own end"),
        (_set("links", 0, "backups", value=["b\n"]), "links: 'b~a' dials its own end"),
        (_set("links", 0, "topics", value=["y"]), "carries 'y', which is not among the topics"),
        (_set("links", 0, "account", value="A1"), "links: 'b~a' has account 'A1'"),
        (_set("links", 0, "account", value=None), "links: 'b~a' has account None"),
        (_set("topics", 1, "account", value=None), "carries 'x', a topic of another account"),
        (_set("nodes", 0, "ports", "client", value=0), "nodes: a port of 'a/1' is not from 1 to 65535"),
        (_set("nodes", 0, "ports", "client", value="x"), "at `$.nodes[0].ports[...]`"),
        (_set("nodes", 0, "configs", value=["../up.conf"]), "'../up.conf', which is no name of a"),
        (_set("nodes", 0, "configs", value=["/etc/passwd"]), "'/etc/passwd', which is no name of a"),
        (_set("nodes", 0, "configs", value=["b.conf"]), "nodes (configs) has 'b.conf' twice"),
        (_set("nodes", 0, "configs", value=["gone.conf"]), "gone.conf of node 'a/1' is not in the folder"),
        (_set("nodes", 0, "name", value="b\n"), "nodes has 'b\\n' twice"),
        (_set("start_order", value=["a/1"]), "start_order is not an order of all nodes"),
        (_set("start_order", value=["a/1", "a/1"]), "start_order is not an order of all nodes"),
        (
            _set("topics", 0, "subscribers", value=["z"]),
            "topics: subscriber 'z' of '' is not among the nodes",
        ),
        (_set("topics", 0, "account", value="A9"), "topics: '' has account 'A9'"),
        (_set("topics", 0, "name", value="x"), "topics (name) has 'x' twice"),
        (_set("topics", 0, "topic", value="x"), "topics has 'x' twice"),
        (_set("nodes", 0, "configs", value=[]), "nodes: 'a/1' has no configs"),
        (_set("nodes", 0, "configs", value=["secrets.json"]), "'secrets.json', which is no name of a"),
        (_set("nodes", 0, "configs", value=["a\nplugin x"]), "'a\\nplugin x', which is no name of a"),
        (_set("nodes", 0, "configs", value=["a" * 201]), "which is no name of a"),
        (_set("nodes", 0, "ports", "leaf", value=None), "nodes: ports of 'a/1' has no 'leaf'"),
        (_set("nodes", 0, "ports", "link", value=1), "nodes: ports of 'b\\n' has no 'link'"),
        (_set("nodes", 0, "host", value="h\nplugin x"), "host 'h\\nplugin x', which is no host"),
        (_set("nodes", 1, "user", value="u\nacl"), "user 'u\\nacl', which is no user"),
        (_set("links", 0, "name", value="l\nplugin x"), "links: 'l\\nplugin x' is no name of a link"),
        (_set("accounts", value=["A0", "B\n"]), "accounts: 'B\\n' is no name of an account"),
        (_set("topics", 1, "name", value="x\nplugin x"), "name 'x\\nplugin x', which no broker takes"),
        (_set("topics", 1, "example", value="x\0"), "name 'x\\x00', which no broker takes"),
        (_set("options", "durable", value="many"), "options: 'durable' is 'many', which no export writes"),
        (_set("options", "tls_at", value="/c\nplugin x"), "which no export writes"),
    ],
)
def test_broken_manifests_are_refused_by_field(
    folder: Path, change: Callable[[dict[str, Any]], None], words: str
) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))
    with pytest.raises(InputError) as refused:
        read_mesh(folder)
    assert words in str(refused.value)
    assert str(path) in str(refused.value)


def test_a_key_that_is_there_twice_is_refused(folder: Path) -> None:
    """The last one counted without a word, whatever stood in the first."""
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"kind":', '"kind": "mosquitto", "kind":', 1))
    with pytest.raises(InputError, match="has the key 'kind' twice in one object"):
        read_mesh(folder)


def test_a_folder_without_one_of_its_files_is_not_whole(folder: Path) -> None:
    check_whole(folder)
    (folder / "b.conf").unlink()
    with pytest.raises(InputError, match="file 'b.conf' is not in the folder"):
        check_whole(folder)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "is not an export: cannot read manifest.json"),
        (b"{", "not valid JSON"),
        (b"[]", "not valid JSON"),
        (b'{"format": 1, "kind": "nats", "links": [], "nodes": [{"name": "\xff"}]}', "not valid JSON"),
    ],
)
def test_folders_without_a_manifest(tmp_path: Path, content: bytes | None, words: str) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_mesh(tmp_path)


def test_only_an_earlier_export_may_be_replaced(folder: Path) -> None:
    check_export_out(folder, "nats")
    with pytest.raises(InputError, match="holds an export of kind nats"):
        check_export_out(folder, "mosquitto")
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds something else than an earlier export"):
        check_export_out(folder, "nats")
    assert (folder / "notes.txt").exists()


def test_an_export_that_is_no_mesh_is_replaced_too(tmp_path: Path) -> None:
    (tmp_path / "overlay.dot").write_text("graph {}")
    with pytest.raises(InputError, match="something else"):
        check_export_out(tmp_path, "dot")
    write_manifest(tmp_path, "dot", ["overlay.dot", "manifest.json"])
    check_export_out(tmp_path, "dot")

"""Certificates are tried as brokers would: what would keep a link down is refused, with its file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from brokers_present import needs_mosquitto, needs_openssl, needs_zenoh
from mesh.certificates import make_certificates
from mesh.exported import export_mesh
from topicloom.errors import InputError
from topicloom.mesh.jobs.run import run_folder
from topicloom.mesh.plan.certificates import judge_certificates, try_certificates
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.run.running_mesh import RunSettings

pytestmark = needs_openssl


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory.mktemp("certificates") / "tls", "ab")


def test_good_ones_are_taken(folder: Path) -> None:
    try_certificates(folder, {"a": "a.example", "b": "127.0.0.1"})


def test_a_name_that_is_not_the_host_s_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match=r"nobody would trust a\.crt for the host b\.example: .*mismatch"):
        try_certificates(folder, {"a": "b.example"})


def test_a_key_of_another_certificate_is_refused(folder: Path, tmp_path: Path) -> None:
    mixed = shutil.copytree(folder, tmp_path / "mixed")
    shutil.copy(folder / "b.key", mixed / "a.key")
    with pytest.raises(InputError, match=r"a\.crt and a\.key do not fit \(key values mismatch\)"):
        try_certificates(mixed, {"a": "a.example"})


def test_another_authority_is_refused(folder: Path, tmp_path: Path) -> None:
    other = make_certificates(tmp_path / "other", "a")
    shutil.copy(folder / "ca.crt", other / "ca.crt")
    with pytest.raises(InputError, match=r"nobody would trust a\.crt"):
        try_certificates(other, {"a": "a.example"})
    (other / "ca.crt").write_text("none")
    with pytest.raises(InputError, match=r"ca\.crt is no certificate of an authority"):
        try_certificates(other, {"a": "a.example"})


def test_what_lies_on_other_machines_is_told_and_what_lies_here_is_tried(
    folder: Path, tmp_path: Path
) -> None:
    """Keys of brokers need not be here to write their configurations."""
    some, told = shutil.copytree(folder, tmp_path / "some"), list[str]()
    (some / "b.key").unlink()
    hosts = {"a": "a.example", "b": "b.example"}
    with pytest.raises(InputError, match=r"has no file b\.key"):
        judge_certificates(some, hosts, at=None, notice=told.append)
    judge_certificates(some, hosts, at=Path("/etc/certs"), notice=told.append)
    assert told == [f"not in {some}, so not tried (1 of 5 files): b.key"]
    with pytest.raises(InputError, match=r"nobody would trust a\.crt"):
        judge_certificates(some, {**hosts, "a": "other.example"}, at=Path("/etc/certs"), notice=told.append)
    with pytest.raises(InputError, match="not absolute"):
        judge_certificates(some, hosts, at=Path("certs"), notice=told.append)


@needs_mosquitto
@pytest.mark.parametrize("kind", ["mosquitto", pytest.param("zenoh", marks=needs_zenoh)])
def test_a_mesh_whose_certificates_lie_elsewhere_runs_here(kind: str, folder: Path, tmp_path: Path) -> None:
    logins = {node: Login(node, f"p{node}") for node in "ab"}
    at = Path("/etc/certs")
    export_mesh(kind, tmp_path / "mesh", {"x": "ab"}, ["ab"], logins=logins, tls=folder, tls_at=at)
    texts = [
        path.read_text() for path in (tmp_path / "mesh").glob("[ab]*") if path.suffix in (".conf", ".json5")
    ]
    assert all("/etc/certs/ca.crt" in text and str(folder) not in text for text in texts)
    assert run_folder(kind, tmp_path / "mesh", RunSettings(messages=2, settle=0.1)).exact

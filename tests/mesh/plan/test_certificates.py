"""Certificates are tried as brokers would: what would keep a link down is refused, with its file."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from brokers_present import needs_mosquitto, needs_nats, needs_openssl, needs_zenoh
from mesh.certificates import make_certificates, sign_again
from mesh.exported import export_mesh
from topicloom.errors import InputError, MeshError
from topicloom.mesh.jobs.rollout import NewInterest, old_edges, plan_rollout
from topicloom.mesh.jobs.run import run_folder, run_rollout
from topicloom.mesh.plan.certificates import judge_certificates, try_certificates
from topicloom.mesh.plan.credentials import Login
from topicloom.mesh.plan.hosts import Place
from topicloom.mesh.run.running_mesh import RunSettings
from topicloom.overlay.model.interest import Interest

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


BAD = [
    ((-9, -2), None, r"a\.crt for the host a\.example: certificate has expired"),
    ((2, 9), None, r"a\.crt for the host a\.example: certificate is not yet valid"),
    ((-1, 9), "serverAuth", r"nobody would let a\.crt in as a dialer: unsuitable certificate purpose"),
    ((-1, 9), "clientAuth", r"nobody would trust a\.crt .*: unsuitable certificate purpose"),
]


@pytest.mark.parametrize(("days", "usage", "told"), BAD)
def test_what_keeps_either_end_of_a_link_down_is_refused(
    days: tuple[int, int], usage: str | None, told: str, folder: Path, tmp_path: Path
) -> None:
    """Only the end that is dialled was tried: one that may only serve was found by brokers."""
    own = shutil.copytree(folder, tmp_path / "own")
    sign_again(own, "a")
    try_certificates(own, {"a": "a.example"})
    sign_again(own, "a", days, usage=usage)
    with pytest.raises(InputError, match=told):
        try_certificates(own, {"a": "a.example"})


def mesh_of(kind: str, tls: Path, folder: Path) -> Path:
    places = {node: Place(f"{node}.example") for node in "ab"}
    logins = {node: Login(node, f"p{node}") for node in "ab"}
    export_mesh(kind, folder, {"x": "ab"}, ["ab"], logins=logins, tls=tls, places=places)
    return folder


@pytest.mark.parametrize("kind", ["mosquitto", "nats", "zenoh"])
def test_a_run_and_a_played_rollout_try_the_certificates(kind: str, folder: Path, tmp_path: Path) -> None:
    own = shutil.copytree(folder, tmp_path / "own")
    mesh = mesh_of(kind, own, tmp_path / "mesh")
    interest = Interest.from_pairs([("a", "x"), ("b", "x"), ("a", "y"), ("b", "y")])
    plan_rollout(mesh, NewInterest(interest, old_edges(mesh, interest)), out=tmp_path / "change")
    for days, usage, told in BAD[:3]:
        sign_again(own, "a", days, usage=usage)
        with pytest.raises(InputError, match=told):
            run_folder(kind, mesh, RunSettings())
        with pytest.raises(InputError, match=told):
            run_rollout(kind, mesh, tmp_path / "change", RunSettings())
    shutil.copy(own / "b.crt", own / "a.crt")
    shutil.copy(own / "b.key", own / "a.key")
    with pytest.raises(InputError, match=r"for the host a\.example: .*mismatch"):
        run_folder(kind, mesh, RunSettings())


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("mosquitto", marks=needs_mosquitto),
        pytest.param("nats", marks=needs_nats),
        pytest.param("zenoh", marks=needs_zenoh),
    ],
)
def test_links_show_certificates_also_where_everybody_may_log_in(
    kind: str, folder: Path, tmp_path: Path
) -> None:
    """A link that shows none is turned away."""
    mesh = export_mesh(kind, tmp_path / "mesh", {"x": "ab"}, ["ab"], tls=folder)
    assert run_folder(kind, tmp_path / "mesh", RunSettings(messages=2, settle=0.1)).exact
    shown = {
        "mosquitto": r"bridge_(cert|key)file .*\n",
        "nats": r'(?<=ca.crt"), cert_file: \S+ key_file: \S+(?=}}\)?)',
        "zenoh": r'"connect_(certificate|private_key)": .*\n',
    }
    for node in mesh.nodes:
        for path in (tmp_path / "mesh" / name for name in node.configs):
            text = re.sub(shown[kind], "", path.read_text())
            path.write_text(re.sub(r",(\s*})", r"\1", text))
    with pytest.raises(MeshError):
        run_folder(kind, tmp_path / "mesh", RunSettings(messages=2, settle=0.1, timeout=3.0))

"""Certificates are tried as brokers would: what would keep a link down is refused, with its file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from brokers_present import needs_openssl
from mesh.certificates import make_certificates
from topicloom.errors import InputError
from topicloom.mesh.plan.certificates import try_certificates

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

"""Certificates for tests, made by openssl: one authority and a certificate per name for loopback."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def make_certificates(folder: Path, names: Iterable[str]) -> Path:
    """A folder as `--tls` wants it."""
    folder.mkdir()
    _openssl(
        folder, "req", "-x509", *CURVE, "-days", "2", "-subj", "/CN=test authority",
        "-keyout", "ca.key", "-out", "ca.crt",
    )  # fmt: skip
    for name in names:
        _openssl(
            folder, "req", "-x509", *CURVE, "-days", "2", "-subj", "/CN=broker",
            "-addext", f"subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost,DNS:{name}.example",
            "-addext", "basicConstraints=CA:FALSE",
            "-CA", "ca.crt", "-CAkey", "ca.key", "-keyout", f"{name}.key", "-out", f"{name}.crt",
        )  # fmt: skip
    return folder


def sign_again(folder: Path, name: str, days: tuple[int, int] = (-1, 1), *, usage: str | None = None) -> None:
    """Give a node another certificate of its authority: from and to these days, and for this usage only."""
    dates = [(datetime.now(UTC) + timedelta(days=one)).strftime("%Y%m%d%H%M%SZ") for one in days]
    (folder / "ca.cnf").write_text(
        "[ca]\ndefault_ca = own\n[own]\ndatabase = index\nserial = serial\nnew_certs_dir = .\n"
        "default_md = sha256\npolicy = any\nx509_extensions = more\n[any]\ncommonName = supplied\n"
        f"[more]\nbasicConstraints = CA:FALSE\nsubjectAltName = DNS:{name}.example,IP:127.0.0.1\n"
        + (f"extendedKeyUsage = {usage}\n" if usage else "")
    )
    (folder / "index").write_text("")
    (folder / "serial").write_text("1000\n")
    _openssl(folder, "req", "-new", "-key", f"{name}.key", "-subj", "/CN=broker", "-out", f"{name}.csr")
    _openssl(
        folder, "ca", "-batch", "-config", "ca.cnf", "-cert", "ca.crt", "-keyfile", "ca.key", "-in",
        f"{name}.csr", "-out", f"{name}.crt", "-notext", "-startdate", dates[0], "-enddate", dates[1],
    )  # fmt: skip


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

"""Certificates for tests, made by openssl: one authority and a certificate per name for loopback."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
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


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

"""How our clients trust brokers on this machine."""

from __future__ import annotations

import ssl
from pathlib import Path


def loopback_context(authority: Path, certificate: Path | None, key: Path | None) -> ssl.SSLContext:
    """Certificates are checked against the mesh's authority; names are not, since all runs on loopback."""
    context = ssl.create_default_context(cafile=str(authority))
    context.check_hostname = False
    if certificate is not None:
        context.load_cert_chain(str(certificate), str(key) if key else None)
    return context

"""Certificates that lie here are really tried: by the handshake that two brokers would make, in memory.

Both ends of a link show certificates, so both are tried with each. That finds all that would keep a link
down: a key of another certificate, an authority that did not sign it, a date that is over, a name that is not
that of the host, a certificate that may only serve or only dial.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from topicloom.errors import InputError
from topicloom.mesh.plan.credentials import AUTHORITY

SHOWN = 3  # names of files in a message
ROUNDS = 20  # messages of a handshake, and some more


def judge_certificates(
    folder: Path, hosts: Mapping[str, str], *, at: Path | None, notice: Callable[[str], None]
) -> None:
    """Try the certificates that lie here; `hosts` by the names of configurations.

    All must, unless they are said to lie `at` a folder of the machines that the brokers run on: then what is
    not here is told.
    """
    named = folder.absolute() if at is None else at
    if not named.is_absolute() or any(part in '"\\' or not part.isprintable() for part in str(named)):
        raise InputError(
            f"`{'tls' if at is None else 'tls_at'}={named}`: the path is not absolute, or has a character "
            "that configurations cannot hold"
        )
    names = (AUTHORITY, *(f"{stem}{end}" for stem in hosts for end in (".crt", ".key")))
    missing = [name for name in names if not (folder / name).is_file()]
    if missing and at is None:
        raise InputError(
            f"`tls={folder}` has no file {missing[0]}; it must hold {AUTHORITY} and for each node NODE.crt "
            "and NODE.key, NODE being the name of its configuration"
        )
    if missing:
        shown = ", ".join(missing[:SHOWN]) + (" and others" if len(missing) > SHOWN else "")
        notice(f"not in {folder}, so not tried ({len(missing):,} of {len(names):,} files): {shown}")
    if AUTHORITY not in missing:
        here = {stem: host for stem, host in hosts.items() if not {f"{stem}.crt", f"{stem}.key"} & {*missing}}
        try_certificates(folder, here)


def try_certificates(folder: Path, hosts: Mapping[str, str]) -> None:
    """Refuse a folder with a certificate that cannot serve; `hosts` by the names of configurations."""
    for stem, host in hosts.items():
        try:
            client = ssl.create_default_context(cafile=str(folder / AUTHORITY))
            server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(folder / AUTHORITY))
        except (ssl.SSLError, OSError) as error:
            raise InputError(
                f"`tls={folder}`: {AUTHORITY} is no certificate of an authority ({_why(error)})"
            ) from None
        server.verify_mode = ssl.CERT_REQUIRED
        try:
            for end in (client, server):
                end.load_cert_chain(str(folder / f"{stem}.crt"), str(folder / f"{stem}.key"))
        except (ssl.SSLError, OSError) as error:
            raise InputError(
                f"`tls={folder}`: {stem}.crt and {stem}.key do not fit ({_why(error)})"
            ) from None
        try:
            _shake_hands(server, client, host)
        except _UntrustedError as error:
            does = (
                f"trust {stem}.crt for the host {host}" if error.dialled else f"let {stem}.crt in as a dialer"
            )
            raise InputError(f"`tls={folder}`: nobody would {does}: {error}") from None
        except ssl.SSLError as error:
            raise InputError(f"`tls={folder}`: {stem}.crt cannot be used ({_why(error)})") from None


@cache
def common_name(folder: Path, stem: str) -> str | None:
    """Return the common name in a certificate that was tried before; None if it has none or is not here."""
    if not all((folder / name).is_file() for name in (AUTHORITY, f"{stem}.crt", f"{stem}.key")):
        return None
    client = ssl.create_default_context(cafile=str(folder / AUTHORITY))
    client.check_hostname = False
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(str(folder / f"{stem}.crt"), str(folder / f"{stem}.key"))
    shown: Any = _shake_hands(server, client, None).getpeercert()
    parts = dict(one for part in (shown or {}).get("subject", ()) for one in part)
    return parts.get("commonName")


class _UntrustedError(Exception):
    """A certificate was not trusted: that of the end that is `dialled`, or that of the dialer."""

    def __init__(self, why: str, *, dialled: bool) -> None:
        super().__init__(why)
        self.dialled = dialled


def _why(error: Exception) -> str:
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or "unreadable"
    return str(reason).lower().replace("_", " ")


def _shake_hands(server: ssl.SSLContext, client: ssl.SSLContext, host: str | None) -> ssl.SSLObject:
    """Let both talk until they are done; return the end of the client."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(back, there, server_hostname=host),
        server.wrap_bio(there, back, server_side=True),
    ]
    for _ in range(ROUNDS):
        waiting = False
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                waiting = True
            except ssl.SSLCertVerificationError as error:
                raise _UntrustedError(error.verify_message, dialled=end is ends[0]) from None
        if not waiting:
            return ends[0]
    raise ssl.SSLError("the handshake did not end")

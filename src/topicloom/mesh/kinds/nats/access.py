"""How a client gets into a NATS server: logins of its accounts and certificates, from its own file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from topicloom.mesh.kinds.nats.config_language import ConfigValue, parse_nats
from topicloom.mesh.kinds.nats.read import listed, text_of


@dataclass(frozen=True, slots=True)
class NatsLogin:
    """A user of one account."""

    user: str
    password: str


@dataclass(frozen=True, slots=True)
class NatsAccess:
    """How to get into a server: a login for each account, certificates where it asks for them."""

    logins: Mapping[str, NatsLogin]
    authority: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


def read_access(path: Path) -> NatsAccess:
    """The logins and certificates of the configuration at `path`; files are named from its folder."""
    tree = parse_nats(path, path.name)
    tls = tree.get("tls")

    def file(name: str) -> Path | None:
        named = text_of(tls.get(name)) if tls is not None else None
        return path.parent / named if named is not None else None

    logins, certificate = _logins(tree.get("accounts")), file("cert_file")
    return NatsAccess(logins, file("ca_file") or certificate, certificate, file("key_file"))


def _logins(accounts: ConfigValue | None) -> dict[str, NatsLogin]:
    """The first user with a password of each account; those with keys are not for us."""
    found: dict[str, NatsLogin] = {}
    if accounts is None or not isinstance(accounts.data, dict):
        return found
    for account, block in accounts.data.items():
        for entry in listed(block, "users"):
            user = text_of(entry.get("user", "username"))
            password = text_of(entry.get("password", "pass"))
            if user is not None and password is not None:
                found.setdefault(account, NatsLogin(user, password))
    return found

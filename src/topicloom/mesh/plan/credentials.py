"""Logins and certificates of nodes: the credentials file, and a folder with ca.crt, NODE.crt and NODE.key."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe

from topicloom.errors import InputError
from topicloom.mesh.plan.hosts import tell_others
from topicloom.tables.small_csv import read_rows

PASSWORD_BYTES = 18
AUTHORITY = "ca.crt"
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Login:
    """How a node's broker, and its clients, log in elsewhere."""

    user: str
    password: str


@dataclass(frozen=True, slots=True)
class Certificates:
    """The files of one node, as absolute paths: they are named in its configuration, not copied."""

    authority: str
    certificate: str
    key: str


def read_credentials(
    path: Path,
    nodes: Sequence[str],
    notice: Callable[[str], None] = lambda text: None,
    *,
    needed: Sequence[str] | None = None,
) -> dict[str, Login]:
    """Read the credentials file: columns node, user, password; every node once, or those `needed`.

    Several nodes may share a user, with the same password. Rows of other nodes are told by `notice`.
    """
    known = set(nodes)
    others: dict[str, str] = {}
    logins: dict[str, Login] = {}
    passwords: dict[str, str] = {}
    for row in read_rows(
        path, ("node", "user", "password"), option="`credentials`", notice=lambda text: None
    ):
        node, login = row.filled("node"), Login(row.filled("user"), row.filled("password"))
        if node not in known:
            others.setdefault(node, row.where)
            continue
        if node in logins:
            raise InputError(f"{row.where}: node {node!r} has a login already")
        if passwords.setdefault(login.user, login.password) != login.password:
            raise InputError(f"{row.where}: user {login.user!r} has another password already")
        _check_login(login, row.where)
        logins[node] = login
    tell_others(others, "a node of the build", notice)
    required = nodes if needed is None else needed
    missing = next((node for node in required if node not in logins), None)
    if missing is not None:
        raise InputError(f"`credentials={path}` has no login for node {missing!r}; every node needs one")
    return logins


def _check_login(login: Login, where: str) -> None:
    """Refuse what configurations cannot hold, without repeating the password."""
    for what, text in (("user", login.user), ("password", login.password)):
        if CONTROL.search(text) or text != text.strip():
            raise InputError(f"{where}: the {what} has a control character or a space at an end")
    if ":" in login.user or login.user.startswith("#"):
        raise InputError(f"{where}: user {login.user!r} has a colon or begins with #: password files cannot")
    if re.match(r"\$2[abxy]\$\d\d\$", login.password):  # NATS would take it for one
        raise InputError(f"{where}: the password looks like a hash; give the password itself")


def make_password(seed: int | None, *names: str) -> str:
    """Return a password that nobody can guess; for tests one that follows from a seed."""
    if seed is None:
        return token_urlsafe(PASSWORD_BYTES)
    return sha256("\0".join((str(seed), *names)).encode()).hexdigest()[:24]


def certificates_of(folder: Path, stem: str) -> Certificates:
    """Return the files of the node with this name."""
    base = folder.absolute()
    return Certificates(str(base / AUTHORITY), str(base / f"{stem}.crt"), str(base / f"{stem}.key"))

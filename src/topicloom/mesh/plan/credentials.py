"""Logins of nodes: the credentials file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from topicloom.errors import InputError
from topicloom.tables.small_csv import read_rows

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Login:
    """How a node's broker, and its clients, log in elsewhere."""

    user: str
    password: str


def read_credentials(path: Path, nodes: Sequence[str]) -> dict[str, Login]:
    """The credentials file: columns node, user, password; every node once, no other nodes.

    Several nodes may share a user, with the same password.
    """
    known = set(nodes)
    logins: dict[str, Login] = {}
    passwords: dict[str, str] = {}
    for row in read_rows(
        path, ("node", "user", "password"), option="`credentials`", notice=lambda text: None
    ):
        node, login = row.filled("node"), Login(row.filled("user"), row.filled("password"))
        if node not in known:
            raise InputError(f"{row.where}: {node!r} is not a node of the build")
        if node in logins:
            raise InputError(f"{row.where}: node {node!r} has a login already")
        if passwords.setdefault(login.user, login.password) != login.password:
            raise InputError(f"{row.where}: user {login.user!r} has another password already")
        _check(login, row.where)
        logins[node] = login
    missing = next((node for node in nodes if node not in logins), None)
    if missing is not None:
        raise InputError(f"`credentials={path}` has no login for node {missing!r}; every node needs one")
    return logins


def _check(login: Login, where: str) -> None:
    """What no target's file can hold is refused here, without repeating the password."""
    for what, text in (("user", login.user), ("password", login.password)):
        if _CONTROL.search(text) or text != text.strip():
            raise InputError(f"{where}: the {what} has a control character or a space at an end")
    if ":" in login.user or login.user.startswith("#"):
        raise InputError(f"{where}: user {login.user!r} has a colon or begins with #: password files cannot")
    if re.match(r"\$2[abxy]\$\d\d\$", login.password):  # NATS would take it for one
        raise InputError(f"{where}: the password looks like a hash; give the password itself")

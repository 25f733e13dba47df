"""Password files of Mosquitto: salted PBKDF2 with SHA-512."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable

from topicloom.mesh.plan.credentials import Login

ITERATIONS = 5000
"""Rounds of PBKDF2; mosquitto_passwd uses 101, the file format allows any number."""
SALT_BYTES = 12


def mosquitto_hash(login: Login, salt: bytes | None = None, rounds: int = ITERATIONS) -> str:
    """The line of a password file.

    Unless given, the salt comes from the user's name, so that the same export gives the same bytes; it need
    not be secret, only differ between users.

    >>> mosquitto_hash(Login("ann", "secret")).split("$")[:3]
    ['ann:', '7', '5000']
    """
    if salt is None:
        salt = hashlib.sha256(b"topicloom mosquitto salt\0" + login.user.encode()).digest()[:SALT_BYTES]
    digest = hashlib.pbkdf2_hmac("sha512", login.password.encode(), salt, rounds)
    return f"{login.user}:$7${rounds}${_base64(salt)}${_base64(digest)}"


def mosquitto_passwords(logins: Iterable[Login]) -> str:
    """A whole password file; each user once."""
    once = {login.user: login for login in logins}
    return "".join(f"{mosquitto_hash(once[user])}\n" for user in sorted(once))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()

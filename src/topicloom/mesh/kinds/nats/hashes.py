"""Passwords as NATS takes them: hashed by bcrypt, where this Python can do that.

The passwords of links are random and long, so few rounds are enough: nobody can try them all. Those of
clients may be people's own and get more.
"""

from __future__ import annotations

import hashlib
import warnings
from functools import cache

LINK_ROUNDS, CLIENT_ROUNDS = 4, 8  # two to the power of this
ALPHABET = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
SALT = 22  # characters


@cache
def nats_hash(user: str, password: str, rounds: int) -> str:
    """Return the hash of a password; the password itself where there is no bcrypt.

    The salt comes from user and password, so that the same export gives the same bytes. It takes a while, so
    users of one site that share a password in several accounts share its hash.
    """
    digest = hashlib.sha256(f"topicloom nats salt\0{user}\0{password}".encode()).digest()
    # Of the last character bcrypt takes two bits only.
    salt = "".join(ALPHABET[byte % 64] for byte in digest[: SALT - 1]) + "."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            import crypt
        except ImportError:
            return password
        found = crypt.crypt(password, f"$2b${rounds:02}${salt}")
    return found if found and found.startswith("$2b$") else password


def is_hash(password: str) -> bool:
    """Return whether this is a hash and no password."""
    return password.startswith(("$2a$", "$2b$", "$2y$"))

"""Who a libp2p node is: Ed25519 keys and the peer ids made of them, as the libp2p specification has it.

A peer id is the multihash of the public key's protobuf, in base58btc; a key as short as Ed25519's is not
hashed but stands there itself (identity multihash), so these ids all begin with 12D3KooW.
https://github.com/libp2p/specs/blob/master/peer-ids/peer-ids.md
"""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from topicloom.base.seeds import generator
from topicloom.errors import InputError, UsageError
from topicloom.mesh.plan.hosts import Place

SEED_BYTES = 32
PEER_ID = "peer_id"  # the column of a hosts file that says who a node is
_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_PUBLIC = bytes.fromhex("08011220")  # protobuf: key type Ed25519, 32 bytes of data
_PRIVATE = bytes.fromhex("08011240")  # the same with 64 bytes: the seed and the public key
_IDENTITY, _SHA256 = 0x00, 0x12


@dataclass(frozen=True, slots=True)
class PeerIdentity:
    """The peer id of a node, and its private key if we made it: base64 of libp2p's protobuf, a secret."""

    peer_id: str
    key: str | None = field(default=None, repr=False)


def identities(
    nodes: Sequence[str],
    places: Mapping[str, Place],
    *,
    kept: Mapping[str, PeerIdentity] | None = None,
    seed: int | None = None,
) -> dict[str, PeerIdentity]:
    """Take peer ids from the hosts file or an earlier export (`kept`), and make keys for the other nodes.

    Keys come from the system's randomness. With a `seed` they are the same each time, which is for tests
    only: who knows the seed has every key.
    """
    found: dict[str, PeerIdentity] = {}
    owners: dict[str, str] = {}
    for node in nodes:
        place, old = places.get(node), (kept or {}).get(node)
        if place is not None and PEER_ID in place.more:
            peer_id = check_peer_id(place.more[PEER_ID], place.where)
            found[node] = old if old is not None and old.peer_id == peer_id else PeerIdentity(peer_id)
        elif seed is not None:
            found[node] = make_identity(generator(seed, "gossipsub", "key", node).bytes(SEED_BYTES))
        else:
            found[node] = old or make_identity(secrets.token_bytes(SEED_BYTES))
        other = owners.setdefault(found[node].peer_id, node)
        if other != node:
            raise InputError(
                f"`hosts` gives nodes {other!r} and {node!r} the same peer_id; each needs its own"
            )
    return found


def read_identity(peer_id: str, key: str | None, where: str) -> PeerIdentity:
    """Read the identity that an earlier export wrote; refuse a key that is damaged or somebody else's."""
    check_peer_id(peer_id, where)
    if key is not None:
        try:
            raw = base64.b64decode(key, validate=True)
        except ValueError:
            raw = b""
        if not raw.startswith(_PRIVATE) or peer_id_of(raw[-SEED_BYTES:]) != peer_id:
            raise InputError(f"{where}: the private key is not the one of peer id {peer_id}")
    return PeerIdentity(peer_id, key)


def make_identity(seed: bytes) -> PeerIdentity:
    """Make the identity whose Ed25519 key comes from these 32 bytes."""
    public = _public_key(seed)
    return PeerIdentity(peer_id_of(public), base64.b64encode(_PRIVATE + seed + public).decode())


def peer_id_of(public: bytes) -> str:
    """Return the peer id of an Ed25519 public key.

    >>> peer_id_of(bytes(32))
    '12D3KooW9pNAk8aiBuGVQtWRdbkLmo5qVL3e2h5UxbN2Nz9ttwiw'
    """
    protobuf = _PUBLIC + public
    return base58(bytes([_IDENTITY, len(protobuf)]) + protobuf)


def check_peer_id(text: str, where: str) -> str:
    """Refuse what is no peer id in base58: 12D3KooW... or Qm... and their like."""
    raw = b""
    if re.fullmatch(f"[{_ALPHABET}]+", text):
        raw = _from_base58(text)
    short = len(raw) > 2 and raw[0] == _IDENTITY and raw[1] == len(raw) - 2 <= 42
    hashed = len(raw) == 34 and raw[0] == _SHA256 and raw[1] == 32
    if not (short or hashed):
        raise InputError(
            f"{where}: peer_id {text!r} is no peer id in base58; they begin with 12D3KooW, 16Uiu2 or Qm"
        )
    return text


def base58(raw: bytes) -> str:
    """Encode in base58btc without a prefix; each zero byte at the start is a 1."""
    number, digits = int.from_bytes(raw), ""
    while number:
        number, digit = divmod(number, 58)
        digits = _ALPHABET[digit] + digits
    return "1" * (len(raw) - len(raw.lstrip(b"\0"))) + digits


def _from_base58(text: str) -> bytes:
    number = 0
    for char in text:
        number = number * 58 + _ALPHABET.index(char)
    zeros = len(text) - len(text.lstrip("1"))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8)


def _public_key(seed: bytes) -> bytes:
    try:
        ed25519 = import_module("cryptography.hazmat.primitives.asymmetric.ed25519")
    except ImportError:
        raise UsageError(
            "to make keys for nodes, cryptography is needed: pip install 'topicloom[libp2p]', or give every "
            "node a peer_id in `hosts`"
        ) from None
    public: bytes = ed25519.Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    return public

"""What a NATS server tells over its monitoring port: its leaf connections, their counters and their interest.

Pure reading: a few lines of HTTP on the event loop, so that hundreds of servers can be asked at once.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import msgspec

from topicloom.mesh.model.config_files import LOOPBACK

ANSWER = 10.0  # seconds a server may take for one answer


@dataclass(frozen=True, slots=True)
class LeafConnection:
    """One leaf connection of a server.

    `port` is the remote end's: the leaf port of the acceptor where this server dialled, else a passing one.
    `subjects` is what the other end has announced interest in, if it was asked for.
    """

    account: str
    port: int
    in_msgs: int
    out_msgs: int
    subjects: frozenset[str] = frozenset()


async def read_leafs(port: int, *, subjects: bool = False) -> list[LeafConnection] | None:
    """The leaf connections of the server with this monitoring port; None if it does not answer."""
    answer = await _get(port, "/leafz?subs=1" if subjects else "/leafz")
    if answer is None:
        return None
    return [
        LeafConnection(
            account=str(leaf["account"]),
            port=int(leaf["port"]),
            in_msgs=int(leaf["in_msgs"]),
            out_msgs=int(leaf["out_msgs"]),
            subjects=frozenset(leaf.get("subscriptions_list") or ()),
        )
        for leaf in answer.get("leafs") or ()
    ]


async def read_client_subjects(port: int) -> dict[str, set[str]]:
    """For each account the subjects that clients of this server have subscribed to."""
    answer = await _get(port, "/connz?subs=1&auth=1&limit=65536")
    found: dict[str, set[str]] = {}
    for client in (answer or {}).get("connections") or ():
        found.setdefault(client.get("account", ""), set()).update(client.get("subscriptions_list") or ())
    return found


async def _get(port: int, path: str) -> dict[str, Any] | None:
    """One document; None if nobody answers, or not in full."""
    try:
        async with asyncio.timeout(ANSWER):
            return await _ask(port, path)
    except (OSError, TimeoutError, asyncio.IncompleteReadError, msgspec.DecodeError):
        return None


async def _ask(port: int, path: str) -> dict[str, Any] | None:
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    try:
        # HTTP/1.0: the server ends the answer by closing, so that nothing else marks its length.
        writer.write(f"GET {path} HTTP/1.0\r\nHost: {LOOPBACK}\r\n\r\n".encode())
        whole = await reader.read()
    finally:
        writer.close()
    head, _, body = whole.partition(b"\r\n\r\n")
    if b" 200 " not in head.partition(b"\r\n")[0]:
        return None
    return msgspec.json.decode(body, type=dict[str, Any])

"""Free ports on the loopback address, many at once and never the same one twice."""

from __future__ import annotations

import asyncio
import random
import socket
from pathlib import Path

from topicloom.mesh.model.config_files import LOOPBACK

LOWEST = 10_000
EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
EPHEMERAL_FROM = 32_768  # where Linux begins unless told otherwise
ATTEMPTS = 1000


class FreePorts:
    """Gives out ports that were free a moment ago.

    Between the question and a broker's bind another program may take one: the caller then begins again with
    new ports. Those that the kernel gives to outgoing connections are left alone: with hundreds of links,
    brokers that dial take them before others come to listen.
    """

    def __init__(self) -> None:
        self._given: set[int] = set()
        self._beyond = _first_ephemeral()

    def take(self) -> int:
        """Take one more port."""
        for _ in range(ATTEMPTS):
            # Two runs at once must not draw the same ones, so this is not seeded.
            port = random.SystemRandom().randrange(LOWEST, self._beyond)
            if port not in self._given and _is_free(port):
                self._given.add(port)
                return port
        raise OSError("no free port is left on 127.0.0.1")


def _first_ephemeral() -> int:
    try:
        first = int(EPHEMERAL.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        first = EPHEMERAL_FROM
    return first if first > LOWEST + ATTEMPTS else 65_536


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As brokers do: a port whose last connections are still closing is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


async def is_listening(port: int) -> bool:
    """Return whether somebody takes connections there."""
    try:
        _, writer = await asyncio.open_connection(LOOPBACK, port)
    except OSError:
        return False
    writer.close()
    return True

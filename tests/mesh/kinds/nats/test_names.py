"""Names of topics, judged by a real server."""

from __future__ import annotations

import asyncio
from pathlib import Path

from brokers_present import free_ports, nats_server, needs_nats, running, wait_for
from mesh.nasty_topics import NASTY
from topicloom.mesh.kinds.nats.names import NAMES


@needs_nats
def test_nats_carries_every_name(tmp_path: Path) -> None:
    """Subscribed, published with a reply, and received: within the server's default limits."""
    import nats

    names = [NAMES.encode(topic) for topic in [*NASTY, "x" * NAMES.most_bytes]]
    port = free_ports(1)[0]

    async def exchange() -> set[str]:
        client = await nats.connect(f"nats://127.0.0.1:{port}", allow_reconnect=False, connect_timeout=30)
        got: set[str] = set()

        async def note(message) -> None:
            got.add(message.subject)

        for name in names:
            await client.subscribe(name, cb=note)
        for name in names:
            await client.publish(name, b"x", reply="_INBOX." + "r" * 100)
        await client.flush()
        await client.drain()
        return got

    with running([nats_server(), "-a", "127.0.0.1", "-p", str(port)], cwd=tmp_path):
        wait_for(lambda: "Server is ready" in (tmp_path / "log-0").read_text(), "the server")
        assert asyncio.run(exchange()) == set(names)
